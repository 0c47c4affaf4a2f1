"""Tables as files: what was written is what is read."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.lab.report.tables import (
    LONG,
    Frame,
    escape_latex,
    to_csv,
    to_latex,
    to_parquet,
    unique,
    write_frame,
)

TEXT = st.text(st.characters(exclude_categories=["C"]), min_size=1)


@given(st.lists(st.tuples(TEXT, st.floats(allow_nan=False), st.booleans()), min_size=1))
def test_csv_gives_back_every_cell(rows):
    header, *read = csv.reader(io.StringIO(to_csv(Frame("t", ["a", "b", "c"], rows))))
    assert header == ["a", "b", "c"]
    assert [(a, float(b), c == "true") for a, b, c in read] == rows


@given(TEXT)
def test_latex_holds_no_bare_special_sign(text):
    escaped = escape_latex(text)
    words = re.sub(r"\\(text\w+\{\}|[&%$#_{}])|\$\\\w+\$", "", escaped)
    assert not set(words) & set("&%$#_{}~^\\")


def test_a_long_table_runs_over_pages():
    short, long = (to_latex(Frame("t", ["a"], [[1]] * count, "C.")) for count in (LONG, LONG + 1))
    assert r"\begin{tabular}{r}" in short
    assert r"\begin{longtable}{r}" in long
    assert long.count(r"\\") == LONG + 1 + 2


def test_numbers_in_latex_are_read_as_numbers():
    cells = to_latex(Frame("t", list("abcde"), [[-2, 1.7e-5, None, True, "3.4e-4"]])).splitlines()[8].strip()
    assert cells == r"$-2$ & $1.7 \cdot 10^{-5}$ &  & yes & $3.4 \cdot 10^{-4}$ \\"


@given(st.lists(st.sampled_from(["a", "published", ""]), min_size=1, max_size=8))
def test_headers_become_unique(headers):
    names = unique(headers)
    assert len(set(names)) == len(names) == len(headers)


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two columns"):
        Frame("t", ["a", "a"], [])


def test_parquet_gives_back_values_and_types(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow, the extra tables, is not installed")
    rows = [["x", 1, 0.5, True, 2, "mixed"], [None, 2, None, None, 0.25, 3]]
    table = parquet.read_table(io.BytesIO(to_parquet(Frame("t", list("abcdef"), rows))))
    assert [str(kind) for kind in table.schema.types] == [
        "string",
        "int64",
        "double",
        "bool",
        "double",
        "string",
    ]
    assert table.to_pylist()[1] == {"a": None, "b": 2, "c": None, "d": None, "e": 0.25, "f": "3"}
    files = write_frame(Frame("a/b", ["x"], [[1]]), tmp_path, parquet=True)
    assert [file.name for file in files] == ["a-b.csv", "a-b.tex", "a-b.parquet"]
