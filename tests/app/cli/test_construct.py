"""`ordinate construct`."""

import pytest

SMALL = ("construct", "fixed", "--lags", "1,2", "--heads", 4, "--length", 10)


@pytest.fixture(autouse=True)
def short_search(monkeypatch):
    monkeypatch.setattr("ordinate.papers.theory.slopes.POLISH", 8)


def test_both_kinds_of_slopes_are_shown_and_the_model_is_measured(call):
    answer = call(*SMALL, "--json")
    assert answer.code == 0, answer.err
    document = answer.json
    proof, paper, optimised = document["constructions"]
    assert proof["heads"] == [2, 2]
    assert paper["slopes"] == [0.01, 0.02, 0.03, 0.04]
    assert max(optimised["errors"]) < 1e-3 * min(*paper["errors"], *proof["errors"])
    assert optimised["held"]
    model = document["model"]
    assert model["inputs"] == 2**10
    assert model["output_exact"]
    assert model["output_error"] <= sum(model["memory_errors"]) + 1e-12
    assert max(model["memory_errors"]) < 10 * optimised["float64_error"]
    assert [len(row) for row in document["weights"]["values"]] == [2] * 4
    assert sorted(document["bounds"]) == ["1", "2", "3"]


def test_the_table_names_what_it_shows(call):
    text = call(*SMALL, "--bias", "log", "--readout", "product", "--free").out
    for words in (
        "of the proof",
        "optimised",
        "4 log heads",
        "C(1)",
        "over all 1024 inputs of +-1",
        "the product",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("--lags", "2", "--heads", 16, "--length", 20, "--slopes", "paper"),
            "float64 cannot hold the coeff",
        ),
        (
            ("--lags", "2,5", "--heads", 200),
            "more than float64 can hold coefficients for: over 64 lags it tells 26",
        ),
        (("--lags", "70"), "lag 70 is out of range: a sequence of 64 tokens has lags up to 63"),
        (("--lags", "0", "--bias", "log"), "lag 0 is out of range: log heads see lags from 1 on"),
        (("--lags", "2,x"), "--lags '2,x' are not whole numbers: write --lags 2,5"),
        (("--lags", "2,2"), "repeat one"),
        (("--lags", "1,2,3", "--heads", 2), "2 heads cannot serve 3 memories"),
        (("--lags", "2", "--bias", "lim"), "did you mean 'lin'?"),
        (("--lags", "2", "--readout", "max"), "there is no readout 'max'"),
        (("--lags", "2", "--slopes", "best"), "there is no kind of slopes 'best'"),
        (("--lags", "2", "--error", 2), "--error 2 is out of range"),
        (
            ("--lags", "9", "--heads", 2, "--length", 12),
            "2 lin heads with optimised slopes fetch lag 9 to within 1 in float64, not 0.5: 12 heads and 16.",
        ),
    ],
)
def test_what_cannot_be_constructed_is_refused_in_one_line(call, arguments, words):
    answer = call("construct", "fixed", *arguments)
    assert answer.code == 2
    assert answer.err.splitlines()[-1].startswith(
        "error: "
    )  # behind the progress of a search that takes long
    assert words in answer.err.splitlines()[-1]
    assert answer.out == ""


def test_another_construction_is_not_there(call):
    answer = call("construct", "fixd", "--lags", "2")
    assert answer.code == 2
    assert "did you mean 'fixed'?" in answer.error


ADAPTIVE = ("construct", "adaptive", "--heads", 4, "--length", 8)


def test_adaptive_memories_are_built_and_measured(call):
    answer = call(*ADAPTIVE, "--nesting", 2, "--memories", 3, "--heads", 8, "--json")
    assert answer.code == 0, answer.err
    document = answer.json
    assert document["layers"] == 4
    assert [(m["layer"], m["heads"]) for m in document["memories"]] == [(2, 8), (3, 8), (4, 8)]
    proof, paper, optimised = document["constructions"]
    assert max(optimised["errors"]) < 1e-3 * min(*paper["errors"], *proof["errors"])
    model = document["model"]
    assert model["inputs"] == 2**8
    assert model["width"] == 8
    assert model["output_error"] <= sum(model["memory_errors"]) + 1e-12
    assert max(model["memory_errors"]) < 100 * optimised["float64_error"]
    assert model["dot_product_parameters"] == 4 * 8 * 2 * 8**2
    assert model["tmx_parameters"] == 4 * 8 * 8
    assert len(document["weights"]["encoding.free_slopes"]) == 4


def test_tmx_has_fewer_parameters_and_the_same_memories(call):
    text = call(*ADAPTIVE, "--tmx", "--bias", "log", "--length", 20).out
    for words in (
        "2 memories, 2 nested: 3 layers of 4 log heads",
        "scores by TMX",
        "864",
        "72 as TMX",
        "bound",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--layers", 2), "2 layers are too few for 2 memories of which 2 are nested: Theorem 4.4 has 3"),
        (
            ("--slopes", "paper", "--heads", 16, "--length", 19),
            "float64 cannot hold the coefficients of 16 lin",
        ),
        (("--heads", 60), "more than float64 can hold coefficients for"),
        (("--lags", "9,1"), "lag 9 is beyond a sequence of 8 tokens: write lags of at most 7"),
        (("--lags", "3,1", "--set", "within=[1,2]"), "leaves its range 1 to 2: write within=[1, 3]"),
        (("--lags", "3,2,1"), "3 lags for tokens of 2 values: write 2 of them"),
        (("--lags", "1,0", "--bias", "log"), "lag 0 is out of range: log heads see lags from 1 on"),
        (("--lags", "6,1", "--heads", 2), "fetch memory 1, lags up to 6, to within"),
        (("--nesting", 3, "--memories", 2), "at most as much nesting as memories"),
        (("--target", "work"), "there is no target 'work': did you mean 'worked'?"),
        (("--set", "readout=and"), "write readout=sum, or readout=parity with tokens=signs"),
        (("--set", "nest=2"), "unknown key 'task.nest'"),
        (("--set", "name=sum"), "--set name would be another task"),
    ],
)
def test_adaptive_memories_that_cannot_be_constructed_are_refused_in_one_line(call, arguments, words):
    answer = call(*ADAPTIVE, *arguments)
    assert answer.code == 2
    assert answer.err.splitlines()[-1].startswith("error: ")
    assert words in answer.err.splitlines()[-1]
    assert answer.out == ""
