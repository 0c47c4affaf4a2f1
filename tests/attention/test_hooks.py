"""Every intermediate of attention can be read and replaced by its name."""

import pytest
import torch

from ordinate.attention import captured, hooks, patched
from ordinate.errors import OrdinateError
from ordinate.lab.architectures import Positional, Standard
from ordinate.lab.tasks import make_task
from ordinate.models import build_model

TASK = make_task("sum", length=4)
PLACES = ("query", "key", "scores", "weights", "values", "output")


@pytest.mark.parametrize("kind", [Positional(), Standard()])
def test_all_intermediates_have_a_hook_in_every_layer(kind):
    model = build_model(kind, TASK, seed=0)
    assert set(hooks(model)) == {f"layers.{i}.attention.{place}" for i in range(3) for place in PLACES}


@pytest.mark.parametrize("kind", [Positional(), Standard()])
def test_reading_does_not_change_the_output(kind):
    model, c, x = build_model(kind, TASK, seed=0), TASK.coordinates(4), torch.randn(2, 4, 1)
    plain = model(x, c)
    with captured(model) as seen:
        read = model(x, c)
    torch.testing.assert_close(plain, read)
    weights = seen["layers.1.attention.weights"]
    torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
    assert weights.shape == ((2, 5, 5) if isinstance(kind, Positional) else (2, 2, 5, 5))


def test_replacing_weights_changes_what_is_mixed_and_ends_with_the_block():
    model, c, x = build_model(Positional(), TASK, seed=0), TASK.coordinates(4), torch.randn(2, 4, 1)
    before = model(x, c)
    own = {f"layers.{i}.attention.weights": lambda w: torch.eye(5).expand_as(w) for i in range(3)}
    with patched(model, own), torch.no_grad():
        alone = model(x, c)
        changed = model(x + torch.tensor([[0.0], [0.0], [0.0], [1.0]]), c)
    torch.testing.assert_close(alone[:, :3], changed[:, :3])  # tokens that look at themselves only
    assert not torch.allclose(alone, before)
    torch.testing.assert_close(model(x, c), before)


def test_a_misspelt_hook_gets_the_nearest_name():
    model = build_model(Positional(), TASK, seed=0)
    with (
        pytest.raises(OrdinateError, match=r"did you mean 'layers\.0\.attention\.weights'"),
        patched(model, {"layers.0.attention.weight": lambda w: w}),
    ):
        pass
