"""Only this machine's browser, showing this page, is answered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.app.web.middleware import HEADERS, refused

PORT = 8765


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765", "[::1]:8765"])
def test_names_of_this_machine_are_answered(host):
    assert refused(host, None, PORT) is None
    assert refused(host, f"http://{host}", PORT) is None


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        (None, None),
        ("", None),
        ("127.0.0.1", None),
        ("127.0.0.1:80", None),
        ("127.0.0.1:8765.evil.org", None),
        ("127.0.0.1.evil.org:8765", None),
        ("evil.org", None),
        ("0.0.0.0:8765", None),
        ("user@127.0.0.1:8765", None),
        ("127.0.0.1:8765", "null"),
        ("127.0.0.1:8765", ""),
        ("127.0.0.1:8765", "https://127.0.0.1:8765"),
        ("127.0.0.1:8765", "http://127.0.0.1:9999"),
        ("127.0.0.1:8765", "http://evil.org"),
        ("127.0.0.1:8765", "http://127.0.0.1:8765/"),
    ],
)
def test_others_are_refused_with_a_reason(host, origin):
    assert "open http://127.0.0.1:8765" in refused(host, origin, PORT)


@given(st.text(max_size=30))
def test_no_other_text_is_this_machine(text):
    names = {"127.0.0.1:8765", "localhost:8765", "[::1]:8765"}
    assert (refused(text, None, PORT) is None) == (text.lower() in names)


def test_port_80_needs_no_port():
    assert refused("localhost", None, 80) is None


@pytest.mark.parametrize("path", ["/", "/api/runs", "/js/main.js", "/no/such/file"])
def test_every_answer_has_the_safety_headers_and_foreign_requests_get_403(client, path):
    answer = client.get(path)
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    for headers in ({"host": "evil.org"}, {"origin": "http://evil.org"}):
        refusal = client.get(path, headers=headers)
        assert refusal.status_code == 403
        assert "error" in refusal.json()
        assert refusal.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]
    two = client.get(path, headers=[("host", "127.0.0.1:8765"), ("origin", "null"), ("origin", "null")])
    assert two.status_code == 403


def test_a_foreign_page_cannot_post(client):
    body = {"task": "addition", "length": 5}
    assert client.post("/api/answer", json=body).status_code == 200
    assert client.post("/api/answer", json=body, headers={"origin": "https://evil.org"}).status_code == 403
