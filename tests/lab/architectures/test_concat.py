"""Models: the published sizes, and the same numbers by both ways of computing them."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.encodings import ENCODINGS, Binary, Learned, NoPosition, OneHot, Rope, Sinusoidal
from ordinate.errors import OrdinateError
from ordinate.kinds import choose
from ordinate.lab.architectures import ABLATION, MODELS, Hybrid, Positional, Standard
from ordinate.lab.tasks import make_task
from ordinate.models import build_model


def parameters(settings, n=8, task="sum"):
    return sum(p.numel() for p in build_model(settings, make_task(task, length=n), seed=0).parameters())


@pytest.mark.parametrize(
    ("n", "positional", "standard"),
    [
        (2, 41_761, 75_137),
        (4, 62_761, 112_641),
        (8, 84_577, 150_273),
        (16, 109_993, 188_161),
        (32, 151_537, 226_561),
    ],
)
def test_parameter_counts_are_those_of_the_paper(n, positional, standard):
    assert parameters(Positional(), n) == positional
    assert parameters(Standard(), n) == standard


def test_the_six_models_of_the_ablation():
    counts = {name: parameters(settings) for name, settings in ABLATION.items()}
    assert counts["M0"] == 150_273
    assert counts["M5"] == 84_577
    assert counts["M1"] == counts["M5"] + 9 * 64  # positions at the input
    assert counts["M2"] == counts["M4"] == counts["M0"] - 9 * 64  # no positions at the input
    assert counts["M3"] > counts["M0"]  # queries and keys of width 64 + 9


def test_layers_follow_the_length_unless_given():
    assert len(build_model(Positional(), make_task("sum", length=9), seed=0).layers) == 4
    assert len(build_model(Positional(layers=2), make_task("sum", length=9), seed=0).layers) == 2


ALL = {
    **ABLATION,
    "published rope": Standard(encoding=(OneHot(), Rope())),
    "binary": Positional(encoding=(Binary(),)),
    "sinusoidal": Positional(encoding=(Sinusoidal(width=6),)),
    "learned": Positional(encoding=(Learned(),)),
    "learned standard": Standard(encoding=(Learned(),)),
    "one head": Positional(heads=1, width=10, hidden=7),
}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("task", ["sum", "path", "min-sum"])
def test_merged_and_layer_by_layer_agree_with_gradients(name, task):
    """The merged path against the plain one, in float64, for outputs and every gradient."""
    task = make_task(task, length=5)
    model = build_model(ALL[name], task, seed=3).double()
    x, c = torch.randn(6, len(task.coordinates(5)), task.features, dtype=torch.float64), task.coordinates(5)
    results = []
    for merge in (model.merge, False):
        model.merge = merge
        out = model(x, c)
        results.append((out, torch.autograd.grad(out.square().sum(), list(model.parameters()))))
    torch.testing.assert_close(results[0], results[1])


@pytest.mark.parametrize("kind", [Positional, Standard])
@pytest.mark.parametrize("task", ["path", "mixed"])
def test_they_agree_where_tokens_come_wider_than_the_model(kind, task):
    task = make_task(task, length=12) if task == "path" else make_task(task, text="words")
    model = build_model(kind(width=8, hidden=6, layers=2), task, seed=3).double()
    batch = task.sample(4, generator=torch.Generator().manual_seed(0))
    results = []
    for merge in (True, False):
        model.merge = merge
        out = model(batch.input.double(), batch.coordinates)
        results.append((out, torch.autograd.grad(out.square().sum(), list(model.parameters()))))
    torch.testing.assert_close(results[0], results[1])


def test_both_published_models_are_merged_and_rotated_ones_are_not():
    task = make_task("sum")
    assert build_model(Positional(), task, seed=0).merge
    assert build_model(Standard(), task, seed=0).merge
    assert not build_model(Standard(encoding=(Rope(),)), task, seed=0).merge
    assert not build_model(Hybrid(), task, seed=0).merge


@given(st.permutations(range(6)))
def test_without_positions_a_model_sees_a_set(order):
    task = make_task("sum", length=6)
    model, c = build_model(Standard(encoding=(NoPosition(),)), task, seed=0).double(), task.coordinates(6)
    x = torch.randn(2, 6, 1, dtype=torch.float64)
    torch.testing.assert_close(model(x[:, list(order)], c), model(x, c)[:, list(order)])


def test_with_positions_it_does_not():
    task = make_task("sum", length=6)
    x = torch.randn(2, 6, 1, dtype=torch.float64)
    for settings in (Positional(), Standard(), Standard(encoding=(Rope(),)), Hybrid()):
        model, c = build_model(settings, task, seed=0).double(), task.coordinates(6)
        assert not torch.allclose(model(x.flip(1), c), model(x, c).flip(1), rtol=1e-6)


def test_positional_weights_do_not_depend_on_the_input():
    task = make_task("sum", length=6)
    model, c = build_model(Positional(), task, seed=0), task.coordinates(6)
    from ordinate.attention import captured

    seen = []
    for scale in (1.0, 1000.0):
        with captured(model) as names:
            model(scale * torch.randn(2, 6, 1), c)
        seen.append({k: v for k, v in names.items() if k.endswith("weights")})
    for name, weights in seen[0].items():
        assert torch.equal(weights, seen[1][name])


@pytest.mark.parametrize("settings", [Positional(), Standard(), Positional(encoding=(Learned(),))])
def test_weights_are_kept_in_evaluation_and_made_anew_after_a_change(settings, monkeypatch):
    from ordinate.lab.architectures import merged

    calls, merge = [], merged.merge
    monkeypatch.setattr(merged, "merge", lambda *a: (calls.append(1), merge(*a))[1])
    task = make_task("sum", length=4, variable=True)
    model, c, x = build_model(settings, task, seed=0), task.coordinates(4), torch.randn(2, 4, 1)
    with torch.no_grad():
        first, again = model(x, c), model(x, c)
        assert torch.equal(first, again)
        assert len(calls) == 1
        for parameter in model.parameters():
            made = len(calls)
            parameter.mul_(1.1)
            model(x, c)
            assert len(calls) == made + 1
        assert not torch.equal(model(x, c), first)
        made = len(calls)
        model(x[:, :2], task.coordinates(2))
        assert len(calls) == made + 1
    model(x, c)
    model(x, c)
    assert len(calls) == made + 3  # in training, once a step


@pytest.mark.parametrize("length", [1, 3, 8])
def test_shorter_sequences_run_and_longer_ones_are_refused(length):
    task = make_task("sum", length=8, variable=True)
    for settings in (Positional(), Standard(), Hybrid()):
        model = build_model(settings, task, seed=0)
        assert model(torch.randn(2, length, 1), task.coordinates(length)).shape == (2, length, 1)
        with pytest.raises(OrdinateError, match="at most 8"):
            model(torch.randn(2, 9, 1), task.coordinates(9))


def test_first_weights_depend_on_the_seed_alone():
    task = make_task("sum")
    before = torch.get_rng_state()
    a, b, other = (build_model(Positional(), task, seed=s).state_dict() for s in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a[k], b[k]) for k in a)
    assert any(not torch.equal(a[k], other[k]) for k in a)


def test_the_published_initialisation():
    attention = build_model(Positional(), make_task("sum"), seed=0).layers[0].attention
    assert (attention.query_key.bias == 0).all()
    bound = (6 / (9 + 36)) ** 0.5  # Xavier over the stacked queries and keys of both heads
    assert attention.query_key.weight.abs().max() <= bound
    assert attention.query_key.weight.abs().max() > 0.95 * bound


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({"kind": "positonal"}, "did you mean 'positional'"),
        ({"kind": "standard", "widht": 3}, "unknown key 'model.widht': did you mean 'width'?"),
        ({"kind": "standard", "heads": 3}, "multiple of heads, got 64 and 3"),
        ({"kind": "positional", "encoding": "rope"}, "one encoding with position vectors"),
        ({"kind": "hybrid", "encoding": "none"}, "one encoding with position vectors"),
        ({"kind": "standard", "encoding": "one-hott"}, "did you mean 'one-hot'"),
    ],
)
def test_bad_settings_are_refused_in_one_line(value, line):
    with pytest.raises(OrdinateError) as error:
        choose(value, MODELS, "model")
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_settings_come_back_from_their_dump():
    for settings in ALL.values():
        assert choose(settings.model_dump(mode="json"), MODELS, "model") == settings


@pytest.mark.parametrize("name", sorted(ENCODINGS))
def test_the_standard_model_takes_every_encoding(name):
    task = make_task("sum", length=4)
    options = {"fields": ("number",)} if name == "upe" else {}
    model = build_model(Standard(encoding=(ENCODINGS[name](**options),)), task, seed=0)
    assert model(torch.randn(2, 4, 1), task.coordinates(4)).isfinite().all()
