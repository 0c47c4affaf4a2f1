"""Evaluation: axes, sweeps, statistics over seeds, claims and verdicts."""

from ordinate.evaluation.claims import AtLeast, AtMost, Between, Claim, Within
from ordinate.evaluation.points import NumberPoint, Point, SymbolPoint
from ordinate.evaluation.slices import Slice, sliced
from ordinate.evaluation.statistics import Interval, Summary, hierarchical_ratio, summarise
from ordinate.evaluation.sweep import Axis, TestSet, measure, outputs, sweep, test_set, trained_point

__all__ = [
    "AtLeast",
    "AtMost",
    "Axis",
    "Between",
    "Claim",
    "Interval",
    "NumberPoint",
    "Point",
    "Slice",
    "Summary",
    "SymbolPoint",
    "TestSet",
    "Within",
    "hierarchical_ratio",
    "measure",
    "outputs",
    "sliced",
    "summarise",
    "sweep",
    "test_set",
    "trained_point",
]
