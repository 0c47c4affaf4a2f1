"""Decoders: what a token sees, what weights depend on, where they start, and that they train."""

import pytest
import torch

from ordinate.attention import captured
from ordinate.encodings import Learned, OneHot
from ordinate.errors import OrdinateError
from ordinate.kinds import choose
from ordinate.lab.architectures import MIXED_TYPES, MODELS, Decoder, PositionalDecoder
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Recipe, train
from ordinate.models import build_model

TASK = make_task("k-hop", length=12, alphabet=3)
SMALL = {"layers": 2, "heads": 2, "width": 8, "hidden": 16}
KINDS = {"decoder": Decoder, "positional-decoder": PositionalDecoder}

both = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def batch_of(task, count=3, seed=0):
    return task.sample(count, generator=torch.Generator().manual_seed(seed))


def weights_of(model, batch):
    with captured(model) as names, torch.no_grad():
        model(batch.input, batch.coordinates)
        return [value for name, value in names.items() if name.endswith("attention.weights")]


@both
@pytest.mark.parametrize("causal", [True, False])
def test_a_token_sees_what_is_before_it(kind, causal):
    model = build_model(kind(**SMALL, causal=causal), TASK, seed=0).double()
    batch = batch_of(TASK)
    changed = batch.input.clone()
    changed[:, 5] = TASK.redraw(batch, 5, torch.Generator())[:, 5]
    one, other = (model(x, batch.coordinates) for x in (batch.input, changed))
    assert one.shape == (3, 13, TASK.outputs)
    moved = (one != other).any(-1).any(0).tolist()
    assert moved == [not causal] * 5 + [True] * 8


def test_positional_weights_do_not_depend_on_the_tokens():
    model = build_model(PositionalDecoder(**SMALL), TASK, seed=0)
    one, other = (weights_of(model, batch_of(TASK, seed=seed)) for seed in (0, 1))
    assert [w.shape for w in one] == [(2, 13, 13)] * 2
    for a, b in zip(one, other, strict=True):
        assert torch.equal(a, b)
        assert not a.triu(1).any()


def test_standard_weights_do():
    model = build_model(Decoder(**SMALL), TASK, seed=0)
    one, other = (weights_of(model, batch_of(TASK, seed=seed)) for seed in (0, 1))
    assert [w.shape for w in one] == [(3, 2, 13, 13)] * 2
    assert not torch.equal(one[0], other[0])
    assert not one[0].triu(1).any()


@both
def test_both_ways_of_computing_agree(kind):
    """With hooks and without."""
    model = build_model(kind(**SMALL), TASK, seed=0).double()
    batch = batch_of(TASK)
    fast = model(batch.input, batch.coordinates)
    with captured(model):
        open_ = model(batch.input, batch.coordinates)
    torch.testing.assert_close(fast, open_)


@both
def test_every_parameter_gets_a_gradient(kind):
    model = build_model(kind(**SMALL), TASK, seed=0)
    batch = batch_of(TASK, 20)
    model(batch.input, batch.coordinates).square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


def test_layers_share_one_table_of_positions_and_tokens_carry_none():
    model = build_model(PositionalDecoder(**SMALL, encoding=(Learned(width=6),)), TASK, seed=0)
    tables = [p for name, p in model.named_parameters() if "encoding" in name]
    assert [tuple(p.shape) for p in tables] == [(13, 6)]
    assert model.encode.in_features == TASK.features


def test_tokens_of_the_twin_are_the_sum_of_two_trained_vectors():
    model = build_model(Decoder(**SMALL), TASK, seed=0)
    weight = model.encode.weight
    assert weight.shape == (8, TASK.features + 13)
    embedded = model.encode(torch.cat([torch.eye(TASK.features)[[3]], torch.eye(13)[[7]]], dim=-1))
    torch.testing.assert_close(embedded[0], weight[:, 3] + weight[:, TASK.features + 7])


@both
def test_the_published_sizes_are_the_defaults_and_both_are_as_large(kind):
    model = build_model(kind(), make_task("k-hop"), seed=0)
    assert len(model.layers) == 3
    assert sum(p.numel() for p in model.parameters()) == 139_996


@both
def test_first_weights_are_those_of_gpt(kind):
    model = build_model(kind(layers=4), make_task("k-hop"), seed=0)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            assert not parameter.any(), name
        elif "norm" not in name:
            writes = name.endswith(("to_output.weight", "down.weight"))
            expected = 0.02 / 8**0.5 if writes else 0.02
            assert float(parameter.detach().std()) == pytest.approx(expected, rel=0.1), name


def test_settings_come_back_from_their_dump():
    for settings in (Decoder(**SMALL, causal=False), PositionalDecoder(**SMALL, encoding=(OneHot(),))):
        assert choose(settings.model_dump(mode="json"), MODELS, "model") == settings


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({"kind": "positional-decoder", "encoding": "rope"}, "must have one encoding with position vectors"),
        ({"kind": "decoder", "width": 50}, "multiple of heads, got 50 and 3"),
        ({"kind": "decodr"}, "did you mean 'decoder'?"),
    ],
)
def test_bad_settings_are_refused_in_one_line(value, line):
    with pytest.raises(OrdinateError) as error:
        choose(value, MODELS, "model")
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_longer_sequences_than_positions_are_refused():
    batch = TASK.sample(1, generator=torch.Generator(), length=20)
    for kind in KINDS.values():
        with pytest.raises(
            OrdinateError, match="21 tokens, but this model's position vectors were built for"
        ):
            build_model(kind(**SMALL), TASK, seed=0)(batch.input, batch.coordinates)


def trained(tmp_path, task, model, axes, seeds=(0,), **training):
    recipe = Recipe.parse(
        {
            "name": "small",
            "task": task,
            "model": model,
            "training": {
                **{"steps": 40, "batch": 32, "device": "cpu", "log_every": 1},
                **{"optimizer": {"learning_rate": 0.01}, **training},
            },
            "evaluation": {"count": 20, "axes": axes},
        }
    )
    runs = train(recipe, list(seeds), store=str(tmp_path))
    for run in runs:
        losses = [row["loss"] for row in run.metrics() if "loss" in row]
        assert sum(losses[-5:]) < 0.9 * sum(losses[:5])
    return runs


@pytest.mark.parametrize("kind", KINDS)
def test_decoders_learn_and_are_measured_on_unseen_letters(kind, tmp_path):
    task = {"name": "k-hop", "length": 12, "alphabet": 3}
    (run,) = trained(tmp_path, task, {"kind": kind, **SMALL}, {"hops": [0, 1], "unseen": [0, 3]})
    points = run.read_result("evaluation")
    assert [(p["axis"], p["value"]) for p in points[1:]] == [
        ("hops", 0), ("hops", 1), ("unseen", 0), ("unseen", 3)
    ]  # fmt: skip
    assert [p["in_distribution"] for p in points] == [True, True, True, True, False]


@pytest.mark.parametrize("kind", MIXED_TYPES)
def test_both_models_learn_from_text_and_prices_together(kind, tmp_path):
    """Two seeds in one pass."""
    task = {"name": "mixed", "categories": 3, "asked": 2, "confusing": 1, "text": "words", "queries": "sum"}
    model = MIXED_TYPES[kind].model_dump(mode="json") | {"width": 16, "hidden": 16, "layers": 2}
    axes = {"scale": [1, 2], "unseen": [1], "beyond": [1, 3]}
    runs = trained(tmp_path, task, model, axes, seeds=(0, 1), batch=64)
    for run in runs:
        inside = [p["in_distribution"] for p in run.read_result("evaluation")]
        assert inside == [True, True, False, False, False, False]
