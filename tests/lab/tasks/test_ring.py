"""The ring."""

import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import make_task


def test_answers_by_hand(generator):
    task = make_task("ring", places=7, filled=3, dimension=5, own=2.0, neighbours=(0.5, -0.25))
    batch = task.sample(4, generator=generator, filled=7)
    along = batch.input @ task.direction().float()
    for i in range(7):
        near = along[:, (i - 1) % 7] + along[:, (i + 1) % 7]
        far = along[:, (i - 2) % 7] + along[:, (i + 2) % 7]
        torch.testing.assert_close(batch.target[:, i, 0], 2 * along[:, i] + 0.5 * near - 0.25 * far)


def test_training_fills_the_first_places_and_the_axis_more(generator):
    task = make_task("ring")
    for filled, options in ((10, {}), (51, {"filled": 51}), (20, {"filled": 20.0})):
        some = (task.sample(2, generator=generator, **options).input != 0).all(-1).all(0)
        assert some.tolist() == [True] * filled + [False] * (51 - filled)


def test_shapes(generator):
    task = make_task("ring", places=7, filled=3, dimension=5)
    batch = task.sample(4, generator=generator)
    assert task.lengths() == (7,)
    assert batch.coordinates == task.coordinates(7)
    assert batch.input.shape == (4, 7, task.features)
    assert batch.target.shape == (4, 7, task.outputs)


def test_the_direction_is_a_unit_vector_fixed_by_the_seed():
    one, again, other = (make_task("ring", seed=seed).direction() for seed in (0, 0, 1))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    assert one.norm().item() == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"filled": 60}, "filled must be at most places, got 60 and 51"),
        (
            {"places": 4, "filled": 2, "neighbours": (1.0, 1.0)},
            "neighbours must be fewer than half of places",
        ),
        ({"own": float("nan")}, "task.own = nan is not allowed"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(OrdinateError, match=message):
        make_task("ring", **options)


def test_another_length_is_refused(generator):
    with pytest.raises(OrdinateError, match="this ring has 51 places, not 8: write places=8"):
        make_task("ring").sample(2, generator=generator, length=8)
