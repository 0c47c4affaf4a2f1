"""Evaluation: axes, sweeps, statistics over seeds, claims and verdicts."""

from ordinate.evaluation.claims import AtLeast, AtMost, Claim, Within
from ordinate.evaluation.statistics import Interval, Summary, hierarchical_ratio, summarise
from ordinate.evaluation.sweep import Axis, Point, measure, sweep

__all__ = [
    "AtLeast",
    "AtMost",
    "Axis",
    "Claim",
    "Interval",
    "Point",
    "Summary",
    "Within",
    "hierarchical_ratio",
    "measure",
    "summarise",
    "sweep",
]
