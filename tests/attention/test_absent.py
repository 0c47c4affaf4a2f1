"""What a relation calls absent has no influence; a query without a key is refused; nothing to attend to gives nothing.

Numbers that are not finite, in the query, key or value of one token, make every row that attends to it not finite, and
change no other row, nor any gradient of these.
"""

import pytest
import torch

from ordinate.attention import (
    FORMS,
    attend,
    blocked_attention,
    captured,
    dense,
    dense_attention,
    sparse_attention,
    tables,
)
from ordinate.attention.classes import is_sparse
from ordinate.coordinates import Coordinates
from ordinate.encodings import BuildSpec, Combined, OneHot, Pairwise
from ordinate.errors import OrdinateError
from ordinate.hub import put_attention
from ordinate.lab.architectures import ContentAttention, HybridAttention, PositionalAttention
from ordinate.relations import relative
from ordinate.relations import window as near
from tests.attention.pairs import FORMS as OPERANDS
from tests.attention.pairs import arguments, pattern_of, window
from tests.hub.hosts import draw, first_attention, gpt2

BAD = 3
"""The token that is not finite; a window of three keys lets it reach itself and the two after it."""
HIT = [3, 4, 5]


def assert_rows(function, given, bad, hit=HIT):
    """`function` of tensors [..., token, dim]: only rows that are hit differ from those of finite numbers.

    `bad` names the tensors to spoil. Gradients of the other rows are those of a token that is nowhere attended to.
    """
    leaves = {name: x.detach().requires_grad_() for name, x in given.items() if x is not None}
    spoilt = {name: x.detach().clone() for name, x in leaves.items()}
    for name, number in bad.items():
        spoilt[name][..., BAD, :1] = number
    for x in spoilt.values():
        x.requires_grad_()
    out, found = (function(**{**given, **tensors}) for tensors in (leaves, spoilt))
    rows = torch.ones(out.shape[-2], dtype=torch.bool)
    rows[hit] = False
    assert found[..., rows, :].isfinite().all()
    torch.testing.assert_close(found[..., rows, :], out[..., rows, :])
    assert (~found[..., hit, :].isfinite()).any(-1).all()
    slope = torch.linspace(-1, 1, out[..., rows, :].numel(), dtype=out.dtype).view_as(out[..., rows, :])
    expected, grads = (
        torch.autograd.grad((y[..., rows, :] * slope).sum(), list(x.values()), materialize_grads=True)
        for y, x in ((out, leaves), (found, spoilt))
    )
    torch.testing.assert_close(grads, expected)


def spoilt(form):
    """Which operands a form has, one by one."""
    numbers = [float("nan"), float("inf"), -float("inf")]
    names = ["value"]
    if form != "class only":
        names.append("query")
    if form.startswith("content"):
        names.append("key")
    return [{name: number} for name in names for number in numbers]


@pytest.mark.parametrize("path", ["dense", "chunked", "blocked", "sparse"])
@pytest.mark.parametrize("form", OPERANDS)
def test_on_every_path(form, path, monkeypatch):
    function = {"blocked": blocked_attention, "sparse": sparse_attention}.get(path, dense_attention)
    if path in ("chunked", "blocked"):
        monkeypatch.setattr(dense, "CHUNK", 8)
        monkeypatch.setattr(tables, "QUERIES", 3)
    pattern = window(8, 3)
    given = arguments(pattern, form)
    for bad in spoilt(form):
        hit = [BAD] if "query" in bad else HIT

        def run(**tensors):
            operands = [tensors.pop(name) for name in ("query", "key", "value")]
            return function(*operands, pattern, scale=0.7, **tensors)

        assert_rows(run, given, bad, hit)


def test_where_all_pairs_are_attended_all_rows_are_hit():
    pattern = pattern_of(torch.zeros(4, 4, dtype=torch.long), count=1)
    value = torch.ones(1, 1, 4, 2)
    value[0, 0, 1] = float("nan")
    assert attend(None, None, value, pattern, bias=torch.zeros(1, 1)).isnan().all()


def test_at_any_length_the_same_rows_are_hit():
    """`attend` chooses by length; a value that is not finite does not see the difference."""
    for tokens in (20, 400):
        pattern, value = window(tokens, 3), torch.randn(1, 2, tokens, 4)
        assert is_sparse(pattern) == (tokens == 400)
        value[..., BAD, 0] = float("inf")
        out = attend(None, None, value, pattern, bias=torch.zeros(1, 3))
        assert (~out.isfinite()).any(-1).nonzero()[:, -1].unique().tolist() == HIT


HERE = Coordinates.of(text=range(8))
SPEC = BuildSpec((HERE,), layers=1, heads=4, head_dim=2)
CLASSES = relative() * near(back=2)


@pytest.mark.parametrize("listened", [False, True], ids=["", "hooks"])
@pytest.mark.parametrize("form", FORMS)
def test_in_a_layer(form, listened):
    torch.manual_seed(0)
    layer, encoding = (
        FORMS[form]().build(8, 4, 0).double(),
        Pairwise(relation=(CLASSES,)).build(SPEC).double(),
    )

    def run(x):
        if not listened:
            return layer(x, HERE, encoding)
        with captured(layer):
            return layer(x, HERE, encoding)

    assert_rows(run, {"x": torch.randn(2, 8, 8, dtype=torch.float64)}, {"x": float("nan")})


@pytest.mark.parametrize("kind", ["content", "positional", "hybrid"])
def test_in_attention_over_concatenated_positions(kind):
    positions = OneHot().build(SPEC)
    layer = {
        "content": lambda: ContentAttention(8, 4),
        "positional": lambda: PositionalAttention(8, 4, positions),
        "hybrid": lambda: HybridAttention(8, 4, positions),
    }[kind]().double()
    encoding = Combined(positions, Pairwise(relation=(near(back=2),)).build(SPEC)).double()
    given = {"x": torch.randn(2, 8, 8, dtype=torch.float64)}
    assert_rows(lambda x: layer(x, HERE, encoding), given, {"x": float("nan")})


@pytest.mark.parametrize("mask", [None, "key", "pair", "added"])
def test_in_a_host(mask):
    layer = first_attention(draw(put_attention(gpt2(), Pairwise(relation=(CLASSES,)))))
    there = torch.ones(2, 1, 1, 8, dtype=torch.bool)
    there[1, ..., 6:] = False
    if mask in ("pair", "added"):
        there = there.expand(-1, 1, 8, -1)
    if mask == "added":
        there = torch.zeros(there.shape, dtype=torch.float64).masked_fill(
            ~there, torch.finfo(torch.float64).min
        )
    given = {"x": torch.randn(2, 8, 16, dtype=torch.float64)}
    assert_rows(
        lambda x: layer(x, attention_mask=None if mask is None else there)[0], given, {"x": float("nan")}
    )


@pytest.mark.parametrize("mask", ["key", "pair", "added"])
def test_padding_in_a_host(mask):
    """A padded token says nothing, whatever it holds."""
    layer = first_attention(draw(put_attention(gpt2(), Pairwise(relation=(relative(clip=2),)))))
    there = torch.ones(2, 1, 1, 8, dtype=torch.bool)
    there[..., BAD] = False
    if mask in ("pair", "added"):
        there = there.expand(-1, 1, 8, -1)
    if mask == "added":
        there = torch.zeros(there.shape, dtype=torch.float64).masked_fill(~there, -float("inf"))
    given = {"x": torch.randn(2, 8, 16, dtype=torch.float64)}
    assert_rows(lambda x: layer(x, attention_mask=there)[0], given, {"x": float("nan")}, hit=[BAD])


@pytest.mark.parametrize("function", [attend, dense_attention])
def test_a_bias_that_leaves_a_query_no_key_is_refused(function):
    x, bias = torch.randn(1, 1, 4, 2), torch.zeros(1, 4, 4)
    bias[0, 2, 1:3] = -float("inf")  # all that a window of two keys has
    with pytest.raises(OrdinateError, match="query 2 has no key to attend to"):
        function(x, x, x, window(4, 2), scores_bias=bias)


@pytest.mark.parametrize("function", [attend, blocked_attention, dense_attention, sparse_attention])
@pytest.mark.parametrize(("batch", "tokens"), [(0, 3), (2, 0), (0, 0)])
def test_nothing_gives_nothing(function, batch, tokens):
    pattern = window(3, 2) if tokens else pattern_of(torch.zeros(0, 0, dtype=torch.long), count=2)
    x = torch.zeros(batch, 2, tokens, 4, requires_grad=True)
    out = function(x, x, x, pattern, vectors=torch.zeros(1, 2, 4))
    assert out.shape == x.shape
    out.sum().backward()
    assert x.grad.shape == x.shape


@pytest.mark.parametrize("function", [blocked_attention, dense_attention, sparse_attention])
def test_precisions_that_differ(function):
    x, pattern = torch.randn(1, 1, 4, 2), window(4, 2)
    vectors = torch.randn(1, 2, 2)
    half = x.bfloat16()
    out = function(half, half, half, pattern, vectors=vectors)
    assert out.dtype == torch.bfloat16
    torch.testing.assert_close(out.float(), function(x, x, x, pattern, vectors=vectors), atol=0.1, rtol=0.1)
    with pytest.raises(
        OrdinateError,
        match=r"query is torch.bfloat16 and value is torch.float32: write query.to\(value.dtype\)",
    ):
        function(half, x, x, pattern)
