"""Verdicts come from stored results; a torn one is shown as such."""

from pathlib import Path

from starlette.testclient import TestClient

from ordinate.app.web.server import make_app
from ordinate.app.web.verdicts import figures_of
from ordinate.papers import FIGURES

RESULTS = Path(__file__).parents[3] / "results"


def test_figures_with_their_claims(client):
    figures = {figure["name"]: figure for figure in client.get("/api/verdicts").json()["figures"]}
    assert set(figures) == {"paper/figure", "paper/torn", "paper/linked"}
    (claim,) = figures["paper/figure"]["claims"]
    assert (claim["verdict"], claim["estimate"], claim["asked"]) == ("supported", "NaN", "at least 1")
    assert figures["paper/figure"]["picture"] is True
    assert "not readable JSON" in figures["paper/torn"]["error"]
    assert "link" in figures["paper/linked"]["error"]


def test_pictures(client):
    picture = client.get("/api/picture", params={"figure": "paper/figure"})
    assert (picture.headers["content-type"], picture.content) == ("image/png", b"\x89PNG")
    missing = client.get("/api/picture", params={"figure": "paper/torn"})
    assert (missing.status_code, missing.json()["error"]) == (400, "figure 'paper/torn' has no picture")


def test_the_stored_results_are_read():
    figures = figures_of(RESULTS)
    assert len(figures) >= 11
    assert not [figure for figure in figures if "error" in figure]
    assert {figure["name"]: figure["title"] for figure in figures}["symmetry/fig-2a"] == FIGURES[
        "symmetry/fig-2a"
    ].title
    assert {claim["verdict"] for figure in figures for claim in figure["claims"]} <= {
        *("supported", "contradicted", "inconclusive", "no verdict"),
    }


def test_an_empty_machine_has_an_empty_page(tmp_path):
    with TestClient(make_app(tmp_path / "none", None, 80), base_url="http://localhost") as client:
        assert client.get("/api/runs").json()["studies"] == []
        assert client.get("/api/verdicts").json() == {"folder": None, "figures": []}
        assert "--results" in client.get("/api/picture", params={"figure": "a/b"}).json()["error"]
        assert {model["id"].split(":")[0] for model in client.get("/api/models").json()["models"]} == {
            "package"
        }
        assert not (tmp_path / "none").exists()
