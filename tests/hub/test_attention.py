"""Class vectors in BERT and GPT-2: equal to slow sums and to our own modules, and masks that hold."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    BertModel,
)

from ordinate.attention import ClassKeys, Content, ContentClass, ContentKeys
from ordinate.attention.classes import is_sparse
from ordinate.coordinates import Coordinates
from ordinate.encodings import BuildSpec, Pairwise, Shaw, Upe
from ordinate.encodings.class_vectors import Group
from ordinate.errors import OrdinateError
from ordinate.hub import put_attention
from ordinate.hub.places import in_a_row
from ordinate.relations import everywhere, relative, uniform, window
from tests.hub.hosts import (
    FORMS,
    HEADS,
    HOSTS,
    MASK,
    PLACES,
    WIDTH,
    WORDS,
    bert,
    both,
    draw,
    first_attention,
    gpt2,
    numbers,
    states,
    words,
)

ENCODINGS = {
    "shaw": Shaw(clip=3),
    "pairwise": Pairwise(relation=(relative(clip=2) * window(4, 4), everywhere())),
}


@both
@pytest.mark.parametrize("mask", [None, MASK])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_without_vectors_the_host_says_what_it_said(host, mask, dropout):
    name = "attn_pdrop" if host == "gpt2" else "attention_probs_dropout_prob"
    model, given_words = HOSTS[host](**{name: dropout}).train(), words(12)
    torch.manual_seed(1)
    before = states(model, given_words, attention_mask=mask)
    put_attention(model, Shaw(clip=3, std=0.0))
    assert model.config._attn_implementation == "ordinate"
    torch.manual_seed(1)
    after = states(model, given_words, attention_mask=mask)
    real = torch.ones(2, 12, dtype=torch.bool) if mask is None else mask.bool()
    torch.testing.assert_close(after[:, real], before[:, real])


def slow(query, key, value, vectors, *, absent=None, scale):
    """Every pair has its vector laid out: [head, query, key, dim]."""
    scores = torch.einsum("bhid,hijd->bhij", query, vectors)
    if key is not None:
        scores = scores + torch.einsum("bhid,bhjd->bhij", query, key)
    scores = scores * scale
    if absent is not None:
        scores = scores.masked_fill(absent, float("-inf"))
    return torch.einsum("bhij,bhjd->bhid", torch.softmax(scores, -1), value)


def split(x):
    return x.view(*x.shape[:2], HEADS, -1).transpose(1, 2)


@settings(max_examples=25)
@given(
    host=st.sampled_from(sorted(HOSTS)),
    content=st.booleans(),
    per_head=st.booleans(),
    tokens=st.integers(1, 11),
    clip=st.integers(1, 12),
    real=st.integers(1, 11),
    by_key=st.booleans(),
)
def test_a_layer_is_the_slow_sum_over_all_pairs(host, content, per_head, tokens, clip, real, by_key):
    model = HOSTS[host]()
    form = Content() if content else ContentClass()
    draw(put_attention(model, Shaw(clip=clip, per_head=per_head), form=form))
    x = torch.randn(2, tokens, WIDTH, dtype=torch.double, generator=torch.Generator().manual_seed(1))
    layer = first_attention(model)
    layer.scaling = 0.4  # a host may scale as it likes
    there = torch.arange(tokens)[None] < torch.tensor([[tokens], [min(real, tokens)]])
    # the same mask in two ways: by key, which the fused kernels take, and by pair, which they do not
    mask = there[:, None, None] if by_key else there[:, None, None].expand(-1, 1, tokens, -1).clone()
    if host == "bert":
        query, key, value = (split(part(x)) for part in (layer.query, layer.key, layer.value))
    else:
        query, key, value = (split(part) for part in layer.c_attn(x).chunk(3, -1))
        layer.c_proj = torch.nn.Identity()
    found = split(layer(x, attention_mask=mask)[0])
    place = torch.arange(tokens)
    back = place[:, None] - place
    table = layer.class_vectors.tables[0].expand(HEADS, -1, -1)
    reach = min(clip, PLACES - 1)
    lowest = 0 if host == "gpt2" else -reach
    vectors = table[:, (back.clamp(-reach, reach) - lowest).clamp(min=0)]
    absent = ~there[:, None, None] | (back < (0 if host == "gpt2" else -tokens))
    expected = slow(query, key if content else None, value, vectors, absent=absent, scale=0.4)
    torch.testing.assert_close(found, expected)


@both
@pytest.mark.parametrize("encoding", ENCODINGS.values(), ids=ENCODINGS)
def test_a_layer_is_our_own_module_with_the_same_weights(host, encoding):
    model = draw(put_attention(HOSTS[host](), encoding))
    assert_equals_our_module(model, ContentKeys(WIDTH, HEADS), ("query", "key", "value"))


@both
def test_positional_keys_are_our_own_module_with_the_same_weights(host):
    model = draw(put_attention(HOSTS[host](), Shaw(clip=3, per_head=True), form=ContentClass()))
    assert_equals_our_module(model, ClassKeys(WIDTH, HEADS), ("query", "value"))


def assert_equals_our_module(model, ours, maps):
    layer, tokens = first_attention(model), 9
    if isinstance(model, BertModel):
        linears = {name: (getattr(layer, name).weight, getattr(layer, name).bias) for name in maps}
        output = model.encoder.layer[0].attention.output.dense
        said = lambda x: output(layer(x)[0])  # noqa: E731
        last = (output.weight, output.bias)
    else:
        names, weights = ("query", "key", "value"), layer.c_attn.weight.T.chunk(3)
        linears = dict(zip(names, zip(weights, layer.c_attn.bias.chunk(3), strict=True), strict=True))
        said = lambda x: layer(x)[0]  # noqa: E731
        last = (layer.c_proj.weight.T, layer.c_proj.bias)
    ours = ours.double()
    with torch.no_grad():
        ours.project.weight.copy_(torch.cat([linears[name][0] for name in maps]))
        ours.project.bias.copy_(torch.cat([linears[name][1] for name in maps]))
        ours.to_output.weight.copy_(last[0])
        ours.to_output.bias.copy_(last[1])
    vectors = layer.class_vectors
    where = Coordinates.of(text=range(PLACES))
    spec = BuildSpec((where,), heads=HEADS, head_dim=WIDTH // HEADS)
    groups = [Group(heads, bound.relation) for heads, bound in zip(vectors.heads, vectors.bound, strict=True)]
    encoding = Pairwise()
    encoding.use_groups(spec, groups, per_head=len(vectors.tables[0]) > 1, std=0.0)
    encoding.double()
    for mine, theirs in zip(encoding.tables, vectors.tables, strict=True):
        mine.data.copy_(theirs[None])
    x = torch.randn(2, tokens, WIDTH, dtype=torch.double, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(said(x), ours(x, Coordinates.of(text=range(tokens)), encoding))


@pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])
@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_a_later_word_never_changes_what_was_said_before(form, dropout):
    model = draw(put_attention(gpt2(attn_pdrop=dropout), Shaw(clip=3), form=form))
    model.train()
    for place in (1, 4, 9):
        first, other = words(10), words(10)
        other[:, place] = other[:, place] % (WORDS - 1) + 1
        said = []
        for given_words in (first, other):
            torch.manual_seed(3)
            said.append(states(model, given_words))
        torch.testing.assert_close(said[0][:, :, :place], said[1][:, :, :place], rtol=0, atol=0)
        assert (said[0][:, :, place] != said[1][:, :, place]).any()


def test_bert_as_a_decoder_looks_back_only():
    model = draw(put_attention(bert(is_decoder=True), Shaw(clip=3)))
    first, other = words(10), words(10)
    other[:, 6:] = words(4, seed=5)
    before, after = states(model, first), states(model, other)
    assert torch.equal(before[:, :, :6], after[:, :, :6])


@both
@pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])
@pytest.mark.parametrize("side", ["right", "left"])
def test_padding_never_matters(host, form, side):
    # without places of its own the host cannot tell where a sequence begins
    model = draw(put_attention(HOSTS[host](), Shaw(clip=3), form=form, positions="remove"))
    short, filled = words(7), words(5, seed=4)
    alone = states(model, short)
    none, all_there = torch.zeros(2, 5, dtype=torch.long), torch.ones(2, 7, dtype=torch.long)
    order = (lambda a, b: torch.cat([a, b], 1)) if side == "right" else (lambda a, b: torch.cat([b, a], 1))
    padded = states(model, order(short, filled), attention_mask=order(all_there, none))
    real = order(all_there, none).bool()[0]
    torch.testing.assert_close(padded[:, :, real], alone)
    assert padded.isfinite().all()


@pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])
def test_few_keys_at_many_tokens_go_through_the_sparse_kernel(form):
    model = put_attention(gpt2(), Pairwise(relation=relative() * window(2)), form=form, positions="remove")
    draw(model)
    layer, tokens = first_attention(model), 90
    (pairs,) = layer.class_vectors.pairs(in_a_row(tokens))
    assert is_sparse(pairs.pattern)
    x = torch.randn(2, tokens, WIDTH, dtype=torch.double)
    query, key, value = (split(part) for part in layer.c_attn(x).chunk(3, -1))
    layer.c_proj = torch.nn.Identity()
    there = torch.arange(tokens)[None] < torch.tensor([[tokens], [80]])
    found = split(layer(x, attention_mask=there[:, None, None])[0])
    place = torch.arange(tokens)
    back = place[:, None] - place
    absent = ~there[:, None, None] | (back < 0) | (back > 2)
    absent = absent.expand(2, 1, -1, -1).clone()
    absent[1, 0, 80:, :1] = False  # rows of padding, some without any key: not compared
    vectors = layer.class_vectors.tables[0][:, back.clamp(0, 2)]
    looked = key if form.name == "content" else None
    expected = slow(query, looked, value, vectors, absent=absent, scale=(WIDTH // HEADS) ** -0.5)
    torch.testing.assert_close(found[0], expected[0])
    torch.testing.assert_close(found[1, :, :80], expected[1, :, :80])
    assert not found[1, :, 82:].any()  # nothing but padding to look at
    found.sum().backward()
    assert layer.class_vectors.tables[0].grad.isfinite().all()


@both
@pytest.mark.parametrize("positions", ["keep", "remove"])
def test_lengths_never_trained(host, positions):
    model = draw(put_attention(HOSTS[host](), Shaw(clip=3), positions=positions))
    assert model(words(PLACES)).last_hidden_state.isfinite().all()
    if positions == "remove":
        assert model(words(3 * PLACES)).last_hidden_state.shape == (2, 3 * PLACES, WIDTH)


@both
def test_without_positions_of_the_host_only_the_relation_is_left(host):
    model = draw(put_attention(HOSTS[host](), Pairwise(relation=everywhere()), positions="remove"))
    put_attention(model, Pairwise(relation=everywhere()), positions="remove")  # again, which changes nothing
    given_words = words(8, batch=1)
    shuffled = torch.cat([given_words[:, :7].flip(1), given_words[:, 7:]], 1)
    said, other = (states(model, w)[-1, 0, -1] for w in (given_words, shuffled))
    if host == "bert":  # a set, in whatever order; what is causal is not
        torch.testing.assert_close(said, other)
    draw(put_attention(model, Shaw(clip=3)))
    said, other = (states(model, w)[-1, 0, -1] for w in (given_words, shuffled))
    assert not torch.allclose(said, other)


def test_fields_of_ones_own():
    relation = uniform("second") | relative(clip=2)
    model = draw(put_attention(bert(), Pairwise(relation=relation), coordinates=numbers, trained=8))
    assert first_attention(model).class_vectors.tables[0].shape == (HEADS, 4 + 5, WIDTH // HEADS)
    assert draw(put_attention(bert(), Upe(fields=("second",), clip=2), coordinates=numbers))(words(8))
    with pytest.raises(OrdinateError, match=r"coordinates\(9\) gives 8 tokens"):
        model(words(9))
    with pytest.raises(OrdinateError, match="has no class 'any to second 4' at 10 tokens"):
        model(words(10))
    with pytest.raises(OrdinateError, match="there is no field 'second'"):
        put_attention(bert(), Pairwise(relation=relation))
