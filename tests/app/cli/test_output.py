"""Tables on a terminal: whole where they fit, in parts where they would be broken within their words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.app.cli.output import GAP, in_parts, print_table

HEADERS = ["", "encoding", *(f"task-{number}" for number in range(9)), "parameters"]
ROWS = [[str(n), f"encoding-{n}", *(["not learned (36)"] * 9), "137515"] for n in (1, 2)]


@given(st.lists(st.integers(1, 20), min_size=1, max_size=12), st.integers(1, 120), st.data())
def test_every_column_is_there_once_behind_its_keys_and_fits_where_it_can(widths, window, data):
    keys = data.draw(st.integers(1, len(widths)))
    parts = in_parts(widths, window, keys)
    assert all(part[:keys] == list(range(keys)) for part in parts)
    assert [place for part in parts for place in part[keys:]] == list(range(keys, len(widths)))
    for part in parts:
        assert len(part) <= keys + 1 or sum(widths[place] + GAP for place in part) - GAP <= window


@pytest.mark.parametrize(("window", "parts"), [(400, 1), (100, 3)])
def test_a_wide_table_is_printed_in_parts(monkeypatch, capsys, window, parts):
    monkeypatch.setenv("COLUMNS", str(window))
    print_table(HEADERS, ROWS, title="the title")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= window
    assert sum("the title" in line for line in lines) == 1
    assert sum("encoding-1" in line for line in lines) == sum("encoding " in line for line in lines) == parts
    text = " ".join(lines)
    assert text.count("not learned (36)") == 18
    assert text.count("137515") == 2
    assert all(header in text for header in HEADERS)


def test_prose_is_folded_where_the_rest_fits(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    print_table(["point", "why"], [["length=64", "a long sentence that says why it was refused, " * 3]])
    lines = capsys.readouterr().out.splitlines()
    assert sum("length=64" in line for line in lines) == 1
    assert max(map(len, lines)) <= 60


def test_a_table_without_rows_has_its_head(capsys):
    print_table(["a", "b"], [])
    assert capsys.readouterr().out.split()[:2] == ["a", "b"]
