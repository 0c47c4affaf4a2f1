"""Benchmarks: ratios against textbook implementations, both sides measured in turns in one run."""

from bench.sections import SECTIONS, run_sections
from bench.settings import FULL, QUICK, Mode, Settings

__all__ = ["FULL", "QUICK", "SECTIONS", "Mode", "Settings", "run_sections"]
