"""Files beside a report: its figures for a paper, its tables for other programs."""

from collections.abc import Callable
from pathlib import Path

from ordinate.lab.report.frames import file_name
from ordinate.lab.report.report import Report
from ordinate.lab.report.save import save_figure
from ordinate.lab.report.style import COLUMN, drawn_for
from ordinate.lab.report.tables import write_frame


def write_figures(build: Callable[[], Report], folder: Path) -> list[Path]:
    """Draw the figures of a report again, as large as they stand in a paper, and write each as PDF and SVG."""
    with drawn_for(COLUMN):
        sections = build().figures()
        return [
            path
            for section in sections
            for path in save_figure(section.figure, folder / file_name(section.name), ("pdf", "svg"))
        ]


def write_tables(report: Report, folder: Path, *, parquet: bool) -> list[Path]:
    """Write every table of a report as CSV and LaTeX, and as Parquet where asked for."""
    return [path for frame in report.frames() for path in write_frame(frame, folder, parquet=parquet)]
