"""`ordinate advise`."""

import pytest


@pytest.fixture(autouse=True)
def fewer_samples(monkeypatch):
    monkeypatch.setattr("ordinate.papers.theory.advice.probe.WORK", 2**17)
    monkeypatch.setattr("ordinate.papers.theory.advice.memory.CLOSER", 2**13)


def test_the_kind_and_five_lines_with_evidence(call):
    answer = call("advise", "fixed-memory", "--set", "lags=[1, 3]", "--set", "length=8", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["memory"]["kind"] == "fixed"
    assert answer.json["memory"]["lags"] == [["token", 1], ["token", 3]]
    assert [line["what"] for line in answer.json["advice"]] == [
        "depth",
        "heads",
        "width",
        "dot product",
        "bias",
    ]
    text = call("advise", "fixed-memory", "--set", "lags=[1, 3]", "--set", "length=8").out
    for words in ("fixed-memory: fixed", "one layer", "Theorem 3.1", "token 1, 3", "not needed"):
        assert words in text


def test_a_function_of_a_file(call, tmp_path):
    (tmp_path / "my.py").write_text("def f(x):\n    return x[:, -1] * x[:, -3]\n")
    answer = call("advise", "--function", f"{tmp_path / 'my.py'}:f", "--set", "length=6", "--json")
    assert answer.code == 0, answer.err
    assert [lag for _, lag in answer.json["memory"]["lags"]] == [0, 2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("advise",), "write a task or a function"),
        (("advise", "summ"), "did you mean 'sum'"),
        (("advise", "--function", "my.py"), "write --function my.py:name"),
        (("advise", "--function", "nowhere.py:f"), "nowhere.py"),
        (("advise", "--function", "a.py:f", "--set", "lag=3"), "write length=32"),
    ],
)
def test_what_is_refused(call, arguments, words):
    answer = call(*arguments)
    assert answer.code == 2
    assert words in answer.err
    assert answer.err.count("\n") == 1
