"""Whatever is asked is answered or refused in one line: every task, odd texts and odd documents."""

import json

import pytest

from ordinate.app.web.limits import longest
from ordinate.app.web.models import LoadedModel, ModelCache
from ordinate.app.web.playground import AttentionQuestion, Question, answer_document, attention_maps
from ordinate.lab.tasks import TASKS, make_task
from ordinate.lab.zoo import cards
from ordinate.models import ResidualEncoder, build_model

SOME = (*range(1, 9), 16, 33, 63, 64, 100, 1000)
"""Lengths; `tests/slow/test_page.py` asks for all."""

NUMBERS = [
    "1 2 3",
    "-1 nan",
    "inf",
    "NaN",
    "-1 -2",
    "1.5,2.5",
    "-inf 1",
    "1e308 1e308",
    "1e400",
    "0x10",
    "1_000 2",
]
SUMS = ["12 * abc", "1+2", "-5 + 3", "3 * 4", "1 + 2 + 3", "1+", "+", "1+2=3", "9" * 1000, "9" * 1001 + "+1"]
UNICODE = [
    "\u00b2",
    "\u2460",
    "1\u00b2 + 2",
    "\u0661\u0662 + \u0663",
    "\uff11\uff12",
    "\u00bd",
    "\u2167",
    "\U0001f600",
]
CONTROL = ["", "\x00", "\ud800", " ", "\x1b[31m", "1\n2", "1\r\n2\t3", "1 + \udfff", "\u202e1+2", "\ufeff1+2"]
SHAPES = ["0 1 / 1 0", "1 2 / 3", "/", "//", "nan 1 / 1 nan", "-1 1 / 1 -1", "0 1 2 / 1 0 3 / 2 3 0"]
WORDS = [
    "abba",
    "1101",
    "1[10]1",
    "]][[",
    "1 abcabc",
    "Cata 1.50. Find min of categories Cata.",
    "<b>",
    "null",
]
LONG = ["1 " * 2000, "a" * 4096, "x" * 4097, "1+" * 2048, "/" * 4096]
KINDS = (NUMBERS, SUMS, UNICODE, CONTROL, SHAPES, WORDS, LONG)
TEXTS = [text for kind in KINDS for text in kind]
SOME_TEXTS = [text for kind in KINDS for text in kind[:3]]

DOCUMENTS = [
    *(b"", b"null", b"[]", b"\xff", b"[" * 5000, b'"\\ud800"', b'{"\\ud800": 1}', b'{"length": NaN}'),
    *(b'{"length": 1e999}', b'{"length": -Infinity}', b'{"length": true}', b'{"length": %s}' % (b"9" * 5000)),
    *(
        b'{"seed": 1e400}',
        b'{"task": "\\ud800"}',
        b'{"models": ["\\ud800"]}',
        b'{"models": ["run:\\ud800/x"]}',
    ),
    *(
        b'{"models": ["run:a/\\u0000"]}',
        b'{"models": ["package:../../x"]}',
        b'{"text": 5}',
        b'{"rest": "\\ud800"}',
    ),
    *(b'{"fields": ["\\ud800"]}', b'{"uniform": ["\\u0000"]}', b'{"model": "run:\\ud800", "text": "1"}'),
    b'{"model": "package:addition-relation", "text": "\\ud800"}',
]


def asked(client, path, document):
    content = document if isinstance(document, bytes) else json.dumps(document).encode()
    answer = client.post(path, content=content, headers={"content-type": "application/json"})
    assert answer.status_code in (200, 400), (document, answer.text)
    if answer.status_code == 400:
        assert len(answer.json()["error"].splitlines()) == 1
    return answer


def answers(client, task, length):
    """The exact answer of a drawn sample; None where the task refuses the length."""
    answer = asked(client, "/api/answer", {"task": task, "length": length})
    return answer.json()["exact"] if answer.status_code == 200 else None


@pytest.mark.parametrize("task", TASKS)
def test_every_task_is_answered_at_every_length(client, task):
    lengths = [length for length in SOME if length <= longest(make_task(task))]
    found = [answers(client, task, length) for length in lengths]
    assert all(found[-4:]), "samples that are long enough are answered"
    assert all(isinstance(symbol, str) for exact in filter(None, found) for symbol in exact)


@pytest.mark.parametrize("task", TASKS)
def test_odd_texts_are_answered_or_refused(client, task):
    for text in SOME_TEXTS:
        asked(client, "/api/answer", {"task": task, "text": text})


@pytest.mark.parametrize("model", [f"package:{card.name}" for card in cards()])
def test_odd_texts_are_answered_or_refused_by_every_model(client, model):
    for text in SOME_TEXTS:
        asked(client, "/api/answer", {"models": [model], "text": text})
        asked(client, "/api/attention", {"model": model, "text": text})


@pytest.mark.parametrize("path", ["/api/answer", "/api/attention", "/api/relation"])
def test_odd_documents_are_answered_or_refused(client, path):
    for document in DOCUMENTS:
        asked(client, path, document)


CLASSES = {
    "parity": ("1101", ["1", "0", "0", "1"]),
    "modular-counting": ("1111110", ["1", "2", "3", "4", "0", "1", "1"]),
    "contextual-counting": ("1[10]1", ["0", "0", "1", "1", "0", "0"]),
    "match-2": ("1 30 2", ["1", "1", "0"]),
    "match-3": ("1 2 124", ["1", "1", "1"]),
}


class Untrained(ModelCache):
    """In the place of all models: one that was never trained, of any task."""

    def __init__(self, task):
        model = build_model(ResidualEncoder(layers=1, heads=2, width=8, hidden=8), task, seed=0).eval()
        self.loaded = LoadedModel("model", "untrained", task, model)

    def load(self, name):
        return self.loaded


@pytest.mark.parametrize("name", CLASSES)
def test_answers_that_are_classes_of_their_own_are_written_as_their_numbers(client, name):
    text, classes = CLASSES[name]
    assert asked(client, "/api/answer", {"task": name, "text": text}).json()["exact"] == classes
    cache = Untrained(make_task(name))
    (given,) = answer_document(cache, Question(task=name, models=["model"], text=text))["models"]
    pairs = zip(given["symbols"], classes, strict=True)
    assert given["wrong"] == [place for place, (symbol, right) in enumerate(pairs) if symbol != right]
    outputs = attention_maps(cache, AttentionQuestion(model="model", text=text))["outputs"]
    assert [output["right"] for output in outputs] == classes
