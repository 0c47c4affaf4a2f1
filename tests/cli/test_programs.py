"""`ordinate compile` and `ordinate verify`."""

import pytest

from ordinate.programs.collection import PROGRAMS


def test_without_a_name_all_programs_are_listed(call):
    text = call("compile").out
    found = call("compile", "--json").json["programs"]
    assert [row["name"] for row in found] == list(PROGRAMS)
    for row in found:
        assert row["name"] in text
        assert row["summary"] in text


def test_compile_says_what_the_model_costs(call, tmp_path):
    answer = call("compile", "prefix-sum", "--n", 16, "--out", tmp_path / "model", "--json")
    assert answer.code == 0, answer.err
    document = answer.json
    assert (document["n"], document["rounds"], document["layers"], document["layer_bound"]) == (16, 4, 4, 32)
    assert (document["heads"], document["width"], document["error_bound"]) == (1, 1, 0)
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == [
        "model.safetensors",
        "program.json",
    ]
    text = call("compile", "addition", "--n", 5).out
    for words in ("digits and carries of a + b", "(theorem: 24)", "input word 1: whole numbers in [0, 9]"):
        assert words in text


def test_the_table_shows_a_logarithm(call):
    rows = call("compile", "prefix-max", "--table", "--json").json["table"]
    assert [row["n"] for row in rows] == [8 << k for k in range(10)]
    assert [row["layers"] for row in rows] == list(range(3, 13))
    assert all(row["layers"] <= row["layer_bound"] and row["heads"] <= row["head_bound"] for row in rows)
    assert "4096" in call("compile", "prefix-max", "--table").out


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_verify_compares_everything(call, dtype):
    answer = call("verify", "addition", "--n", 6, "--count", 50, "--dtype", dtype, "--json")
    assert answer.code == 0, answer.err
    document = answer.json
    assert (document["holds"], document["worst"], document["error_bound"]) == (True, 0, 0)
    assert document["lengths"] == [1, 6]
    assert [row["kind"] for row in document["differences"]] == ["random", "boundary", "hard"]
    text = call("verify", "sort", "--n", 4, "--count", 20).out
    for words in (
        "weights - machine",
        "proven error bound: 0",
        "lengths: 4",
        "all agree",
        "anything else is refused",
    ):
        assert words in text


def test_a_wrong_program_fails(call, monkeypatch):
    from dataclasses import replace

    wrong = replace(PROGRAMS["prefix-sum"], reference=lambda x: x)
    monkeypatch.setitem(PROGRAMS, "prefix-sum", wrong)
    answer = call("verify", "prefix-sum", "--n", 4, "--count", 5)
    assert answer.code == 1
    assert "they do not agree" in answer.out
