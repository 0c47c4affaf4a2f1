"""What others compute: the biases, rotations and tables of transformers' own models are those of our encodings."""

import pytest
import torch
from transformers import LlamaConfig, LlamaModel
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.inkling.modeling_inkling import InklingRelativeLogits
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

from ordinate.attention.dot_product import attention_scores
from ordinate.coordinates import Coordinates
from ordinate.encodings import T5, Alibi, BuildSpec, Pairwise, Rope, Shaw
from ordinate.errors import OrdinateError
from ordinate.hub import from_inkling, put_attention, to_inkling
from ordinate.relations import relative, window
from tests.hub.hosts import HEADS, LLAMAS, first_attention, gpt2, host, layers, states, words

MASK = torch.tensor([[1] * 9, [1] * 6 + [0] * 3])


def close(one, other):
    torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def learned(model, mask):
    """Outputs, and gradients by name."""
    model.zero_grad()
    said = states(model, words(9), attention_mask=mask)[:, mask.bool()]
    said.square().mean().backward()
    return said, {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def test_t5_is_the_bias_of_t5_in_encoder_and_decoder():
    own, ours = host("t5"), put_attention(host("t5"), T5(buckets=16, furthest=12), positions="remove")
    # keys ahead have half of the buckets, also where nothing is ahead
    encoding = T5(buckets=8, furthest=12).build(BuildSpec((), heads=HEADS)).double()
    ours.encoder.encodings[0] = encoding
    for layer in ours.encoder.block:
        layer.layer[0].SelfAttention.seat.encoding = encoding
    for mine, theirs in ((ours.encoder, own.encoder), (ours.decoder, own.decoder)):
        table = theirs.block[0].layer[0].SelfAttention.relative_attention_bias.weight.T
        mine.encodings[0].table.data[:, : table.shape[1]] = table
    (said, found), (expected, grads) = learned(ours, MASK), learned(own, MASK)
    close(said, expected)
    for name, grad in grads.items():
        if name.endswith("relative_attention_bias.weight"):
            stack = name.partition(".")[0]
            close(found[f"{stack}.encodings.0.table"][:, : grad.shape[0]], grad.T)
        else:
            close(found[name], grad)


def test_alibi_is_the_bias_of_bloom_and_mpt():
    """They add the same number to all keys of a query, which cancels in the softmax."""
    where = Coordinates.of(text=range(7))
    for heads in range(1, 13):
        ours = Alibi().build(BuildSpec((), heads=heads)).bias(where, 0).tril()
        bloom = build_alibi_tensor(torch.ones(1, 7), heads, torch.float32).view(heads, 1, 7)
        close(ours, _from_self(bloom))
        if heads & (heads - 1) == 0:  # of other numbers MPT takes the slopes in another order
            close(ours, _from_self(build_mpt_alibi_tensor(heads, 7)))


def _from_self(alibi):
    """The bias of a key less that of the query itself, for keys behind; [head, 1, key]."""
    return (alibi - alibi.mT).tril()


def test_alibi_in_a_host_is_the_formula_of_bloom():
    model = put_attention(gpt2(n_layer=1), Alibi(), positions="remove")
    layer = first_attention(model)
    layer.c_proj = torch.nn.Identity()
    x = torch.randn(1, 7, 16, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    query, key, value = (part.view(1, 7, HEADS, 4).transpose(1, 2) for part in layer.c_attn(x).chunk(3, -1))
    alibi = build_alibi_tensor(torch.ones(1, 7), HEADS, torch.float64).view(1, HEADS, 1, 7)
    scores = query @ key.mT / 2 + alibi
    scores = scores.masked_fill(torch.ones(7, 7).triu(1).bool(), float("-inf"))
    close(layer(x)[0], (scores.softmax(-1) @ value).transpose(1, 2).flatten(2))


@pytest.mark.parametrize("base", [10000.0, 50.0])
def test_rope_in_llama_is_llama(base):
    options = LLAMAS | {"rope_parameters": {"rope_type": "default", "rope_theta": base}}
    torch.manual_seed(0)
    own = LlamaModel(LlamaConfig(**options, attn_implementation="eager"))
    ours = LlamaModel(LlamaConfig(**options))
    ours.load_state_dict(own.state_dict())
    put_attention(ours, Rope(base=base), positions="remove")
    (said, found), (expected, grads) = learned(ours, MASK), learned(own, MASK)
    close(said, expected)
    assert found.keys() == grads.keys()
    for name, grad in grads.items():
        close(found[name], grad)


def logits(width=5, extent=4):
    module = InklingRelativeLogits(width, extent)
    torch.nn.init.normal_(module.proj, generator=torch.Generator().manual_seed(0))
    return module


def test_the_logits_of_inkling_are_class_vectors():
    module, heads, tokens = logits(), 3, 9
    encoding = from_inkling(module, heads=heads)
    looks = torch.randn(2, heads, tokens, 5, requires_grad=True)
    places = torch.arange(tokens)
    expected = module(looks.transpose(1, 2), places, places)
    pairs = encoding.pairs(Coordinates.of(text=range(tokens)), 0)
    found = attention_scores(looks * 5**0.5, None, pairs=pairs)
    back = torch.ones(tokens, tokens).tril().bool()
    assert found[..., ~back].isneginf().all()
    close(found[..., back], expected[..., back])
    weights = torch.randn(int(back.sum()))
    grads = [
        torch.autograd.grad((scores[..., back] * weights).sum(), [looks, table])
        for scores, table in ((found, encoding.tables[0]), (expected, module.proj))
    ]
    close(grads[0][0], grads[1][0])
    close(grads[0][1][0, 0].T, grads[1][1])


def test_the_table_of_an_inkling_goes_there_and_back():
    for layer in layers(host("inkling")):
        encoding = from_inkling(layer)
        assert encoding.heads == (layer.num_heads,)
        again = to_inkling(encoding)
        assert isinstance(again, InklingRelativeLogits)
        assert again.rel_extent == layer.rel_extent
        assert torch.equal(again.proj, layer.rel_logits_proj.proj)
        layer.rel_logits_proj = again


SPEC = BuildSpec((Coordinates.of(text=range(6)),), heads=2, head_dim=3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: from_inkling(torch.nn.Linear(2, 2)),
            "Linear has no table of distances: give the rel_logits_proj",
        ),
        (
            lambda: to_inkling(Shaw(clip=2).build(SPEC)),
            "has other classes than 0, 1, ... back: write relative",
        ),
        (lambda: to_inkling(Pairwise(relation=relative() * window(2)).build(SPEC)), "write per_head=False"),
        (lambda: to_inkling(Pairwise(relation=(relative(), relative())).build(SPEC)), "2 groups of heads"),
    ],
)
def test_what_is_no_table_of_an_inkling_is_refused(make, message):
    with pytest.raises(OrdinateError, match=message) as refusal:
        make()
    assert "\n" not in str(refusal.value)
