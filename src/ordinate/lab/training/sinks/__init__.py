"""Sinks: other places that are told of a training, beside the run's own folder."""

from ordinate.lab.training.sinks.feed import Feed, open_feed
from ordinate.lab.training.sinks.sink import Sink, Subject

__all__ = ["Feed", "Sink", "Subject", "open_feed"]
