"""The next character: corpora, what is held out, and answers."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.text import CHARACTERS, Corpus, corpus_of, indices, load_corpus


@pytest.fixture
def folder(tmp_path):
    """Three files, one of them deeper; and one that is no text."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "b.txt").write_text("b" * 100)
    (tmp_path / "deep" / "c.txt").write_text("c" * 200 + "\t\N{GREEK SMALL LETTER PI}")
    (tmp_path / "a.txt").write_text("a" * 50)
    (tmp_path / "notes.md").write_text("d" * 500)
    return tmp_path


def text_of(tensor) -> str:
    return "".join(CHARACTERS[i] for i in tensor.tolist())


@given(st.text(max_size=60))
def test_characters_are_counted_one_by_one(text):
    expected = [CHARACTERS.index(c) if c in CHARACTERS[:-1] else len(CHARACTERS) - 1 for c in text]
    assert indices(text).tolist() == expected


@settings(max_examples=30)
@given(st.lists(st.text("ab\n", max_size=40), min_size=1, max_size=5))
def test_the_last_tenth_of_every_text_is_held_out_and_nothing_is_lost(texts):
    found = corpus_of(texts, "letters")
    edges = [round(len(text) * 0.9) for text in texts]
    for part, cut in (
        (found.trained, [t[:e] for t, e in zip(texts, edges, strict=True)]),
        (found.held_out, [t[e:] for t, e in zip(texts, edges, strict=True)]),
    ):
        assert text_of(part) == "".join(f"{piece}\n" for piece in cut if piece)


def test_files_of_a_folder_are_read_in_the_order_of_their_names(folder):
    found = load_corpus(str(folder))
    assert text_of(found.trained).replace("\n", "") == "a" * 45 + "b" * 90 + "c" * 188
    assert text_of(found.held_out).replace("\n", "").startswith("a" * 5 + "b" * 10 + "c" * 12 + " ")
    assert text_of(found.held_out).strip().endswith(CHARACTERS[-1])
    assert found.fingerprint != corpus_of(["a"], "other").fingerprint


def test_no_more_is_read_than_there_is_room_for(folder, monkeypatch):
    monkeypatch.setattr("ordinate.lab.tasks.text.MOST_CHARACTERS", 120)
    load_corpus.cache_clear()
    found = load_corpus(str(folder))
    assert sorted(set(text_of(found.trained))) == ["\n", "a", "b"]
    assert text_of(found.trained).count("b") + text_of(found.held_out).count("b") == 70
    load_corpus.cache_clear()


def test_docstrings_are_there_without_a_folder():
    found = load_corpus("")
    assert isinstance(found, Corpus)
    assert len(found.trained) > 8 * len(found.held_out) > 100_000
    assert "Return" in text_of(found.held_out)


def test_every_answer_is_the_next_character_and_the_last_is_not_scored(generator):
    task = make_task("next-character", length=20)
    batch = task.sample(30, generator=generator)
    text = text_of(load_corpus("").trained)
    for x, y in zip(batch.input, batch.target, strict=True):
        assert text_of(x) in text
        assert text_of(x)[1:] == text_of(y)[:-1]
    assert task.scored(batch.coordinates)[:, 0].tolist() == [True] * 19 + [False]


def test_windows_begin_everywhere(folder, generator):
    task = make_task("next-character", length=30, corpus=str(folder)).tested()
    held_out = load_corpus(str(folder)).held_out
    starts = {text_of(x) for x in task.sample(300, generator=generator, length=len(held_out) - 2).input}
    assert starts == {text_of(held_out[i : len(held_out) - 2 + i]) for i in range(3)}


def test_tests_draw_what_training_does_not_see(folder, generator):
    letters = torch.randint(97, 123, (2000,), generator=generator).tolist()
    (folder / "b.txt").write_text("".join(map(chr, letters)))
    task = make_task("next-character", length=40, corpus=str(folder))
    trained, held_out = (
        set(map(text_of, t.sample(400, generator=generator).input)) for t in (task, task.tested())
    )
    assert not trained & held_out
    assert task.tested().tested() == task.tested()
    assert task.model_dump()["corpus"] == str(folder)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda path: path / "none", "there is no folder .*: write a folder that holds"),
        (lambda path: path / "deep" / "empty", r"has no file \*.txt: write the folder"),
        (
            lambda path: path,
            "has 39 characters, fewer than a window of 64: write a larger corpus, or length=39",
        ),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(make, match, folder, generator):
    (folder / "deep" / "empty").mkdir()
    task = make_task("next-character", corpus=str(make(folder)), held_out=True)
    with pytest.raises(OrdinateError, match=match) as refusal:
        task.sample(2, generator=generator)
    assert "\n" not in str(refusal.value)


def test_new_lines_are_read_as_they_are_and_as_they_are_shown():
    task = make_task("next-character")
    for text in ("ab\nc", "ab⏎c"):
        assert task.parse(text).input.tolist() == [[66, 67, 0, 68]]
    assert torch.equal(task.parse("π!").input, torch.tensor([[len(CHARACTERS) - 1, 2]]))
