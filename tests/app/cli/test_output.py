"""Tables on a terminal: whole where they fit, in parts where they would be broken within their words."""

import inspect
import json
from collections.abc import Iterator

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from ordinate.app.cli.output import GAP, Result, Table, command, in_parts, print_table

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
    print_table(Table(HEADERS, ROWS, "the title"))
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
    print_table(
        Table(["point", "why"], [["length=64", "a long sentence that says why it was refused, " * 3]])
    )
    lines = capsys.readouterr().out.splitlines()
    assert sum("length=64" in line for line in lines) == 1
    assert max(map(len, lines)) <= 60


def test_a_table_without_rows_has_its_head(capsys):
    print_table(Table(["a", "b"], []))
    assert capsys.readouterr().out.split()[:2] == ["a", "b"]


class TestCommand:
    """A function as a command: one place for --json and for what is printed."""

    @staticmethod
    def count(number: int = 3) -> Result:
        return Result({"number": number}, [f"{number} things", Table(["n"], [[number]])], failed=number > 3)

    def test_it_has_the_option_json_last(self):
        assert list(inspect.signature(command(self.count)).parameters) == ["number", "json"]

    def test_a_person_gets_lines_and_tables(self, capsys):
        command(self.count)(number=2, json=False)
        assert capsys.readouterr().out.split() == ["2", "things", "n", "─", "2"]

    def test_a_program_gets_one_document(self, capsys):
        command(self.count)(number=2, json=True)
        assert json.loads(capsys.readouterr().out) == {"number": 2}

    def test_what_failed_ends_with_1_once_it_is_printed(self, capsys):
        with pytest.raises(typer.Exit) as end:
            command(self.count)(number=4, json=True)
        assert end.value.exit_code == 1
        assert json.loads(capsys.readouterr().out) == {"number": 4}

    def test_only_what_is_asked_for_is_made(self, capsys):
        def never() -> dict[str, int]:
            raise AssertionError

        def nothing() -> Iterator[str]:
            raise AssertionError
            yield ""

        Result(never, ["a line"]).print(json=False)
        Result({}, nothing()).print(json=True)
        assert capsys.readouterr().out.split() == ["a", "line", "{}"]
