"""Tables as files: CSV, LaTeX with booktabs, and Parquet.

CSV and Parquet keep numbers in full; LaTeX is for reading and rounds them to three figures.
"""

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.claims import Claim
from ordinate.lab.report.drawing import Drawing
from ordinate.lab.report.numbers import NUMBER, show_number
from ordinate.lab.runs import write_bytes

VALUES = (
    *("figure", "panel", "model", "seed", "axis", "point", "in_distribution"),
    *("measure", "value", "failed", "published"),
)
"""Columns of the values of a figure: one row for each model, seed and point of an axis."""

VERDICTS = (
    *("figure", "claim", "verdict", "measured", "low", "high", "level", "needed", "published"),
    *("seeds", "failed", "exact", "scale"),
)
"""Columns of claims with their verdicts."""


def file_name(name: str) -> str:
    """A name as that of a file, or as an address inside a page.

    >>> file_name("symmetry/proposition-5.1"), file_name("positional/value-scale, demo")
    ('symmetry-proposition-5.1', 'positional-value-scale-demo')
    """
    return re.sub(r"[^A-Za-z0-9.-]+", "-", name)


@dataclass(frozen=True)
class Frame:
    """A table: its name, the names of its columns, and rows of text, numbers, truths or nothing."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""

    def __post_init__(self) -> None:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError(f"{self.name}: a name stands for two columns: {list(self.columns)}")

    def as_dicts(self) -> list[dict[str, object]]:
        """The rows for JSON."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def values_frame(name: str, figure: Drawing, label: str) -> Frame:
    """Every value that a figure shows.

    >>> from ordinate.lab.report.drawing import Panel, Series
    >>> figure = Drawing()
    >>> figure.keep(figure.add_subplot(), Panel("sum", "c", "MSE", [Series("RPE", "first", [1, 2], [[0.1, 0.4]])]))
    >>> values_frame("values", figure, "value-scale").rows[1]
    ['value-scale', 'sum', 'RPE', 0, 'c', 2.0, False, 'MSE', 0.4, False, None]
    """
    rows: list[list[object]] = []
    for panel in figure.panels.values():
        for series in panel.series:
            published = {float(x): float(known) for x, known in series.published.items()}
            seeds = series.seeds or range(len(series.table))
            for seed, row in zip(seeds, series.table.tolist(), strict=True):
                for x, number in zip(map(float, series.x), row, strict=True):
                    trained = None if panel.trained_to is None else x <= panel.trained_to
                    value = number if math.isfinite(number) else None
                    place = [label, panel.title, series.label, seed, panel.xlabel, x, trained, panel.ylabel]
                    rows.append([*place, value, value is None, published.get(x)])
    return Frame(name, VALUES, rows, "Every value of the figure, one row a model, seed and point.")


def verdicts_frame(name: str, claims: Sequence[tuple[str, Claim]]) -> Frame:
    """Claims, each with the figure it is of."""
    rows = [
        [
            figure,
            claim.sentence,
            claim.verdict,
            *(_finite(v) for v in (claim.measured.estimate, claim.measured.low, claim.measured.high)),
            claim.measured.level,
            str(claim.predicate),
            claim.published,
            claim.seeds,
            claim.failed,
            claim.exact,
            claim.scale,
        ]
        for figure, claim in claims
    ]
    return Frame(name, VERDICTS, rows, "Claims and verdicts.")


def unique(headers: Sequence[str]) -> list[str]:
    """Headers of which no two are the same: a repeated one is told apart by the header before it.

    >>> unique(["c = 2", "published", "c = 10", "published"])
    ['c = 2', 'published', 'c = 10', 'published (c = 10)']
    """
    found: list[str] = []
    for place, header in enumerate(headers):
        name = header or "name"
        if name in found:
            name = f"{name} ({headers[place - 1]})"
        while name in found:
            name += "'"
        found.append(name)
    return found


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


LONG = 40
"""Rows above which a LaTeX table runs over pages."""

_LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}"},
    **{"∞": r"$\infty$", "≤": r"$\leq$", "≥": r"$\geq$", "\u00d7": r"$\times$"},
    "\n": " ",
}
_SCIENTIFIC = re.compile(r"(-?[\d.]+)e(-?\d+)")


def to_csv(frame: Frame) -> str:
    r"""Comma-separated values with a header; nothing is an empty cell, numbers are in full.

    >>> to_csv(Frame("t", ["a", "b"], [["x, y", None], ["z", 0.1]]))
    'a,b\n"x, y",\nz,0.1\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(frame.columns)
    writer.writerows([[_csv_cell(value) for value in row] for row in frame.rows])
    return text.getvalue()


def to_latex(frame: Frame) -> str:
    r"""A table with the rules of booktabs, numbers to three figures; a long one is a longtable.

    >>> print(to_latex(Frame("t", ["task", "MSE"], [["a_b", 1.5e-5]], "Errors.")))
    % needs \usepackage{booktabs}
    \begin{table}
      \centering
      \caption{Errors.}
      \begin{tabular}{lr}
        \toprule
        task & MSE \\
        \midrule
        a\_b & $1.5 \cdot 10^{-5}$ \\
        \bottomrule
      \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    align = "".join("r" if _numeric(frame, place) else "l" for place in range(len(frame.columns)))
    head = " & ".join(map(escape_latex, frame.columns)) + r" \\"
    body = [" & ".join(map(_latex_cell, row)) + r" \\" for row in frame.rows]
    caption = escape_latex(frame.caption or frame.name)
    if len(frame.rows) > LONG:
        lines = [
            r"% needs \usepackage{booktabs,longtable}",
            rf"\begin{{longtable}}{{{align}}}",
            rf"  \caption{{{caption}}} \\",
            *(f"  {line}" for line in (r"\toprule", head, r"\midrule", r"\endhead", *body, r"\bottomrule")),
            r"\end{longtable}",
        ]
    else:
        lines = [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{caption}}}",
            rf"  \begin{{tabular}}{{{align}}}",
            *(f"    {line}" for line in (r"\toprule", head, r"\midrule", *body, r"\bottomrule")),
            r"  \end{tabular}",
            r"\end{table}",
        ]
    return "\n".join(lines) + "\n"


def escape_latex(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    >>> escape_latex("100 % of $x_1$")
    '100 \\% of \\$x\\_1\\$'
    """
    return "".join(_LATEX.get(sign, sign) for sign in text)


def to_parquet(frame: Frame) -> bytes:
    """The frame as a Parquet file, for pandas, polars or duckdb."""
    arrow, parquet = need_pyarrow()
    columns = {
        name: arrow.array(_column([row[place] for row in frame.rows]))
        for place, name in enumerate(frame.columns)
    }
    sink = io.BytesIO()
    parquet.write_table(arrow.table(columns), sink)
    return sink.getvalue()


def need_pyarrow() -> tuple[Any, Any]:
    """Return pyarrow and pyarrow.parquet, which the extra `tables` installs."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise OrdinateError("Parquet needs pyarrow: write pip install 'ordinate[tables]'") from None
    return pyarrow, pyarrow.parquet


def write_frame(frame: Frame, folder: Path, *, parquet: bool = False) -> list[Path]:
    """Write the frame into a folder as CSV and LaTeX, and as Parquet where asked for; return the files."""
    stem = file_name(frame.name)
    files = {"csv": to_csv(frame).encode(), "tex": to_latex(frame).encode()}
    if parquet:
        files["parquet"] = to_parquet(frame)
    paths = {folder / f"{stem}.{kind}": content for kind, content in files.items()}
    for path, content in paths.items():
        write_bytes(path, content)
    return list(paths)


def write_frames(frames: Iterable[Frame], folder: Path, *, parquet: bool = False) -> list[Path]:
    """Write all frames, as `write_frame` writes one."""
    return [path for frame in frames for path in write_frame(frame, folder, parquet=parquet)]


def _csv_cell(value: object) -> object:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
    return value


def is_number(value: object) -> bool:
    """Whether a cell is a number, or a text that is written as one."""
    if isinstance(value, str):
        return bool(NUMBER.fullmatch(value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numeric(frame: Frame, place: int) -> bool:
    values = [row[place] for row in frame.rows if row[place] is not None]
    return bool(values) and all(map(is_number, values))


def _latex_cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int() | float():
            value = show_number(value)
    text = str(value)
    if power := _SCIENTIFIC.fullmatch(text):
        return rf"${power[1]} \cdot 10^{{{power[2]}}}$"
    return f"${text}$" if re.fullmatch(r"-[\d.]+", text) else escape_latex(text)


def _column(values: list[object]) -> list[object]:
    """One type a column: whole numbers beside others become floats, anything mixed becomes text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} and len(kinds) == 2:
        return [None if value is None else float(value) for value in values]  # type: ignore[arg-type]
    if len(kinds) > 1:
        return [None if value is None else str(value) for value in values]
    return values
