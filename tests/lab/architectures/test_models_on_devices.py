"""Every kind of model learns on any device what it learns on the CPU: outputs, gradients, a step of the optimiser."""

import pytest
import torch

from ordinate.kinds import choose
from ordinate.lab.architectures import MODELS
from ordinate.lab.tasks import make_task
from ordinate.models import build_model
from tests.devices import assert_trains_anywhere

SIZES = {"layers": 2, "width": 8, "heads": 2, "hidden": 8}
LOOPS = {"loops": 3, "trained_loops": [1, 3], "unlooped_layers": [1, 0], "inject_input": True}
DRAWN = {"repeat_loop_prob": 0.3, "null_loop_prob": 0.3}
LEAP = {"kind": "pairwise", "relation": "leap"}
pytestmark = pytest.mark.filterwarnings(
    "ignore:Accessing the data pointer of FakeTensor"
)  # to keep merged maps

MODELS_TO_TRY = [
    ("positional", {}),
    ("positional", {"encoding": "sinusoidal"}),
    ("positional", {"encoding": "learned", "input_positions": True}),
    ("standard", {}),
    ("standard", {"encoding": "none"}),
    ("standard", {"encoding": "rope"}),
    ("standard", {"encoding": "alibi"}),
    ("standard", {"encoding": "shaw"}),
    ("standard", {"encoding": "dape"}),
    ("standard", {"encoding": ["randomized", "t5"]}),
    ("hybrid", {}),
    ("encoder", {}),
    ("encoder", {"attention": "content-class"}),
    ("encoder", {"encoding": ["rope", "kerple-power", "shaw"]}),
    ("encoder", {"encoding": "coupling", "gated": True}),
    ("encoder", {"encoding": LEAP, **LOOPS}),
    ("encoder", {"encoding": LEAP, **LOOPS, **DRAWN}),
    ("decoder", {}),
    ("decoder", {"encoding": "abacus", "causal": False}),
    ("positional-decoder", {}),
    ("memory", {}),
    ("memory", {"encoding": "alibi"}),
    ("memory", {"encoding": "fire"}),
    ("memory", {"attention": "dp", "norm": "post"}),
    ("memory", {"attention": "tmx", "normalised": False, "encoding": "rpe-log"}),
    ("memory", {"attention": "hard", "norm": "pre", "precision": "lin"}),
    ("scan", {"layers": 1}),
]


def drawn_alike(model, x, coordinates):
    torch.manual_seed(0)
    return model(x, coordinates)


def test_all_kinds_are_tried():
    assert {kind for kind, _ in MODELS_TO_TRY} == set(MODELS)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    ("kind", "options", "name"),
    [
        (kind, options, name)
        for kind, options in MODELS_TO_TRY
        for name in ("sum", "reverse")
        if (kind, name) != ("scan", "reverse")  # which has two fields
    ],
)
def test_a_step_of_training_is_that_of_the_cpu(kind, options, name, training):
    task = make_task(name, length=4)
    settings = choose({"kind": kind, **SIZES, **options}, MODELS, "model")
    model = build_model(settings, task, seed=0).double().train(training)
    x, _, coordinates = task.sample(3, generator=torch.Generator().manual_seed(0))
    x = x.double() if x.is_floating_point() else x
    assert_trains_anywhere(model, drawn_alike, x, coordinates)
