"""The page as a process: where it listens, what hostile and many clients do to it, how it ends."""

import http.client
import importlib.util
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ordinate.app.cli.main import main
from ordinate.lab.runs import Store
from tests.app.web.conftest import SECRET, write_recipe
from tests.app.web.serving import served


@pytest.fixture(scope="module")
def page(store, results):
    with served(store, results) as page:
        yield page


def raw(page, request: bytes) -> bytes:
    """Send bytes as they are, and read the answer to its end."""
    with socket.create_connection(("127.0.0.1", page.port), timeout=20) as connection:
        connection.sendall(request)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
        return b"".join(parts)


def get(page, path):
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=30)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="the system does not list its sockets")
def test_it_listens_on_this_machine_only(page):
    assert page.url == f"http://127.0.0.1:{page.port}"
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = [line[1].split(":") for line in lines if line[3] == "0A"]
    assert {address for address, port in listening if int(port, 16) == page.port} == {"0100007F"}


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/../../../../etc/passwd",
            "/%2e%2e/%2e%2e/etc/passwd",
            "/js/..%2f..%2fapp.py",
            "//etc/passwd",
            "/js/%00",
        ),
        *(
            "/api/run?run=../outside/seed-0",
            "/api/run?run=%2Fetc%2Fpasswd",
            "/api/metrics?run=..%2Foutside%2Fseed-0",
        ),
        *(
            "/api/picture?figure=..%2F..%2Fsecret",
            "/api/picture?figure=paper/%2e%2e",
            "/api/run?run[]=x",
            "/api/run",
        ),
    ],
)
def test_hostile_paths_as_bytes_on_the_wire(page, path):
    host = f"127.0.0.1:{page.port}"
    answer = raw(page, f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    assert int(answer.split()[1]) in (400, 404)
    assert SECRET.encode() not in answer
    assert b"root:" not in answer


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /api/runs HTTP/1.1\r\nHost: evil.org\r\nConnection: close\r\n\r\n",
        b"GET /api/runs HTTP/1.1\r\nConnection: close\r\n\r\n",
        b"GET /api/runs HTTP/1.0\r\n\r\n",
        b"GET http://evil.org/api/runs HTTP/1.1\r\nHost: evil.org\r\nConnection: close\r\n\r\n",
        b"NONSENSE\r\n\r\n",
    ],
)
def test_requests_without_this_machines_name_get_nothing(page, request_):
    answer = raw(page, request_)
    assert int(answer.split()[1]) in (400, 403)
    assert b"studies" not in answer


def test_clients_that_leave_and_a_hundred_at_once_do_not_stop_it(page):
    host = f"127.0.0.1:{page.port}"
    body = json.dumps({"models": ["package:addition-absolute"], "length": 400, "count": 4}).encode()
    head = f"POST /api/answer HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    for _ in range(20):  # ask for much, and hang up at once; or in the middle of the question
        for request in (
            head + f"Content-Length: {len(body)}\r\n\r\n",
            head + "Content-Length: 99999\r\n\r\n",
        ):
            with socket.create_connection(("127.0.0.1", page.port), timeout=20) as connection:
                connection.sendall(request.encode() + body)
    found = []

    def ask():
        found.append([get(page, path)[0] for path in ("/api/runs", "/", "/api/models")])

    clients = [threading.Thread(target=ask) for _ in range(100)]
    for client in clients:
        client.start()
    for client in clients:
        client.join(60)
    assert found == [[200, 200, 200]] * 100
    started = time.monotonic()
    assert get(page, "/api/runs")[0] == 200
    assert time.monotonic() - started < 2
    assert page.process.poll() is None


def test_training_goes_on_whatever_clients_do(page, store, tmp_path):
    """Clients that poll as fast as they can while a recipe trains in the same store: the same numbers come out."""
    recipe = write_recipe(tmp_path, "watched", steps=30)
    stop = threading.Event()

    def pester():
        while not stop.is_set():
            _, listed = get(page, "/api/runs")
            for study in json.loads(listed)["studies"]:
                if study["name"] == "watched":
                    get(page, f"/api/metrics?run={study['runs'][0]['id']}")

    clients = [threading.Thread(target=pester) for _ in range(4)]
    for client in clients:
        client.start()
    try:
        assert main(["train", str(recipe), "--out", str(store)]) == 0
    finally:
        stop.set()
        for client in clients:
            client.join(30)
    assert main(["train", str(recipe), "--out", str(tmp_path / "alone")]) == 0
    watched, alone = (
        [(row["step"], row.get("loss")) for row in Store(folder).find("watched").metrics()]
        for folder in (store, tmp_path / "alone")
    )
    assert watched == alone


def test_a_taken_port_and_a_missing_folder_are_said_in_one_line(page, capsys, tmp_path):
    assert main(["serve", "--port", str(page.port), "--store", str(tmp_path)]) == 2
    assert "write --port 0 for a free one" in capsys.readouterr().err
    assert main(["serve", "--store", str(tmp_path / "none")]) == 2
    assert "give --store a folder that is there" in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(monkeypatch, capsys):
    there = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == "fastapi" else there(name, *a)
    )
    assert main(["serve"]) == 2
    assert capsys.readouterr().err == (
        "error: the page needs two more packages: write pip install 'ordinate[web]'\n"
    )


def test_an_interrupt_closes_it(tmp_path):
    command = [sys.executable, "-m", "ordinate", "serve", "--port", "0", "--store", str(tmp_path)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A background job of a shell ignores the signal, and its children would too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout.readline().startswith("http://127.0.0.1:")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert err.splitlines()[-1] == "the page is closed"
    assert process.returncode == 130
