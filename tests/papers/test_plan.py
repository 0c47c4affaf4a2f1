"""Plans of figures: steps counted against products worked out by hand, shared runs counted once, hours added up."""

import pytest
import torch

from ordinate.encodings import Alibi, KerpleLog, NoPosition
from ordinate.lab.architectures import Positional
from ordinate.lab.evaluation.cost import operations, peak_bytes
from ordinate.lab.seeds import generator
from ordinate.lab.tasks import make_task
from ordinate.lab.threads import threads
from ordinate.lab.training import Recipe, Training
from ordinate.lab.training.price import Price, calls_of, price
from ordinate.models import ResidualEncoder, build_model
from ordinate.papers import FIGURES
from ordinate.papers.plan import Gpu, plan


def recipe(**training):
    return Recipe(
        name="priced",
        task=make_task("addition", digits=2),
        model=ResidualEncoder(layers=1, width=8, heads=2, hidden=16, encoding=(NoPosition(),)),
        training=Training(**({"steps": 7, "batch": 5} | training)),
    )


def test_a_step_is_three_passes_of_the_products_of_a_layer():
    found = price(recipe())
    n, d = len(make_task("addition", digits=2).coordinates(2)), 8
    layer = 4 * n * d * d + 2 * n * n * d + 2 * n * d * 16  # maps, weights and means, two linear maps
    assert found.steps == 7
    assert found.operations == pytest.approx(3 * 2 * 5 * layer, rel=0.25)  # and the answer's map
    assert 0 < found.seconds < 60


@pytest.mark.parametrize("measure", ["operations", "calls_of", "peak_bytes", "seconds_of"])
def test_a_step_is_counted_and_timed_on_one_thread(monkeypatch, measure):
    seen = []

    def measured(call):
        seen.append(torch.get_num_threads())
        return 1

    monkeypatch.setattr(f"ordinate.lab.training.price.{measure}", measured)
    with threads(2):
        price(recipe())
        assert torch.get_num_threads() == 2
    assert set(seen) == {1}


def test_a_step_of_twice_the_batch_costs_twice_as_much():
    one, two = price(recipe()), price(recipe(batch=10))
    assert two.operations == 2 * one.operations
    assert (two.calls, two.parameters) == (one.calls, one.parameters)
    assert two.bytes > one.bytes > 16 * one.parameters


def test_what_positions_decide_is_counted_once_for_a_batch():
    task, settings = make_task("sum", length=4), Positional(width=8, hidden=8)
    found = price(Recipe(name="sum", task=task, model=settings, training=Training(batch=50)))
    model, batch = build_model(settings, task, seed=0), task.sample(50, generator=generator(0, "test"))
    whole = operations(lambda: model(batch.input, batch.coordinates).sum().backward())
    assert found.operations == pytest.approx(whole, rel=0.01)  # the sum spares a product


@pytest.mark.parametrize(
    ("width", "length", "encoding"), [(256, 8, NoPosition()), (8, 96, Alibi()), (8, 96, KerpleLog())]
)
def test_memory_is_that_of_a_whole_batch(monkeypatch, width, length, encoding):
    """Few numbers beside many weights, and tables that positions decide, measured on one sample and worked out."""
    task = make_task("sum", length=length)
    settings = ResidualEncoder(layers=2, width=width, heads=2, hidden=4 * width, encoding=(encoding,))
    monkeypatch.setattr("ordinate.lab.training.price.ENOUGH", 1)
    found = price(Recipe(name="held", task=task, model=settings, training=Training(batch=16)))
    model, batch = build_model(settings, task, seed=0), task.sample(16, generator=generator(0, "test"))
    held = peak_bytes(lambda: model(batch.input, batch.coordinates))
    assert found.bytes - 16 * found.parameters == pytest.approx(held, rel=0.1)


def test_few_samples_make_a_small_batch():
    assert price(recipe(samples=2)).operations == price(recipe(batch=2)).operations


def test_tables_of_numbers_are_priced_too():
    settings = Positional(width=8, hidden=8)
    found = price(Recipe(name="sum", task=make_task("sum", length=4, variable=True), model=settings))
    assert found.operations > found.parameters > 0


def test_calls_are_those_that_compute():
    x = torch.ones(2, 3)
    assert calls_of(lambda: x.t().view(3, 2).unsqueeze(0)) == 0
    assert calls_of(lambda: x.relu().exp()) == 2


@pytest.fixture
def quick(monkeypatch):
    """Every step costs the same."""
    same = Price(parameters=10, steps=0, operations=1e9, calls=100, bytes=1e6, seconds=0.1)
    monkeypatch.setattr("ordinate.papers.plan.price", lambda recipe: same)


@pytest.mark.usefixtures("quick")
def test_a_shared_run_is_counted_once_and_hours_are_added():
    names = ("positional/value-scale", "positional/ablation", "symmetry/fig-9")
    found = plan([FIGURES[name] for name in names], "smoke", Gpu())
    alone = plan([FIGURES["positional/ablation"]], "smoke", Gpu())
    first, second = found["rows"]  # the third is computed, not trained
    assert first["figure"] == "positional/value-scale"
    assert second["runs"] <= alone["rows"][0]["runs"]
    assert found["total"]["runs"] == first["runs"] + second["runs"]
    assert found["total"]["hours_gpu"] == pytest.approx(first["hours_gpu"] + second["hours_gpu"])
    assert found["peak_here"] > 1e8


@pytest.mark.usefixtures("quick")
def test_a_faster_gpu_needs_less_time_until_calls_bind():
    figures = [FIGURES["positional/rope"]]
    hours = [plan(figures, "smoke", Gpu(teraflops=rate))["rows"][0]["hours_gpu"] for rate in (1e-3, 1e3, 1e6)]
    assert hours[0] > hours[1] == hours[2]


@pytest.mark.usefixtures("quick")
def test_a_plan_leaves_no_file_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ordinate.papers.plan.peak_here", lambda: 1e10)
    assert plan([FIGURES["positional/compiled"]], "smoke", Gpu())["total"]["runs"] > 0
    assert list(tmp_path.iterdir()) == []
