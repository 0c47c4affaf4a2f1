"""Evaluation: axes, sweeps, statistics over seeds, claims and verdicts."""

from ordinate.lab.evaluation.claims import AtLeast, AtMost, Between, Claim, Within
from ordinate.lab.evaluation.points import NumberPoint, Point, SymbolPoint
from ordinate.lab.evaluation.slices import Slice, sliced
from ordinate.lab.evaluation.statistics import Interval, Summary, hierarchical_ratio, summarise
from ordinate.lab.evaluation.sweep import Axis, TestSet, measure, outputs, sweep, test_set, trained_point

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
