"""Biases that read the scores: the formula, what is not seen, and what stays as it was when sequences grow."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.attention import hooks, patched
from ordinate.attention.heads import ContentKeys
from ordinate.coordinates import Coordinates
from ordinate.encodings import ENCODINGS, BuildSpec, Combined, Encoding, Pairwise, dape
from ordinate.errors import OrdinateError
from ordinate.kinds import choose
from ordinate.lab.architectures import MemoryAttention
from ordinate.lab.architectures.concat_attention import ContentAttention
from ordinate.lab.architectures.memory_attention import DotProducts
from ordinate.relations import causal, relative, window

HEADS, LAYERS = 2, 2
kernels = st.sampled_from([1, 3, 5])


def tokens(count: int) -> Coordinates:
    return Coordinates.of(text=range(count))


def build(count=6, seed=0, **options):
    torch.manual_seed(seed)
    spec = BuildSpec(trained=(tokens(count),), layers=LAYERS, heads=HEADS, head_dim=4)
    made = choose({"kind": "dape", "hidden": 5, **options}, ENCODINGS, "model.encoding").build(spec)
    return made.double().requires_grad_(False)


def causal_scores(encoding, products):
    """S of causal attention with these products of queries and keys."""
    count = products.shape[-1]
    ahead = torch.ones(count, count, dtype=torch.bool).triu(1)
    scores = (products + encoding.bias(tokens(count), 1)).masked_fill(ahead, float("-inf"))
    return encoding.scores(scores, tokens(count), 1)


def by_loops(encoding, scores, layer):
    """The same, one pair at a time."""
    function, count = encoding.functions[layer], scores.shape[-1]
    bias = encoding.bias(tokens(count), layer)
    half = function.up.kernel_size[1] // 2
    present = ~scores.isneginf()

    def convolve(conv, column, i, j):
        """W * x at a pair, from columns of numbers that are 0 beyond the keys."""
        out = torch.zeros(conv.out_channels, dtype=torch.float64)
        for k in range(-half, half + 1):
            if 0 <= j + k < count:
                out += conv.weight[:, :, 0, k + half] @ column(i, j + k)
        return out

    def entered(i, j):
        there = present[:, i, j]
        b = torch.where(there, bias[:, i, j], 0.0)
        return torch.cat([torch.where(there, scores[:, i, j] - b, 0.0), b])

    def hidden(i, j):
        if not present[:, i, j].any():
            return torch.zeros(5, dtype=torch.float64)
        return F.leaky_relu(convolve(function.up, entered, i, j) + function.up.bias)

    out = scores.clone()
    for i in range(count):
        for j in range(count):
            out[:, i, j] += convolve(function.down, hidden, i, j)
    return out


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 99), kernels, st.sampled_from(["kerple-log", "alibi", "fire"]), st.booleans())
def test_the_formula_pair_by_pair(seed, kernel, base, masked):
    encoding = build(seed=seed, kernel=kernel, base=base)
    scores = torch.randn(2, HEADS, 4, 4, dtype=torch.float64)
    if masked:
        scores[:, 0].masked_fill_(torch.ones(4, 4, dtype=torch.bool).triu(1), float("-inf"))
    found = encoding.scores(scores, tokens(4), 1)
    torch.testing.assert_close(found, torch.stack([by_loops(encoding, each, 1) for each in scores]))
    torch.testing.assert_close(encoding.scores(scores[0], tokens(4), 1), found[0])


@pytest.mark.parametrize("at_once", [1, 36, 80, 10_000])
def test_in_parts_where_nothing_is_learned_it_is_the_same(monkeypatch, at_once):
    monkeypatch.setattr(dape, "PAIRS_AT_ONCE", at_once)
    encoding = build()
    scores = torch.randn(5, HEADS, 6, 6, dtype=torch.float64)
    scores[2, :, :, 3] = float("-inf")
    whole = encoding.scores(scores, tokens(6), 1)
    with torch.no_grad():
        assert torch.allclose(encoding.scores(scores, tokens(6), 1), whole)
        assert torch.allclose(encoding.scores(scores[0], tokens(6), 1), whole[0])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 99), kernels, st.integers(0, 6))
def test_later_keys_leak_nothing_in_causal_attention(seed, kernel, query):
    encoding = build(7, seed=seed, kernel=kernel)
    products = torch.randn(HEADS, 7, 7, dtype=torch.float64)
    changed = products.clone()
    changed[:, query, query + 1 :] += 3.0
    assert torch.equal(causal_scores(encoding, products), causal_scores(encoding, changed))
    assert causal_scores(encoding, products)[:, query, query + 1 :].isneginf().all()
    changed[:, query, query] += 3.0
    assert not torch.equal(causal_scores(encoding, products), causal_scores(encoding, changed))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 99), kernels, st.integers(1, 9))
def test_tokens_appended_change_nothing_between_old_ones_in_causal_attention(seed, kernel, more):
    encoding = build(seed=seed, kernel=kernel)
    products = torch.randn(HEADS, 6 + more, 6 + more, dtype=torch.float64)
    old = causal_scores(encoding, products[:, :6, :6])
    torch.testing.assert_close(causal_scores(encoding, products)[:, :6, :6], old)


@pytest.mark.parametrize("kernel", [1, 3])
def test_keys_that_are_masked_are_as_keys_that_are_not_there(kernel):
    """Padding behind a sequence, where all pairs are attended."""
    encoding = build(kernel=kernel)
    scores = torch.randn(3, HEADS, 9, 9, dtype=torch.float64)
    scores[..., 6:] = float("-inf")
    found = encoding.scores(scores, tokens(9), 0)
    alone = encoding.scores(scores[..., :6, :6], tokens(6), 0)
    torch.testing.assert_close(found[..., :6, :6], alone)
    assert found[..., 6:].isneginf().all()


@pytest.mark.parametrize("kernel", [1, 3, 5])
def test_the_shift_law_without_content_scores_depend_on_the_lag_only(kernel):
    encoding = build(kernel=kernel)
    scores = causal_scores(encoding, torch.zeros(HEADS, 20, 20, dtype=torch.float64))
    inner = scores[
        :, :, 4:
    ]  # the first keys can tell that nothing is before them, as far as two kernels reach
    torch.testing.assert_close(inner[:, 1:, 1:], inner[:, :-1, :-1])
    first = scores[:, -1, 0] - scores[:, -2, 0]
    assert (first != 0).any()
    assert len(inner[0, -1].unique()) == 16


@pytest.mark.parametrize("name", ENCODINGS)
def test_only_encodings_that_read_scores_are_asked_to(name):
    spec = BuildSpec(
        trained=(Coordinates.of(multiplier=range(2), number=range(6)),), layers=1, heads=2, head_dim=4
    )
    made = choose(name, ENCODINGS, "model.encoding").build(spec)
    assert made.reads_scores == (type(made).scores is not Encoding.scores)
    assert Combined(Encoding(), made).reads_scores == made.reads_scores


def layers_of_attention():
    torch.manual_seed(0)
    for normalised in (True, False):
        yield MemoryAttention(8, HEADS, 1, DotProducts(8, HEADS, 4), normalised=normalised)
    yield ContentKeys(8, HEADS, 1)
    yield ContentAttention(8, HEADS, 1)


@pytest.mark.parametrize("layer", list(layers_of_attention()), ids=lambda layer: type(layer).__name__)
def test_every_attention_asks_and_hooks_see_the_same(layer):
    encoding, x = build(kernel=3), torch.randn(3, 6, 8).double()
    causally = Pairwise(relation=causal()).build(
        BuildSpec(trained=(tokens(6),), layers=LAYERS, heads=HEADS, head_dim=4)
    )
    both = encoding if isinstance(layer, MemoryAttention) else Combined(causally.double(), encoding)
    layer = layer.double()
    seen = {}
    with torch.no_grad():
        out = layer(x, tokens(6), both)
        encoding.reads_scores = both.reads_scores = False
        plain = layer(x, tokens(6), both)
        encoding.reads_scores = both.reads_scores = True
        (name,) = [name for name in hooks(layer) if name.endswith("weights")]
        with patched(layer, {name: lambda w: seen.setdefault(name, w)}):
            torch.testing.assert_close(layer(x, tokens(6), both), out)
        later = x.clone()
        later[:, 4:] += 1.0
        torch.testing.assert_close(layer(later, tokens(6), both)[:, :4], out[:, :4])
    assert not torch.allclose(out, plain)
    assert (seen[name].triu(1) == 0).all()


def test_relations_for_sparse_attention_are_refused_in_one_line():
    spec = BuildSpec(trained=(tokens(200),), layers=LAYERS, heads=HEADS, head_dim=4)
    few = Pairwise(relation=relative(clip=1) * window(back=1, by="index")).build(spec)
    both, layer = Combined(few, build(200).float()), ContentKeys(8, HEADS)
    assert layer(torch.randn(1, 20, 8), tokens(20), both).shape == (1, 20, 8)
    with pytest.raises(OrdinateError, match=r"2 keys a query of 200 tokens.*: write .*kerple-log") as refusal:
        layer(torch.randn(1, 200, 8), tokens(200), both)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"kernel": 2}, r"kernel.*must be odd"),
        ({"base": "kerple"}, r"model.encoding.base.kind = 'kerple' .*'kerple-log'"),
        ({"base": "rope"}, r"model.encoding.base.kind = 'rope' is not known"),
    ],
)
def test_what_cannot_be_built_is_said_in_one_line(options, match):
    with pytest.raises(OrdinateError, match=match):
        build(**options)
