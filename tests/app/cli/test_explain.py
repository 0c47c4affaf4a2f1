"""`ordinate explain` through its front door."""

import pytest


def test_a_run_is_explained_in_words_pictures_and_a_page(call, store, tmp_path):
    out = tmp_path / "out"
    answer = call(
        "explain", "other", "--store", store, "--input", "1 -1 1 0.5", "--out", out, "--ablate", "--count", 20
    )
    assert answer.code == 0, answer.err
    for words in (
        "The model answers",
        "changed most by",
        "number 3",
        "layer 1, head 2",
        "one seed, no verdict",
    ):
        assert words in answer.out
    names = ("answer", "used", "attention", "ablation")
    assert {path.name for path in out.iterdir()} == {
        "explanation.html", *(f"{name}.{kind}" for name in names for kind in ("png", "svg"))
    }  # fmt: skip
    page = (out / "explanation.html").read_text()
    assert "Which input each output used" in page
    assert "--input &#x27;1.00 -1.00 1.00 0.50&#x27; --ablate" in page


def test_numbers_alone(call, store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    document = call("explain", "other", "--store", store, "--seed", 3, "--json").json
    assert set(document) == {
        *("run", "path", "model", "step", "note", "explanation", "classes", "ablation", "files")
    }
    found = document["explanation"]
    assert found["kind"] == "numbers"
    assert len(found["tokens"]) == 5  # four numbers and the dummy
    assert len(found["attention"][0][0]) == 5
    assert document["files"] == []
    assert not list(tmp_path.iterdir())
    assert call("explain", "other", "--store", store, "--seed", 3, "--json").json == document


def test_a_compiled_program_shows_its_columns(call, tmp_path):
    folder = tmp_path / "addition"
    assert call("compile", "prefix-sum", "--n", 4, "--out", folder).code == 0
    answer = call("explain", folder, "--input", "1 2 3 4", "--out", tmp_path / "out", "--json")
    document = answer.json
    columns = document["explanation"]["columns"]
    assert document["explanation"]["correct"]
    assert columns[0]["columns"][0] == "x"
    assert [row[0] for row in columns[0]["values"]] == [1, 2, 3, 4, 0]
    assert columns[1]["messages"][0]["source"] == "i - 1"
    assert len(columns) == len(document["explanation"]["passes"]) + 1
    assert (tmp_path / "out" / "columns.png").is_file()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("other", "--input", "1 two"), "'two' is not a number: write numbers separated by spaces"),
        (("other", "--input", "1 2 3 4 5"), "5"),
        (("nobody",), "nobody"),
    ],
)
def test_bad_input_is_one_line(call, store, options, error, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = call("explain", *options, "--store", store)
    assert answer.code == 2
    assert error in answer.error
    assert not list(tmp_path.iterdir())
