"""Sinks: other places that are told of a training, beside the run's own folder."""

from ordinate.training.sinks.feed import Feed
from ordinate.training.sinks.sink import Sink, Subject

__all__ = ["Feed", "Sink", "Subject"]
