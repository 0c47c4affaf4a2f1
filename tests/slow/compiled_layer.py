"""`od.Attention` under `torch.compile` without a break in the graph, and `torch.export`; see test_compiled_layer.py."""

import io
from copy import deepcopy

import pytest
import torch
from torch import nn

import ordinate as od
from ordinate.attention.operator import How, attention_operator
from ordinate.errors import OrdinateError
from tests.attention.test_layer import DIM, HEADS, KINDS, NEAR, TOKENS, attention, tokens

kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


class Model(nn.Module):
    """A user's layer around it."""

    def __init__(self, kind, **options):
        super().__init__()
        self.attention, self.norm = attention(kind, **options), nn.LayerNorm(DIM)

    def forward(self, x, **given):
        return x + self.attention(self.norm(x), **given)


def compiled(model):
    torch._dynamo.reset()
    return torch.compile(model, fullgraph=True, backend="aot_eager")


def gradients(out, model, *others):
    learnt = [*model.parameters(), *others]
    found = torch.autograd.grad(out.square().sum(), learnt, allow_unused=True)
    return [torch.zeros_like(t) if g is None else g for g, t in zip(found, learnt, strict=True)]


@kinds
def test_one_graph_with_the_same_numbers_and_gradients(kind):
    model, x = Model(kind), tokens(2, TOKENS, DIM).requires_grad_()
    fast = compiled(model)
    padding = torch.zeros(2, TOKENS, dtype=torch.bool)
    padding[0, 4:] = True
    for given in ({}, {"key_padding_mask": padding}):
        torch.testing.assert_close(fast(x, **given), model(x, **given))
        torch.testing.assert_close(
            gradients(fast(x, **given), model, x), gradients(model(x, **given), model, x)
        )


def test_masks_that_learn_weights_and_a_memory_are_in_the_graph_too():
    relation = od.aligned("target", "source") * od.relative(clip=1) | od.itself()
    made = attention({"relation": relation, "trained": od.layout(source=5, target=3)})
    x, source = tokens(2, 3, DIM), tokens(2, 5, DIM, seed=1).requires_grad_()
    mask = tokens(3, 5, seed=2).requires_grad_()
    given = {"layout": od.layout(target=3), "memory_layout": od.layout(source=5), "attn_mask": mask}
    fast = compiled(made)
    found, weights = fast(x, memory=source, need_weights=True, **given)
    wanted, wanted_weights = made(x, memory=source, need_weights=True, **given)
    torch.testing.assert_close((found, weights), (wanted, wanted_weights))
    for one in (0, 1):  # of the output, and of the weights
        torch.testing.assert_close(
            gradients(fast(x, memory=source, need_weights=True, **given)[one], made, source, mask),
            gradients(made(x, memory=source, need_weights=True, **given)[one], made, source, mask),
        )


def test_the_backward_pass_drops_the_weights_that_the_forward_pass_dropped():
    made = attention({"relation": NEAR}, dropout=0.5).double()
    fast, x = compiled(made), tokens(1, TOKENS, DIM).double()

    def loss(x):
        torch.manual_seed(3)
        return fast(x).sum()

    moved = torch.zeros_like(x)
    moved[0, 2, 1] = 1e-5
    slope = (loss(x + moved) - loss(x - moved)) / 2e-5
    x.requires_grad_()
    (gradient,) = torch.autograd.grad(loss(x), x)
    torch.testing.assert_close(gradient[0, 2, 1], slope, atol=1e-6, rtol=1e-5)
    assert not torch.equal(fast(x), fast(x))


def test_autocast_is_followed():
    made, x = attention(KINDS["shaw"]), tokens(2, TOKENS, DIM)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(compiled(made)(x), made(x))


def test_a_copy_has_weights_of_its_own():
    made, x = attention(KINDS["shaw"]), tokens(1, TOKENS, DIM)
    copy = deepcopy(made)
    nn.init.zeros_(copy.heads.project.weight)
    torch.testing.assert_close(compiled(copy)(x), copy(x))
    assert copy.handle != made.handle


def test_the_operator_keeps_its_promises():
    made, x = attention(KINDS["shaw"]), tokens(2, TOKENS, DIM).requires_grad_()
    how = How(made.handle, "", "", "10000", "000", "")
    tensors = [torch.zeros((), dtype=torch.long), x, *made.parameters()]
    torch.library.opcheck(attention_operator, (tensors, " ".join(how)))


def test_a_graph_whose_layout_is_gone_says_so():
    made, x = attention(KINDS["shaw"]), tokens(1, TOKENS, DIM)
    how = How(made.handle, "Coordinates-x", "", "10000", "000", "")
    tensors = [torch.zeros((), dtype=torch.long), x, *made.parameters()]
    with pytest.raises(OrdinateError, match="which is gone"):
        attention_operator(tensors, " ".join(how))


@kinds
def test_an_exported_program_needs_nothing_of_ours(kind):
    model, x = Model(kind).eval(), tokens(2, TOKENS, DIM)
    program = torch.export.export(
        model, (x,)
    )  # nothing was asked before: patterns are made while it looks on
    written = io.BytesIO()
    torch.export.save(program, written)
    written.seek(0)
    read = torch.export.load(written)
    assert not [node for node in read.graph.nodes if "ordinate" in str(node.target)]
    torch.testing.assert_close(read.module()(x), model(x), atol=1e-5, rtol=1e-5)


def test_heads_are_counted_in_the_shape_of_the_weights():
    made, x = attention(KINDS["none"]), tokens(2, TOKENS, DIM)
    _, weights = compiled(made)(x, need_weights=True)
    assert weights.shape == (2, HEADS, TOKENS, TOKENS)
