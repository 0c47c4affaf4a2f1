"""Figures of trained runs: who trained the models, in the document, the report and the docs."""

import runpy
from pathlib import Path

import pytest

from ordinate.lab.runs import Store
from ordinate.lab.training import Recipe
from ordinate.papers.figure import trained_at

FILL_DOCS = Path(__file__).parents[2] / "tools" / "fill_docs.py"


@pytest.fixture
def runs(tmp_path):
    recipe = Recipe.parse({"name": "small", "task": {"name": "sum"}, "model": {"kind": "positional"}})
    return [Store(tmp_path).open(recipe.to_dict(), seed) for seed in range(3)]


def made(revision, dirty=False, cpu="a processor"):
    return {"revision": revision, "dirty": dirty, "cpu": cpu}


def test_every_revision_and_processor_that_trained_is_named_once(runs):
    for run, environment in zip(runs, [made("b" * 40), made("a" * 40), made("b" * 40)], strict=True):
        run.update(environment=environment)
    assert trained_at(runs) == ["aaaaaaaaaa, a processor", "bbbbbbbbbb, a processor"]
    runs[0].update(environment=made("a" * 40, dirty=True))
    runs[1].update(environment=made(None, cpu="another"))
    assert trained_at(runs) == [
        "aaaaaaaaaa with changes, a processor",
        "bbbbbbbbbb, a processor",
        "unknown, another",
    ]


@pytest.mark.parametrize(
    ("models", "said"),
    [
        (["aaaaaaaaaa, a processor"], ""),
        (["aaaaaaaaaa with changes, a processor"], " Models: aaaaaaaaaa with changes, a processor."),
        (["bbbbbbbbbb, a processor"], " Models: bbbbbbbbbb, a processor."),
        (["aaaaaaaaaa, x", "bbbbbbbbbb, y"], " Models: aaaaaaaaaa, x; bbbbbbbbbb, y."),
    ],
)
def test_docs_name_the_revisions_of_models_that_are_not_the_drawing_s(models, said):
    origin = runpy.run_path(str(FILL_DOCS))["origin"]
    document = {
        "command": "ordinate reproduce a/b",
        "wall_seconds": 3.0,
        "workers": 1,
        "environment": made("a" * 40),
        "trained_at": models,
    }
    assert (
        origin(document)
        == f"\n`ordinate reproduce a/b`, 3 seconds on 1 core, a processor, revision aaaaaaaaaa.{said}\n"
    )
