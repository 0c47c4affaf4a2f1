"""What every section must return."""

import math

from bench import QUICK, run_sections

KEYS = {"section", "measure", "value", "unit", "target", "ok"}


def rows_of(name):
    lines = []
    document = run_sections([name], lines.append, QUICK)
    assert set(document) == {"environment", "rows"}
    assert lines
    assert all(line.startswith(f"{name}: ") for line in lines)
    for row in document["rows"]:
        assert set(row) == KEYS
        assert row["section"] == name
        assert math.isfinite(row["value"])
        assert (row["target"] is None) == (row["ok"] is None)
    return {row["measure"]: row for row in document["rows"]}


def targets(rows):
    return {measure: row["target"] for measure, row in rows.items() if row["target"] is not None}
