"""The cost figure: operations worked out by hand, and a small run through the front door of figures."""

import pytest

from ordinate.lab.architectures import Positional
from ordinate.lab.tasks import make_task
from ordinate.models import build_model
from ordinate.papers import FIGURES
from ordinate.papers.positional.cost import MODELS, SIZES, measure
from tests.papers.inline import Inline


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return FIGURES["positional/cost"].reproduce("smoke", tmp_path_factory.mktemp("cost"), engine=Inline())


def test_there_is_a_row_for_each_task_length_model_and_phase(result):
    rows = result.document["rows"]
    assert len(rows) == 1 * 2 * 2 * 2
    assert all(row[key] > 0 for row in rows for key in ("parameters", "operations", "bytes", "seconds"))
    assert len(result.table[1]) == len(rows)
    assert all(claim.exact and claim.verdict is None for claim in result.claims)


def test_parameters_are_those_of_the_models():
    rows = measure("sum", 8, SIZES["smoke"])
    found = {row["model"]: row["parameters"] for row in rows}
    assert found == {"positional": 84_577, "standard": 150_273}
    model = build_model(Positional(), make_task("sum", length=8), seed=0)
    assert found["positional"] == sum(p.numel() for p in model.parameters())
    assert set(found) == set(MODELS)


def test_a_step_costs_about_three_forward_passes():
    rows = {(row["model"], row["phase"]): row["operations"] for row in measure("sum", 8, SIZES["smoke"])}
    for model in MODELS:
        assert 2 < rows[model, "training"] / rows[model, "use"] < 4
