"""Tables as files: CSV, LaTeX with booktabs, and Parquet.

CSV and Parquet keep numbers in full; LaTeX is for reading and rounds them to three figures.
"""

import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ordinate.errors import OrdinateError
from ordinate.lab.report.frames import Frame, file_name
from ordinate.lab.report.numbers import NUMBER, show_number
from ordinate.lab.runs import write_bytes

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


def _is_number(value: object) -> bool:
    if isinstance(value, str):
        return bool(NUMBER.fullmatch(value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numeric(frame: Frame, place: int) -> bool:
    values = [row[place] for row in frame.rows if row[place] is not None]
    return bool(values) and all(map(_is_number, values))


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
