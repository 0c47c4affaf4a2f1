"""Parts set to zero, against models that were changed by hand."""

import copy

import pytest
import torch

from ordinate.attention import hooks
from ordinate.encodings import Pairwise
from ordinate.lab.architectures import Memory
from ordinate.lab.evaluation.sweep import measure, test_set
from ordinate.lab.explain import ablate, class_vectors
from ordinate.lab.explain.parts import attention_parts, class_parts, run_without
from ordinate.lab.tasks import make_task
from ordinate.models import ResidualEncoder, build_model
from ordinate.relations import ABSENT, aligned, leap, window


def part(model, name):
    (found,) = [part for part in (*attention_parts(model), *class_parts(model)) if part.name == name]
    return found


def test_there_is_a_row_for_every_layer_head_and_class(encoder, addition):
    told = []
    found = ablate(encoder, addition, count=20, report=lambda done, total: told.append((done, total)))
    kinds = [row.kind for row in found.rows]
    (classes,) = class_vectors(encoder)
    assert (kinds.count("layer"), kinds.count("head"), kinds.count("class")) == (2, 4, len(classes.names))
    assert told[-1] == (len(kinds), len(kinds))
    tests = test_set(addition, "length", 3.0, count=20, seed=0)
    assert found.accuracy == measure(encoder, addition, tests)[0].accuracy
    for row in found.rows:
        assert row.change == row.accuracy - found.accuracy
    assert found.to_dict()["whole"]["loss"] == found.loss
    assert all(hook.patch is None for hook in hooks(encoder).values())


def test_a_layer_or_head_without_values_is_one_with_zero_weights(encoder, addition):
    batch = addition.parse("123+98")
    for name, cut in (("layer 2", slice(0, 16)), ("layer 2, head 2", slice(8, 16))):
        other = copy.deepcopy(encoder)
        attention = other.layers[1].attention
        with torch.no_grad():
            attention.to_output.weight[:, cut] = 0
            if name == "layer 2":
                attention.to_output.bias.zero_()
            expected = other(batch.input, batch.coordinates)
            found = run_without(encoder, part(encoder, name), batch.input, batch.coordinates)
        torch.testing.assert_close(found, expected)
        assert not torch.allclose(found, encoder(batch.input, batch.coordinates))


def test_a_class_without_weights(encoder, addition):
    """By hand, in a model of one head and layer: out_i = W_O sum_j A_ij v_j without the pairs of the class."""
    settings = ResidualEncoder(
        layers=1, heads=1, width=8, hidden=8, encoding=(Pairwise(relation=(aligned() * window(back=1),)),)
    )
    model, batch = build_model(settings, addition, seed=0).eval(), addition.parse("123+98")
    seen = {}
    block = model.layers[0]
    block.attention.weights.patch = lambda w: seen.setdefault("weights", w)
    block.attention.values.patch = lambda v: seen.setdefault("values", v)
    with torch.no_grad():
        model(batch.input, batch.coordinates)
    block.attention.weights.patch = block.attention.values.patch = None
    bound = model.encoding.bound[0]
    classes = bound.pattern(batch.coordinates).dense
    for number, name in enumerate(bound.names):
        weights = seen["weights"] * (classes != number)
        mixed = (weights @ seen["values"])[:, 0]
        outputs = []
        block.attention.output.patch = lambda x, outputs=outputs: outputs.append(x) or x
        with torch.no_grad():
            run_without(model, part(model, name), batch.input, batch.coordinates)
            torch.testing.assert_close(outputs[0], block.attention.to_output(mixed))
        block.attention.output.patch = None
    assert (classes == ABSENT).any()


def test_classes_of_leaps_are_cut_in_every_loop(addition):
    settings = ResidualEncoder(
        layers=1, heads=2, width=8, hidden=8, loops=2, encoding=(Pairwise(relation=(leap(),)),)
    )
    model, batch = build_model(settings, addition, seed=0).eval(), addition.parse("123+98")
    bound = model.encoding.bound[0]
    name = next(name for name in bound.names if name == "first to first, a leap back")
    hook, met = "layers.0.attention.weights", []
    patches = part(model, name).patches(batch.coordinates)
    full = torch.ones(1, 2, 9, 9)
    for back in (1, 2, 1):  # the third call is the first loop of the next forward pass
        left = patches[hook](full)
        met.append((left[0, 0] == 0).nonzero().tolist())
        assert [key - query for query, key in met[-1]] == [back] * (
            4 - back
        )  # written from the top place down


def test_classes_of_groups_of_heads_are_cut_in_their_heads(addition):
    settings = ResidualEncoder(
        layers=1, heads=2, width=8, hidden=8,
        encoding=(Pairwise(relation=(aligned() * window(back=0), aligned() * window(back=1))),),
    )  # fmt: skip
    model = build_model(settings, addition, seed=0).eval()
    one, two = class_vectors(model)
    assert (one.heads, two.heads) == ((0, 1), (1, 2))
    chosen = part(model, f"heads 2 to 2: {two.names[0]}")
    left = chosen.patches(addition.coordinates(3))["layers.0.attention.weights"](torch.ones(1, 2, 9, 9))
    assert (left[:, 0] == 1).all()
    assert (left[:, 1] == 0).any()


@pytest.mark.parametrize("length", [None, 8])
def test_memory_models_lose_heads_too(length):
    task = make_task("fixed-memory", length=6, lags=(1, 2))
    found = ablate(build_model(Memory(heads=2), task, seed=0), task, count=10, length=length)
    assert [row.part for row in found.rows] == ["layer 1", "layer 1, head 1", "layer 1, head 2"]
    assert found.value == (length or 6)
    assert len({row.loss for row in found.rows}) == 3
