"""Requests that ask for too much are refused with a line that says what to write instead."""

import pytest

from ordinate.app.web.limits import BODY

RELATION = "package:addition-relation"


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        (
            "/api/answer",
            {"length": 1001},
            "length 1001 is outside what this page asks of 'addition': choose 1 to 1000",
        ),
        ("/api/answer", {"length": 0}, "choose 1 to 1000"),
        ("/api/answer", {"length": -5}, "choose 1 to 1000"),
        ("/api/answer", {"length": 10**30}, "choose 1 to 1000"),
        ("/api/answer", {"length": 65, "task": "sort"}, "choose 1 to 64"),
        ("/api/answer", {"length": 2.5}, "length is not allowed"),
        (
            "/api/answer",
            {"text": "1" * 1001 + "+1"},
            "1001 characters is too long for this page: write at most 1000",
        ),
        ("/api/answer", {"text": "1+" * 2500}, "5000 characters are too many"),
        ("/api/answer", {"text": "two plus two"}, "is not understood: write 2 whole numbers"),
        ("/api/answer", {"text": ""}, "is not understood"),
        ("/api/answer", {"count": 21}, "count is not allowed"),
        ("/api/answer", {"models": [RELATION] * 3}, "models is not allowed"),
        ("/api/answer", {"seed": -1}, "seed is not allowed"),
        ("/api/answer", {"lenght": 5}, "lenght is not allowed"),
        ("/api/answer", {"task": "additon"}, "did you mean 'addition'?"),
        ("/api/answer", [], "the request is not allowed"),
        (
            "/api/attention",
            {"model": RELATION, "text": "1" * 200 + "+1"},
            "at most 64 tokens, and these are 403",
        ),
        ("/api/attention", {"model": "package:addition-realtion", "text": "1+1"}, "did you mean"),
        ("/api/attention", {"model": "other", "text": "1+1"}, "there is no model 'other'"),
        ("/api/relation", {"length": 200, "fields": ["first"]}, "at most 64 tokens"),
        ("/api/relation", {"fields": ["frist"]}, "there is no field 'frist'"),
        ("/api/relation", {"rest": "nothing"}, "nothing is related"),
        ("/api/relation", {"back": -1, "fields": ["first"]}, "back is not allowed"),
        ("/api/relation", {"task": "additon"}, "did you mean 'addition'?"),
    ],
)
def test_refusals(client, path, body, words):
    answer = client.post(path, json=body)
    assert answer.status_code == 400
    assert words in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


def test_large_bodies_are_refused_also_without_a_length(client):
    large = b" " * (BODY + 1)
    announced = client.post("/api/answer", content=large)
    streamed = client.post("/api/answer", content=iter([large[:BODY], large[BODY:]]))
    for answer in (announced, streamed):
        assert answer.status_code == 413
        assert f"{BODY} bytes at most" in answer.json()["error"]


def test_a_length_that_is_no_number_is_refused(client):
    answer = client.post("/api/answer", content=b"{}", headers=[(b"content-length", b"\xb2")])
    assert answer.status_code == 413


def test_what_is_not_json_is_refused(client):
    answer = client.post("/api/answer", content=b"{", headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert client.get("/api/answer").status_code in (404, 405)
