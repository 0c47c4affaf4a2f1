"""Schedules and optimisers."""

import pytest
import torch

from ordinate.lab.training.optimizer import OPTIMIZERS, Adam, AdamW, Constant, Cosine, Linear, Plateau


def rates(schedule, steps=100, losses=None):
    optimizer = Adam(learning_rate=1.0).build([torch.nn.Parameter(torch.zeros(1))])
    moving = schedule.build(optimizer, steps)
    seen = []
    for step in range(steps):
        seen.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        moving.step(*([losses[step]] if losses else []))
    return seen


def test_constant_stays():
    assert rates(Constant()) == [1.0] * 100


def test_cosine_rises_then_falls_to_its_floor():
    seen = rates(Cosine(warmup=0.1, floor=0.2))
    assert seen[:3] == pytest.approx([0.1, 0.2, 0.3])
    assert max(seen) == pytest.approx(1.0)
    assert seen.index(max(seen)) in (9, 10)
    assert seen[55] == pytest.approx(0.6, abs=0.01)
    assert seen[-1] == pytest.approx(0.2, abs=0.01)
    assert sorted(seen[10:], reverse=True) == seen[10:]


def test_linear_rises_then_falls_in_a_straight_line_to_its_floor():
    seen = rates(Linear(warmup=0.1, floor=0.2))
    assert seen[:10] == pytest.approx([0.1 * (i + 1) for i in range(10)])
    assert seen[10:] == pytest.approx([1 - 0.8 * i / 90 for i in range(90)])
    assert rates(Linear(warmup=0.0), steps=4) == pytest.approx([1, 1, 2 / 3, 1 / 3])


def test_plateau_waits_for_its_patience():
    seen = rates(Plateau(patience=5, factor=0.5, least=0.3), steps=30, losses=[1.0] * 30)
    assert seen[:7] == [1.0] * 7
    assert seen[7] == 0.5
    assert min(seen) == 0.3


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_take_a_step_downhill(name):
    p = torch.nn.Parameter(torch.tensor([3.0]))
    optimizer = OPTIMIZERS[name](learning_rate=0.1).build([p])
    (p**2).sum().backward()
    optimizer.step()
    assert p.item() == pytest.approx(2.9)


def test_weight_decay_shrinks_weights_directly_in_adamw_only():
    ends = []
    for kind in (Adam, AdamW):
        p = torch.nn.Parameter(torch.tensor([3.0]))
        optimizer = kind(learning_rate=0.1, weight_decay=0.5).build([p])
        p.grad = torch.zeros(1)
        optimizer.step()
        ends.append(p.item())
    assert ends == pytest.approx([2.9, 3.0 * (1 - 0.05)])
