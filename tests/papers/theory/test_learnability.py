"""The bound of Theorem 6.1: norms against plain loops, and what it depends on."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.lab.architectures import Positional, Standard
from ordinate.lab.tasks import make_task
from ordinate.models import build_model
from ordinate.papers.theory.learnability import Norms, column_norm, measure_norms, spectral_norm, theorem_6_1

TASK = make_task("sum", length=4)
norms_of = st.builds(
    Norms,
    layers=st.integers(1, 6),
    heads=st.integers(1, 8),
    width=st.integers(1, 64),
    tokens=st.integers(2, 64),
    spectral=st.floats(0.1, 20.0),
    columns=st.floats(0.1, 100.0),
    scores=st.floats(0.1, 50.0),
)


@pytest.mark.parametrize("kind", [Positional, Standard])
def test_norms_are_those_of_the_matrices(kind):
    model = build_model(kind(layers=3, heads=2, width=8, hidden=6), TASK, seed=1)
    norms = measure_norms(model, tokens=5)
    linear = [
        parameter.detach()
        for name, parameter in model.named_parameters()
        if name.endswith(("to_values.weight", "to_output.weight", "up.weight", "down.weight"))
    ]
    assert len(linear) == 12
    assert norms.spectral == pytest.approx(
        max(float(torch.linalg.svdvals(m).max()) for m in linear), rel=1e-5
    )
    slow = max(sum(float(m[:, j].norm()) for j in range(m.shape[1])) for m in linear)
    assert norms.columns == pytest.approx(slow, rel=1e-5)


@pytest.mark.parametrize("kind", [Positional, Standard])
def test_the_norm_of_scores_bounds_what_queries_and_keys_make_of_a_vector(kind):
    model = build_model(kind(layers=1, heads=2, width=8), TASK, seed=1)
    attention = model.blocks[0].attention
    source = attention.query_key.in_features
    x, y = torch.randn(2, 200, source, generator=torch.Generator().manual_seed(0))
    x, y = x / x.norm(dim=1, keepdim=True), y / y.norm(dim=1, keepdim=True)
    weight = attention.query_key.weight.detach().view(2, 2, -1, source)
    scores = torch.einsum("hds,ns,hdt,nt->hn", weight[0], x, weight[1], y) / math.sqrt(weight.shape[2])
    bound = measure_norms(model, tokens=5).scores
    assert float(scores.abs().max()) <= bound
    assert float(scores.abs().max()) > bound / 10


@given(norms_of, st.integers(2, 10**9), st.floats(0.5, 2.0))
def test_the_bound_is_the_formula(norms, samples, exponent):
    for positional in (True, False):
        base = norms.heads * norms.spectral * (1 if positional else norms.scores)
        size = math.log(norms.heads * norms.width * samples * norms.tokens)
        first = base ** (exponent * norms.layers) * norms.columns * math.sqrt(size / samples)
        value = first + math.sqrt(math.log(1 / 0.05) / samples)
        bound = theorem_6_1(norms, samples, positional=positional, exponent=exponent)
        assert bound.log_value == pytest.approx(math.log(value), abs=1e-6)


@given(norms_of, st.integers(2, 10**8))
def test_more_samples_never_loosen_it(norms, samples):
    few, many = (theorem_6_1(norms, m, positional=True).log_value for m in (samples, 10 * samples))
    assert many <= few + 1e-12 or norms.heads * norms.width * norms.tokens * samples < 10


def test_depth_beyond_any_float_is_still_a_number():
    deep = Norms(200, 8, 64, 9, 50.0, 100.0, 50.0)
    assert math.isfinite(theorem_6_1(deep, 1000, positional=False).log_value)


def test_column_and_spectral_norms_by_hand():
    matrix = torch.diag(torch.tensor([3.0, 1.0]))
    assert spectral_norm(matrix) == pytest.approx(3)
    assert column_norm(matrix) == pytest.approx(4)
