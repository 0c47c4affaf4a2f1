"""A store with a run that is done, one whose record is damaged, and links that lead out of it."""

import shutil
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from ordinate.app.cli.main import main
from ordinate.app.web.server import make_app
from tests.app.web.serving import served
from tests.browsing import chromium, open_page  # noqa: F401

PORT = 8765
ROOT = Path(__file__).parents[3]
WIDTHS = {"desk": 1440, "phone": 390}
REFUSED = "status of 400"
SECRET = "nobody may read this"

TINY = """
name = "{name}"
[task]
name = "addition"
digits = 2
width = 3
[model]
kind = "encoder"
width = 8
heads = 2
hidden = 8
layers = 1
attention = "content-class"
encoding = {{kind = "pairwise", relation = {{kind = "product", of = ["aligned", {{kind = "window", back = 2}}]}}}}
[training]
steps = {steps}
batch = 8
log_every = 2
[evaluation]
count = 20
axes = {{length = [2, 6]}}
"""


def write_recipe(folder, name="tiny", steps=20):
    path = folder / f"{name}.toml"
    path.write_text(TINY.format(name=name, steps=steps))
    return path


@pytest.fixture(scope="session")
def made_store(tmp_path_factory):
    """Two seeds that are done; a broken run; links to a secret in the place of a run, a file, a study."""
    root = tmp_path_factory.mktemp("page")
    store = root / "runs"
    assert main(["train", str(write_recipe(root)), "--seeds", "2", "--out", str(store)]) == 0
    (done,) = store.glob("tiny-*/seed-0")
    key = done.parent.name.rsplit("-", 1)[1]
    broken = store / f"broken-{key}" / "seed-0"
    broken.mkdir(parents=True)
    (broken / "recipe.toml").write_text((done / "recipe.toml").read_text())
    (broken / "run.json").write_text('{"status": ["not", "a", "word"], "step": "<b>x</b>"}')
    outside = root / "outside" / "seed-0"
    outside.mkdir(parents=True)
    for name in ("recipe.toml", "run.json", "metrics.jsonl"):
        (outside / name).write_text(f'{{"loss": 1, "step": 1, "text": "{SECRET}"}}\n')
    (store / f"linked-{key}").symlink_to(outside.parent)
    file_link = store / f"filelink-{key}" / "seed-0"
    file_link.mkdir(parents=True)
    (file_link / "recipe.toml").write_text((done / "recipe.toml").read_text())
    (file_link / "metrics.jsonl").symlink_to(outside / "metrics.jsonl")
    return store


@pytest.fixture(scope="module")
def store(made_store, tmp_path_factory):
    """A copy for the tests of one file, which may train in it."""
    return shutil.copytree(made_store, tmp_path_factory.mktemp("copy") / "runs", symlinks=True)


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    """One figure, one that is broken, one that is a link to a secret."""
    folder = tmp_path_factory.mktemp("results")
    figure = folder / "paper" / "figure"
    figure.mkdir(parents=True)
    claim = (
        '{"sentence": "<img src=x onerror=alert(1)>", "verdict": "supported", "reason": "r", "measured": '
        '{"estimate": "NaN", "low": 1, "high": 2}, "predicate": {"text": "at least 1"}, "seeds": 3}'
    )
    (figure / "result.json").write_text(f'{{"scale": "laptop", "command": "c", "claims": [{claim}]}}')
    (figure / "figure.png").write_bytes(b"\x89PNG")
    (folder / "paper" / "torn").mkdir()
    (folder / "paper" / "torn" / "result.json").write_text("{")
    secret = folder.parent / "secret.png"
    secret.write_text(SECRET)
    (folder / "paper" / "linked").mkdir()
    (folder / "paper" / "linked" / "linked.png").symlink_to(secret)
    (folder / "paper" / "linked" / "result.json").symlink_to(secret)
    return folder


@pytest.fixture(scope="module")
def client(store, results):
    with TestClient(make_app(store, results, PORT), base_url=f"http://127.0.0.1:{PORT}") as client:
        yield client


@pytest.fixture(scope="module")
def done(store):
    """The id of a run that is done."""
    (folder,) = store.glob("tiny-*/seed-0")
    return f"{folder.parent.name}/seed-0"


@pytest.fixture(scope="session")
def served_store(made_store, tmp_path_factory):
    """A copy for all tests in a browser, which may train in it."""
    return shutil.copytree(made_store, tmp_path_factory.mktemp("served") / "runs", symlinks=True)


@pytest.fixture(scope="session")
def page_url(served_store):
    """The address of a page that is served."""
    with served(served_store, ROOT / "results") as page:
        yield page.url


@pytest.fixture
def visit(open_page, page_url, request):  # noqa: F811
    """Open a part of the page; nothing may be said on the console, and nothing may come from elsewhere."""
    expected = request.node.get_closest_marker("refusals") is not None
    said = []

    def go(part="", width="desk", scheme="light"):
        page = open_page(viewport={"width": WIDTHS[width], "height": 900}, color_scheme=scheme)
        page.on("console", lambda message: said.append(message.text))
        page.on("request", lambda sent: sent.url.startswith(page_url) or said.append(sent.url))
        page.goto(f"{page_url}/{part}")
        return page

    yield go
    # A browser logs every answer with status 400 itself, also those to questions that a test means to be refused.
    assert [text for text in said if not (expected and REFUSED in text)] == []
