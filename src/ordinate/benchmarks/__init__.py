"""Benchmarks: ratios against textbook implementations, both sides measured in turns in one run."""

from ordinate.benchmarks.sections import SECTIONS, run_sections
from ordinate.benchmarks.settings import FULL, QUICK, Mode, Settings

__all__ = ["FULL", "QUICK", "SECTIONS", "Mode", "Settings", "run_sections"]
