"""`od.Attention` where `nn.MultiheadAttention` was."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.utils.checkpoint import checkpoint

import ordinate as od
from ordinate.attention import KeyCache
from ordinate.errors import OrdinateError

DIM, HEADS, TOKENS = 8, 4, 6
NEAR = od.relative(clip=2) * od.window(2, 2)
BACK = od.relative(clip=3) * od.causal()
KINDS = {
    "none": {},
    "rope": {"encoding": od.Rope()},
    "alibi": {"encoding": od.Alibi()},
    "shaw": {"encoding": od.Shaw(clip=3)},
    "dape": {"encoding": od.Dape(), "trained": TOKENS},
    "relation": {"relation": NEAR},
    "two groups": {"relation": [NEAR, od.everywhere()]},
    "content-class": {"relation": NEAR, "scores": "content-class"},
    "class": {"relation": NEAR, "scores": "class"},
}
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


def tokens(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def attention(kind, **options):
    torch.manual_seed(0)
    made = od.Attention(DIM, HEADS, **kind, **options)
    for parameter in made.parameters():  # so that biases and vectors of zeros say something
        nn.init.normal_(parameter, std=0.5)
    return made


def changed_gradient(out, x):
    (gradient,) = torch.autograd.grad(out.square().sum(), x, retain_graph=True)
    return gradient


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@given(seed=st.integers(0, 100), causal=st.booleans(), added=st.booleans())
def test_without_positions_it_is_the_layer_of_torch(bias, batch_first, seed, causal, added):
    torch.manual_seed(seed)
    theirs = nn.MultiheadAttention(DIM, HEADS, bias=bias, batch_first=batch_first).eval()
    ours = od.Attention.of(theirs)
    x = tokens(2, TOKENS, DIM, seed=seed).requires_grad_()
    padding = torch.rand(2, TOKENS) < 0.4
    padding[:, 0] = False
    mask = torch.randn(TOKENS, TOKENS) if added else torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
    given = x if batch_first else x.transpose(0, 1)
    wanted, weights = theirs(
        *(given,) * 3,
        key_padding_mask=torch.zeros(2, TOKENS).masked_fill(padding, -torch.inf) if added else padding,
        attn_mask=mask,
        average_attn_weights=False,
    )
    wanted = wanted if batch_first else wanted.transpose(0, 1)
    found, ours_weights = ours(x, key_padding_mask=padding, attn_mask=mask, need_weights=True)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(ours_weights, weights, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(ours(x, key_padding_mask=padding, attn_mask=mask), found)
    torch.testing.assert_close(changed_gradient(found, x), changed_gradient(wanted, x), atol=1e-4, rtol=1e-4)


def test_keys_and_values_of_other_widths_are_those_of_torch():
    theirs = nn.MultiheadAttention(DIM, HEADS, kdim=5, vdim=3, batch_first=True).eval()
    x, keys, values = tokens(2, 4, DIM), tokens(2, 7, 5), tokens(2, 7, 3)
    wanted, _ = theirs(x, keys, values)
    torch.testing.assert_close(od.Attention.of(theirs)(x, memory=(keys, values)), wanted)


@kinds
def test_padding_is_as_if_it_were_not_there(kind):
    made, x = attention(kind), tokens(2, TOKENS, DIM).requires_grad_()
    padding = torch.zeros(2, TOKENS, dtype=torch.bool)
    padding[1, 4:] = True
    if "trained" in kind:
        x = x[:, :TOKENS]
    found = made(x, key_padding_mask=padding)
    torch.testing.assert_close(found[0], made(x[:1])[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found[1, :4], made(x[1:, :4])[0], atol=1e-5, rtol=1e-5)
    assert (changed_gradient(found[1, :4], x)[1, 4:] == 0).all()


@kinds
def test_every_way_to_the_same_numbers(kind):
    """Padding through the kernels, masks laid out, and weights that are asked for."""
    made, x = attention(kind), tokens(2, TOKENS, DIM).requires_grad_()
    padding = torch.zeros(2, TOKENS, dtype=torch.bool)
    padding[0, 5] = True
    by_keys = made(x, key_padding_mask=padding)
    by_pairs = made(x, attn_mask=padding[:, None, None].expand(-1, -1, TOKENS, -1))
    asked, weights = made(x, key_padding_mask=padding, need_weights=True)
    for other in (by_pairs, asked):
        torch.testing.assert_close(other, by_keys, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(
            changed_gradient(other, x), changed_gradient(by_keys, x), atol=1e-4, rtol=1e-4
        )
    assert (weights[0, ..., 5] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, HEADS, TOKENS))


@kinds
def test_a_query_without_a_key_receives_nothing_and_no_gradient_is_nan(kind):
    made, x = attention(kind), tokens(1, TOKENS, DIM).requires_grad_()
    mask = torch.zeros(TOKENS, TOKENS, dtype=torch.bool)
    mask[2] = True
    for left_out in (mask, torch.zeros(TOKENS, TOKENS).masked_fill(mask, -torch.inf)):
        out = made(x, attn_mask=left_out)
        torch.testing.assert_close(out[0, 2], made.heads.to_output.bias)
        assert changed_gradient(out, x).isfinite().all()
    all_padding = made(x, key_padding_mask=torch.ones(1, TOKENS, dtype=torch.bool))
    torch.testing.assert_close(all_padding, made.heads.to_output.bias.expand(1, TOKENS, -1))
    assert changed_gradient(all_padding, x).isfinite().all()


def test_is_causal_is_the_relation_of_that_name():
    torch.manual_seed(0)
    free = od.Attention(DIM, HEADS, relation=od.everywhere())
    bound = od.Attention(DIM, HEADS, relation=od.causal())
    bound.load_state_dict(free.state_dict())
    x = tokens(2, TOKENS, DIM)
    torch.testing.assert_close(free(x, is_causal=True), bound(x))


def test_grouped_queries_share_keys_and_values():
    grouped = attention(KINDS["shaw"], key_value_heads=2)
    whole = attention(KINDS["shaw"])
    width = DIM // HEADS
    query, key, value = grouped.heads.project.weight.split([DIM, 2 * width, 2 * width])
    repeat = lambda w: w.unflatten(0, (2, width)).repeat_interleave(2, 0).flatten(0, 1)  # noqa: E731
    bias = grouped.heads.project.bias.split([DIM, 2 * width, 2 * width])
    state = grouped.state_dict() | {
        "heads.project.weight": torch.cat([query, repeat(key), repeat(value)]),
        "heads.project.bias": torch.cat([bias[0], repeat(bias[1]), repeat(bias[2])]),
    }
    whole.load_state_dict(state)
    x = tokens(2, TOKENS, DIM)
    torch.testing.assert_close(grouped(x), whole(x))


CAUSAL = {
    "relation": {"relation": BACK},
    "rope": {"encoding": od.Rope()},
    "alibi": {"encoding": od.Alibi()},
    "class": {"relation": BACK, "scores": "class"},
    "content-class": {"relation": BACK, "scores": "content-class"},
    "grouped": {"relation": BACK, "key_value_heads": 2},
}


@pytest.mark.parametrize("kind", CAUSAL.values(), ids=CAUSAL.keys())
@given(cuts=st.sets(st.integers(1, TOKENS - 1)))
def test_with_a_cache_and_without_are_the_same(kind, cuts):
    made, x, cache = attention(kind), tokens(2, TOKENS, DIM), KeyCache()
    bounds = [0, *sorted(cuts), TOKENS]
    parts = [made(x[:, first:last], cache=cache, is_causal=True) for first, last in pairwise(bounds)]
    torch.testing.assert_close(torch.cat(parts, 1), made(x, is_causal=True), atol=1e-5, rtol=1e-5)
    assert len(cache) == TOKENS


@pytest.mark.parametrize("scores", ["content", "content-class", "class"])
def test_attention_to_another_sequence_by_fields(scores):
    """Every target looks at the source of its own ordinate, slowly and fast."""
    relation = od.aligned("target", "source") * od.relative(clip=1) | od.itself()
    made = attention({"relation": relation, "scores": scores, "trained": od.layout(source=5, target=3)})
    x, source = tokens(2, 3, DIM), tokens(2, 5, DIM, seed=1)
    where = {"layout": od.layout(target=3), "memory_layout": od.layout(source=5)}
    out, weights = made(x, memory=source, need_weights=True, **where)
    assert out.shape == x.shape
    torch.testing.assert_close(made(x, memory=source, **where), out)
    changed = source.clone()
    changed[:, 4] += 1  # beyond what the last target may look at: 1 place away from 2 is 3
    alone = (weights > 0).any(0).any(0)
    for target, row in enumerate(alone.tolist()):
        for place, seen in enumerate(row):
            other = source.clone()
            other[:, place] += 1
            moved = (made(x, memory=other, **where) - out)[:, target].abs().max() > 1e-6
            assert moved == seen


def test_weights_are_dropped_in_training_alone():
    made, x = attention(KINDS["relation"], dropout=0.5), tokens(2, TOKENS, DIM)
    assert not torch.equal(made(x), made(x))
    made.eval()
    assert torch.equal(made(x), made(x))
    torch.testing.assert_close(made(x), attention(KINDS["relation"])(x))


def test_dropped_weights_are_right_on_average():
    made, x = attention(KINDS["relation"], dropout=0.3), tokens(1, 3, DIM).expand(4000, -1, -1)
    many = made(x).mean(0)
    torch.testing.assert_close(many, made.eval()(x)[0], atol=0.1, rtol=0.1)


@kinds
def test_autocast_gives_numbers_near_those_of_float32(kind):
    made, x = attention(kind), tokens(2, TOKENS, DIM)
    with torch.autocast("cpu", torch.bfloat16):
        low = made(x)
    assert low.dtype == torch.bfloat16
    torch.testing.assert_close(low.float(), made(x), atol=0.3, rtol=0.1)


@kinds
def test_activation_checkpointing_changes_nothing(kind):
    made, x = attention(kind), tokens(2, TOKENS, DIM).requires_grad_()
    wanted = changed_gradient(made(x), x)
    torch.testing.assert_close(changed_gradient(checkpoint(made, x, use_reentrant=False), x), wanted)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@kinds
def test_torch_func_maps_and_differentiates_it(kind):
    made, x = attention(kind), tokens(3, 2, TOKENS, DIM)
    state = dict(made.named_parameters())

    def loss(parameters, x):
        return torch.func.functional_call(made, parameters, (x,)).square().sum()

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(state, x)
    for number, one in enumerate(x):
        wanted = torch.autograd.grad(loss(state, one), list(state.values()), allow_unused=True)
        for name, gradient in zip(state, wanted, strict=True):
            if gradient is not None:
                torch.testing.assert_close(each[name][number], gradient, atol=1e-4, rtol=1e-4)


REFUSED = {
    "padding of another shape": (
        {"key_padding_mask": torch.zeros(2, 5, dtype=torch.bool)},
        r"give torch.bool \[2, 6\]",
    ),
    "padding of numbers": ({"key_padding_mask": torch.zeros(2, 6, dtype=torch.int)}, "torch.int32"),
    "a mask of another shape": ({"attn_mask": torch.zeros(5, 6)}, r"give \[6, 6\]"),
    "a mask of whole numbers": ({"attn_mask": torch.zeros(6, 6, dtype=torch.long)}, "attn_mask.bool()"),
    "a memory without layouts": ({"memory": torch.zeros(2, 3, 8)}, "both layouts"),
    "a memory of another width": (
        {"memory": torch.zeros(2, 3, 7), "layout": od.layout(a=6), "memory_layout": od.layout(b=3)},
        r"give \[2, token, 8\]",
    ),
    "a layout of nothing": ({"memory_layout": od.layout(b=3)}, "no memory"),
    "a memory and a cache": ({"memory": torch.zeros(2, 3, 8), "cache": KeyCache()}, "leave the cache away"),
    "a layout of another length": ({"layout": od.layout(token=5)}, "5 tokens, and the input has 6"),
}


@pytest.mark.parametrize(("given", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused(given, said):
    with pytest.raises(OrdinateError, match=said) as refused:
        attention(KINDS["relation"])(torch.zeros(2, TOKENS, DIM), **given)
    assert "\n" not in str(refused.value)


def test_a_layout_that_depends_on_later_tokens_is_refused_with_a_cache():
    made, cache = attention({"relation": od.relative(clip=2) * od.causal()}), KeyCache()
    made(torch.zeros(1, 2, DIM), od.layout(token=[1, 2]), cache=cache)
    with pytest.raises(OrdinateError, match="stood elsewhere"):
        made(torch.zeros(1, 1, DIM), od.layout(token=[0, 1, 2]), cache=cache)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"key_value_heads": 3}, "divides the heads"),
        ({"dropout": 1.0}, "no share"),
        ({"key_dim": 5}, "as memory="),
    ],
)
def test_options_that_do_not_fit_are_refused(options, said):
    with pytest.raises(OrdinateError, match=said):
        attention(KINDS["relation"], **options)(torch.zeros(1, 2, DIM))
