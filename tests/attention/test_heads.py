"""Attention with split heads: fused, hooked and written out as loops, the same numbers and gradients."""

import math

import pytest
import torch

from ordinate.attention import FORMS, captured, patched
from ordinate.attention.classes import is_sparse
from ordinate.encodings import ENCODINGS
from ordinate.errors import OrdinateError
from ordinate.kinds import choose
from ordinate.lab.tasks import make_task
from ordinate.models import ResidualEncoder, build_model
from ordinate.relations import ABSENT

TASK = make_task("addition", digits=2, width=3)
WINDOW = {"kind": "product", "of": ["aligned", {"kind": "window", "back": 2}]}
UNIFORM = {"kind": "union", "of": [{"kind": "uniform", "fields": ["first"]}, {"kind": "relative"}]}

ALL = {
    "none": "none",
    "shaw": {"kind": "shaw", "std": 0.5},
    "relation": {"kind": "pairwise", "relation": WINDOW},
    "shared": {"kind": "pairwise", "relation": WINDOW, "per_head": False},
    "two relations": {"kind": "pairwise", "relation": [WINDOW, UNIFORM]},
    "one of them plain": {"kind": "pairwise", "relation": [WINDOW, "everywhere"]},
    "only plain": {"kind": "pairwise", "relation": {"kind": "causal"}},
    "alibi": "alibi",
    "rope": "rope",
    "t5": "t5",
    "relation and alibi": [{"kind": "pairwise", "relation": WINDOW}, "alibi"],
    "relation and rope": [{"kind": "pairwise", "relation": UNIFORM}, "rope"],
}
CLASSED = {"shaw", "relation", "shared", "two relations", "relation and alibi", "relation and rope"}


def encodings(name):
    chosen = ALL[name] if isinstance(ALL[name], list) else [ALL[name]]
    return tuple(choose(value, ENCODINGS, "encoding") for value in chosen)


def build(form, name, task=TASK, **options):
    settings = ResidualEncoder(
        **{"layers": 2, "heads": 4, "width": 16, "hidden": 16, **options},
        attention=FORMS[form](),
        encoding=encodings(name),
    )
    model = build_model(settings, task, seed=1).double()
    with torch.no_grad():  # biases that start at zero would hide
        for parameter in model.encoding.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(2)) * 0.3)
    return model


def slow(attention, x, coordinates, encoding):
    """One score at a time."""
    query, key, values = attention.split(x)
    if key is not None:
        query, key = encoding.rotate(query, key, coordinates)
    pairs, bias = encoding.pairs(coordinates, attention.layer), encoding.bias(coordinates, attention.layer)
    group_of = [(group, h) for group in pairs for h in range(group.heads)] or [(None, 0)] * attention.heads
    tokens, dim = query.shape[2], query.shape[3]
    mixed = []
    for head, (group, inner) in enumerate(group_of):
        rows = []
        for i in range(tokens):
            scores, kept = [], []
            for j in range(tokens):
                score = 0.0
                if key is not None:
                    score = score + (query[:, head, i] * key[:, head, j]).sum(-1)
                if group is not None:
                    number = int(group.pattern.dense[i, j])
                    if number == ABSENT:
                        continue
                    if number < group.pattern.classes and group.vectors is not None:
                        vector = group.vectors[inner if len(group.vectors) > 1 else 0, number]
                        score = score + query[:, head, i] @ vector
                    elif key is None:
                        score = torch.zeros(len(x), dtype=x.dtype)
                score = score / math.sqrt(dim)
                if bias is not None:
                    score = score + bias[head if len(bias) > 1 else 0, i, j]
                scores.append(score)
                kept.append(j)
            weights = torch.softmax(torch.stack(scores, -1), -1)
            rows.append((weights[..., None] * values[:, head, kept]).sum(1))
        mixed.append(torch.stack(rows, 1))
    return attention.to_output(torch.cat(mixed, -1))


def with_gradients(compute, model, x):
    output = compute()
    inputs = [x, *model.parameters()]
    return output, torch.autograd.grad(output.sin().sum(), inputs, allow_unused=True, materialize_grads=True)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("form", FORMS)
def test_fused_hooked_and_slow_agree_with_gradients(form, name):
    model, c = build(form, name), TASK.coordinates(2)
    attention = model.layers[1].attention
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, len(c), 16, dtype=torch.float64, generator=generator, requires_grad=True)
    if form != "content" and name not in CLASSED:
        with pytest.raises(
            OrdinateError, match=r"this encoding has none: write encoding = \{kind = "
        ) as error:
            attention(x, c, model.encoding)
        assert "\n" not in str(error.value)
        return
    fused = with_gradients(lambda: attention(x, c, model.encoding), model, x)
    with captured(attention) as seen:
        hooked = with_gradients(lambda: attention(x, c, model.encoding), model, x)
    written = with_gradients(lambda: slow(attention, x, c, model.encoding), model, x)
    torch.testing.assert_close(fused, hooked)
    torch.testing.assert_close(fused, written)
    assert seen["weights"].shape == (2, 4, len(c), len(c))
    torch.testing.assert_close(seen["weights"].sum(-1), torch.ones(2, 4, len(c), dtype=torch.float64))
    assert ("key" in seen) == (form == "content")


@pytest.mark.parametrize("name", ["relation", "two relations", "relation and alibi"])
@pytest.mark.parametrize("form", FORMS)
def test_whole_models_agree_where_attention_is_sparse(form, name):
    task = make_task("addition", digits=60)
    model = build(form, name, task)
    batch = task.sample(2, generator=torch.Generator().manual_seed(0))
    pattern = model.encoding.pairs(batch.coordinates, 0)[0].pattern if name != "relation and alibi" else None
    assert pattern is None or is_sparse(pattern)
    results = []
    for hook in ({}, {"layers.0.attention.scores": lambda x: x, "layers.1.attention.values": lambda x: x}):
        with patched(model, hook):
            output = model(batch.input, batch.coordinates)
        results.append((output, torch.autograd.grad(output.sin().sum(), list(model.parameters()))))
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("form", FORMS)
def test_absent_pairs_have_no_weight_and_replaced_weights_are_used(form):
    model, batch = build(form, "relation"), TASK.sample(3, generator=torch.Generator().manual_seed(0))
    with captured(model) as seen:
        model(batch.input, batch.coordinates)
    absent = model.encoding.pairs(batch.coordinates, 0)[0].pattern.dense == ABSENT
    assert (seen["layers.0.attention.weights"][..., absent] == 0).all()
    attention, x = model.layers[0].attention, torch.randn(3, len(batch.coordinates), 16, dtype=torch.float64)
    with patched(attention, {"weights": lambda w: torch.eye(w.shape[-1], dtype=w.dtype).expand_as(w)}):
        found = attention(x, batch.coordinates, model.encoding)
    values = attention.split(x).value.transpose(1, 2).flatten(2)
    torch.testing.assert_close(found, attention.to_output(values))


def test_weights_of_classes_alone_depend_on_positions_only():
    model, c = build("class", "relation"), TASK.coordinates(2)
    seen = []
    for seed in (0, 1):
        x = TASK.sample(2, generator=torch.Generator().manual_seed(seed)).input
        with captured(model) as names:
            model(x, c)
        seen.append(names["layers.1.attention.weights"])
    assert torch.equal(seen[0], seen[1])
    assert torch.equal(seen[0][0], seen[0][1])
    assert len(seen[0].unique(dim=1)) > 1


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match="width must be a multiple of heads, got width 10 and 3 heads"):
        FORMS["content"]().build(10, 3, 0)
