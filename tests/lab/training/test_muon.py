"""Muon: orthogonal parts against singular values, its step against an obvious one, and a run that was stopped."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.lab.training import Muon, Recipe, muon, train
from ordinate.lab.training.muon import MuonAdamW, orthogonal_part

sides = st.integers(1, 12)


def drawn(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@given(seed=st.integers(0, 999), rows=sides, columns=sides)
def test_singular_vectors_stay_and_values_come_near_one(seed, rows, columns):
    matrix = drawn(seed, rows, columns)
    u, values, v = torch.linalg.svd(matrix, full_matrices=False)
    found = u.mT @ orthogonal_part(matrix) @ v.mT
    torch.testing.assert_close(found, torch.diag(found.diagonal()), atol=1e-6, rtol=0)
    large = values > 0.02 * values.norm()
    assert (found.diagonal()[large] - 1).abs().max() < 0.4


@given(seed=st.integers(0, 999), rows=sides, columns=sides, scale=st.sampled_from([1e-6, 1.0, 1e6]))
def test_batches_transposes_and_scales(seed, rows, columns, scale):
    batch = drawn(seed, 2, 3, rows, columns)
    found = orthogonal_part(batch)
    torch.testing.assert_close(found[1, 2], orthogonal_part(batch[1, 2]))
    torch.testing.assert_close(found.mT, orthogonal_part(batch.mT))
    torch.testing.assert_close(found, orthogonal_part(scale * batch))


@given(seed=st.integers(0, 999), rows=sides, columns=sides, small=st.sampled_from([1.0, 1e-4]))
def test_rounds_of_squares_are_the_rounds_themselves(seed, rows, columns, small):
    matrix = drawn(seed, 2, rows, columns)
    matrix[..., 1:] *= small
    a, b, c = muon.COEFFICIENTS
    for dtype, far in ((torch.float64, 1e-10), (torch.float32, 1e-3)):
        x = (matrix / matrix.norm(dim=(-2, -1), keepdim=True)).to(dtype)
        for _ in range(muon.ROUNDS):
            square = x @ x.mT
            x = a * x + (b * square + c * square @ square) @ x
        torch.testing.assert_close(orthogonal_part(matrix.to(dtype)), x, atol=far, rtol=0)


def test_no_gradient_is_no_step_and_zeros_stay_zeros():
    assert orthogonal_part(torch.zeros(3, 4)).eq(0).all()


def test_steps_are_those_of_the_formula_and_of_adamw():
    """Three steps: two matrices of a shape, a batch of matrices of heads, a small matrix and a vector."""
    shapes = [(6, 4), (6, 4), (2, 4, 5), (3, 8), (7,)]
    ours = [torch.nn.Parameter(drawn(k, *shape)) for k, shape in enumerate(shapes)]
    theirs = [torch.nn.Parameter(p.detach().clone()) for p in ours]
    optimizer = Muon(learning_rate=0.1, weight_decay=0.2, smallest=4).build(ours)
    adamw = torch.optim.AdamW(theirs[3:], 0.1, (0.9, 0.999), weight_decay=0.2)
    held = [torch.zeros_like(p) for p in theirs[:3]]
    for turn in range(3):
        gradients = [drawn(100 * turn + k, *shape) for k, shape in enumerate(shapes)]
        for p, q, gradient in zip(ours, theirs, gradients, strict=True):
            p.grad, q.grad = gradient, gradient.clone()
        optimizer.step()
        adamw.step()
        with torch.no_grad():
            for p, gradient, momentum in zip(theirs[:3], gradients, held, strict=False):
                momentum.mul_(0.95).add_(0.05 * gradient)
                step = orthogonal_part(0.95 * momentum + 0.05 * gradient)
                p.copy_(p * (1 - 0.1 * 0.2) - 0.1 * 0.2 * max(p.shape[-2:]) ** 0.5 * step)
    for p, q in zip(ours, theirs, strict=True):
        torch.testing.assert_close(p, q)


def test_a_matrix_without_gradient_stays():
    matrix = torch.nn.Parameter(torch.ones(4, 4))
    MuonAdamW([matrix], 0.1, (0.9, 0.99), weight_decay=0.5, momentum=0.9, smallest=4).step()
    assert matrix.eq(1).all()


class Stop(Exception):
    pass


def test_a_stopped_run_ends_where_it_would_have(tmp_path):
    recipe = Recipe.parse(
        {
            "name": "orthogonal",
            "task": {"name": "sum", "length": 4},
            "model": {"kind": "positional", "width": 8, "hidden": 8},
            "training": {
                "steps": 8,
                "batch": 8,
                "log_every": 1,
                "save_seconds": 0.0,
                "optimizer": {"kind": "muon", "smallest": 8},
            },
            "evaluation": {"count": 10},
        }
    )
    assert isinstance(recipe.training.optimizer, Muon)

    def stop(**facts):
        if facts["step"] == 5:
            raise Stop

    (whole,) = train(recipe, [0], store=str(tmp_path / "whole"))
    with pytest.raises(Stop):
        train(recipe, [0], store=str(tmp_path / "stopped"), report=stop)
    (resumed,) = train(recipe, [0], store=str(tmp_path / "stopped"), resume=True)
    before, after = whole.load_checkpoint()[0], resumed.load_checkpoint()[0]
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert before.keys() == after.keys()
