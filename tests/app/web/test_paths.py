"""No path leads out of a folder."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.app.web.store import inside
from ordinate.errors import OrdinateError
from tests.app.web.conftest import SECRET

HOSTILE = [
    *("..", "../..", "../outside/seed-0", "../../etc/passwd", "/etc/passwd", "//etc/passwd", "./tiny", ""),
    *("%2e%2e/outside", "..%2foutside", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "..\\..\\etc", "a\x00b/seed-0"),
    *("~/x", "C:\\x/seed-0", "a/../../b", "\u2025/outside", "tiny-*/seed-0", "a/b/c", "x" * 400),
]


@given(st.lists(st.text(max_size=12), min_size=1, max_size=4))
def test_what_is_let_through_stays_inside(tmp_path_factory, names):
    root = tmp_path_factory.getbasetemp()
    try:
        path = inside(root, *names)
    except OrdinateError:
        return
    assert path.resolve().is_relative_to(root.resolve())
    assert len(path.relative_to(root).parts) == len(names)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_ids_are_refused(client, name):
    for path, key in (("/api/run", "run"), ("/api/metrics", "run"), ("/api/picture", "figure")):
        answer = client.get(path, params={key: name})
        assert answer.status_code == 400, (path, name)
        assert set(answer.json()) == {"error"}
        assert SECRET not in answer.text
    answer = client.get("/api/compare", params={"run": [name, name]})
    assert answer.status_code == 400
    answer = client.post("/api/attention", json={"model": f"run:{name}", "text": "1+1"})
    assert answer.status_code == 400
    assert client.post("/api/attention", json={"model": f"package:{name}", "text": "1+1"}).status_code == 400


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_addresses_of_files_are_not_found(client, name):
    for path in (f"/{quote(name)}", f"/js/{name.replace(chr(0), '%00')}", f"/js/%2e%2e/%2e%2e/{quote(name)}"):
        answer = client.get(path)
        assert answer.status_code in (200, 404, 405), path
        if answer.status_code == 200:
            assert "<!doctype html>" in answer.text
    for path in ("/../app.py", "/%2e%2e/app.py", "/js/../../app.py", "/..%2fapp.py", "//etc/passwd"):
        assert client.get(path).status_code == 404, path


def test_links_in_the_store_and_the_results_are_not_read(client, store):
    key = next(store.glob("broken-*")).name.rsplit("-", 1)[1]
    for name in (f"linked-{key}/seed-0", f"filelink-{key}/seed-0"):
        for path in ("/api/run", "/api/metrics"):
            answer = client.get(path, params={"run": name})
            assert (answer.status_code, "link" in answer.json()["error"]) == (400, True)
    assert client.get("/api/picture", params={"figure": "paper/linked"}).status_code == 400
    everything = client.get("/api/runs").text + client.get("/api/verdicts").text
    assert SECRET not in everything
    assert "this page reads no links" in everything


def test_a_link_to_the_weights_is_not_loaded(client, store, done, tmp_path):
    folder = store / done / "checkpoints"
    (file,) = folder.iterdir()
    moved = tmp_path / file.name
    file.rename(moved)
    file.symlink_to(moved)
    try:
        answer = client.post("/api/attention", json={"model": f"run:{done}", "text": "1+1"})
        assert (answer.status_code, "link" in answer.json()["error"]) == (400, True)
    finally:
        file.unlink()
        moved.rename(file)
