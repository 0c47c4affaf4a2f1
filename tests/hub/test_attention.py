"""Class vectors in BERT and GPT-2: equal to slow sums and to our own modules, masks that hold, training, files."""

import copy
import re
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Model,
    StaticCache,
)

from ordinate.attention import Class, ClassKeys, Content, ContentClass, ContentKeys
from ordinate.attention.choose import is_sparse
from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.hub import load_class_vectors, put_attention
from ordinate.positions.encodings import Alibi, Pairwise, PairwiseEncoding, Shaw, Site, Upe
from ordinate.positions.encodings.pairwise import Group
from ordinate.positions.relations import between, everywhere, relative, uniform, where, window

VECTORS = "transformer.h.0.attn.class_vectors.tables.0"
WORDS, WIDTH, HEADS, LAYERS, PLACES = 13, 16, 4, 2, 24


def bert(kind=BertModel, **changes):
    options = {
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "initializer_range": 0.3,
    } | changes
    sizes = {"vocab_size": WORDS, "hidden_size": WIDTH, "intermediate_size": WIDTH}
    return _host(
        kind,
        BertConfig(
            **sizes,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            max_position_embeddings=PLACES,
            attn_implementation="eager",
            **options,
        ),
    )


def gpt2(kind=GPT2Model, **changes):
    options = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0, "initializer_range": 0.3} | changes
    options |= {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    sizes = {"vocab_size": WORDS, "n_embd": WIDTH, "n_layer": LAYERS, "n_head": HEADS, "n_positions": PLACES}
    return _host(kind, GPT2Config(**sizes, attn_implementation="eager", **options))


def _host(kind, config):
    torch.manual_seed(0)
    return kind(config).double().eval()


def words(tokens, batch=2, seed=0):
    return torch.randint(1, WORDS, (batch, tokens), generator=torch.Generator().manual_seed(seed))


def draw(model, seed=0):
    """Vectors large enough to matter."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if "class_vectors" in name:
            parameter.data = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
    return model


def states(model, *args, **options):
    """What every layer says."""
    found = model(*args, output_hidden_states=True, use_cache=False, **options)
    return torch.stack(found.hidden_states[1:])


def first_attention(model):
    base = model.base_model
    return base.encoder.layer[0].attention.self if isinstance(base, BertModel) else base.h[0].attn


HOSTS = {"bert": bert, "gpt2": gpt2}
ENCODINGS = {
    "shaw": Shaw(clip=3),
    "pairwise": Pairwise(relation=(relative(clip=2) * window(4, 4), everywhere())),
}
MASK = torch.tensor([[1] * 12, [1] * 7 + [0] * 5])
both = pytest.mark.parametrize("host", HOSTS)


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
    site = Site((where,), heads=HEADS, dim=WIDTH // HEADS)
    groups = [Group(heads, bound.relation) for heads, bound in zip(vectors.heads, vectors.bound, strict=True)]
    encoding = PairwiseEncoding(site, groups, per_head=len(vectors.tables[0]) > 1, std=0.0).double()
    for mine, theirs in zip(encoding.tables, vectors.tables, strict=True):
        mine.data.copy_(theirs[None])
    x = torch.randn(2, tokens, WIDTH, dtype=torch.double, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(said(x), ours(x, Coordinates.of(text=range(tokens)), encoding))


FORMS = [Content(), ContentClass()]


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
    model = draw(put_attention(HOSTS[host](), Shaw(clip=3), form=form, absolute=False))
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
    model = put_attention(gpt2(), Pairwise(relation=relative() * window(2)), form=form, absolute=False)
    draw(model)
    layer, tokens = first_attention(model), 90
    (pairs,) = layer.class_vectors.pairs(tokens)
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
@pytest.mark.parametrize("absolute", [True, False])
def test_lengths_never_trained(host, absolute):
    model = draw(put_attention(HOSTS[host](), Shaw(clip=3), absolute=absolute))
    assert model(words(PLACES)).last_hidden_state.isfinite().all()
    if not absolute:
        assert model(words(3 * PLACES)).last_hidden_state.shape == (2, 3 * PLACES, WIDTH)


@both
def test_without_positions_of_the_host_only_the_relation_is_left(host):
    model = draw(put_attention(HOSTS[host](), Pairwise(relation=everywhere()), absolute=False))
    put_attention(model, Pairwise(relation=everywhere()), absolute=False)  # again, which changes nothing
    given_words = words(8, batch=1)
    shuffled = torch.cat([given_words[:, :7].flip(1), given_words[:, 7:]], 1)
    said, other = (states(model, w)[-1, 0, -1] for w in (given_words, shuffled))
    if host == "bert":  # a set, in whatever order; what is causal is not
        torch.testing.assert_close(said, other)
    draw(put_attention(model, Shaw(clip=3)))
    said, other = (states(model, w)[-1, 0, -1] for w in (given_words, shuffled))
    assert not torch.allclose(said, other)


def numbers(tokens):
    """Two numbers of equal length."""
    return Coordinates.of(first=range(tokens // 2), second=range(tokens // 2))


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


@both
@pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])
@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_training_lowers_the_loss_and_moves_the_vectors(host, form, dropout):
    kind, names = {
        "bert": (BertForMaskedLM, {"attention_probs_dropout_prob": dropout}),
        "gpt2": (GPT2LMHeadModel, {"attn_pdrop": dropout}),
    }[host]
    model = put_attention(HOSTS[host](kind, **names), Shaw(clip=3), form=form)
    model.float().train()
    vectors = [p for name, p in model.named_parameters() if "class_vectors" in name]
    first = [p.detach().clone() for p in vectors]
    given_words, losses = words(10, batch=4), []
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    mask = torch.ones_like(given_words)
    mask[0, 6:] = 0
    for _ in range(12):
        optimizer.zero_grad()
        loss = model(given_words, attention_mask=mask, labels=given_words).loss
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.7 * losses[0]
    assert len(vectors) == LAYERS
    assert all(not torch.equal(*pair) for pair in zip(first, vectors, strict=True))


@both
def test_gradients_are_those_of_the_open_way(host):
    """A mask for every pair forces the other path."""
    grads = []
    for mask in (MASK, MASK[:, None, None].expand(-1, 1, 12, -1).bool()):
        model = draw(put_attention(HOSTS[host](), Shaw(clip=3, per_head=True)))
        model(words(12), attention_mask=mask).last_hidden_state[MASK.bool()].square().sum().backward()
        grads.append([p.grad for p in model.parameters() if p.grad is not None])
    assert len(grads[0]) == len(grads[1]) > 2 * LAYERS
    for one, other in zip(*grads, strict=True):
        torch.testing.assert_close(one, other)


@both
def test_half_the_precision(host):
    model = draw(put_attention(HOSTS[host](), Shaw(clip=3)))
    exact = model(words(12), attention_mask=MASK).last_hidden_state
    rough = model.bfloat16()(words(12), attention_mask=MASK).last_hidden_state
    assert rough.dtype == torch.bfloat16
    assert (rough.double() - exact)[MASK.bool()].abs().mean() < 0.05


@both
def test_layers_computed_twice_to_save_memory(host):
    grads = []
    for twice in (False, True):
        model = draw(put_attention(HOSTS[host](), Shaw(clip=3))).train()
        if twice:
            model.gradient_checkpointing_enable()
        model(words(12), attention_mask=MASK).last_hidden_state.square().sum().backward()
        grads.append(first_attention(model).class_vectors.tables[0].grad)
    torch.testing.assert_close(*grads)


@pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])
def test_words_one_by_one_from_a_cache(form):
    model = draw(put_attention(gpt2(GPT2LMHeadModel), Shaw(clip=3), form=form, absolute=False))
    options = {"max_new_tokens": 8, "min_new_tokens": 8, "do_sample": False}
    mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    kept, anew = (
        model.generate(words(5), attention_mask=mask, use_cache=use, **options) for use in (True, False)
    )
    assert torch.equal(kept, anew)
    first = model(words(6), use_cache=True)
    then = model(words(9)[:, 6:], past_key_values=first.past_key_values)
    whole = model(torch.cat([words(6), words(9)[:, 6:]], 1)).logits
    torch.testing.assert_close(torch.cat([first.logits, then.logits], 1), whole)


def test_caches_that_do_not_fit():
    model = put_attention(gpt2(), Shaw(clip=3))
    with pytest.raises(
        OrdinateError, match="do not end the 12 keys: this attention needs a cache that grows"
    ):
        model(words(5), past_key_values=StaticCache(model.config, max_cache_len=12), use_cache=True)
    model = put_attention(gpt2(), Shaw(clip=3), coordinates=numbers)
    cache = model(words(4), use_cache=True).past_key_values
    with pytest.raises(OrdinateError, match=r"stand elsewhere in a sequence of 6.*write use_cache=False"):
        model(words(2), past_key_values=cache)


def test_several_texts_in_one_sequence():
    model = draw(put_attention(gpt2(), Shaw(clip=3), absolute=False))
    one, other = words(4), words(5, seed=2)
    places = torch.cat([torch.arange(4), torch.arange(5)])[None].expand(2, -1)
    packed = model(torch.cat([one, other], 1), position_ids=places, use_cache=False).last_hidden_state
    apart = [model(part, use_cache=False).last_hidden_state for part in (one, other)]
    torch.testing.assert_close(packed, torch.cat(apart, 1))


@pytest.mark.parametrize(("kind", "bare"), [(BertForMaskedLM, BertModel), (GPT2LMHeadModel, GPT2Model)])
def test_vectors_are_in_files(kind, bare, tmp_path):
    host = bert if kind is BertForMaskedLM else gpt2
    model = draw(put_attention(host(kind), Shaw(clip=3)))
    again = put_attention(host(kind, initializer_range=0.1), Shaw(clip=3))
    again.load_state_dict(model.state_dict())
    expected = model(words(9)).logits
    assert torch.equal(again(words(9)).logits, expected)
    assert torch.equal(copy.deepcopy(model)(words(9)).logits, expected)
    model.save_pretrained(tmp_path)
    opened = put_attention(kind.from_pretrained(tmp_path, dtype=torch.double), Shaw(clip=3))
    assert not torch.allclose(opened(words(9)).logits, expected)
    torch.testing.assert_close(load_class_vectors(opened, tmp_path)(words(9)).logits, expected)
    opened = put_attention(bare.from_pretrained(tmp_path, dtype=torch.double), Shaw(clip=3))
    said = load_class_vectors(opened, tmp_path)(words(9)).last_hidden_state
    torch.testing.assert_close(said, model.base_model(words(9)).last_hidden_state)


def test_files_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(OrdinateError, match=r"write put_attention\(model, \.\.\.\) first"):
        load_class_vectors(gpt2(), tmp_path)
    model = put_attention(gpt2(), Shaw(clip=3))
    with pytest.raises(OrdinateError, match=r"holds no model\.safetensors"):
        load_class_vectors(model, tmp_path)
    gpt2().save_pretrained(tmp_path)
    with pytest.raises(OrdinateError, match="save a model after put_attention"):
        load_class_vectors(model, tmp_path)
    put_attention(gpt2(), Shaw(clip=5)).save_pretrained(tmp_path)
    with pytest.raises(OrdinateError, match=r"class vectors of another encoding or model: .*size mismatch"):
        load_class_vectors(model, tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(OrdinateError, match="class vectors of another encoding or model"):
        load_class_vectors(model, tmp_path)


REFUSED = [
    (lambda: torch.nn.Linear(2, 2), Shaw(), {}, "Linear cannot take this attention: give a BERT or a GPT-2"),
    (
        lambda: DistilBertModel(DistilBertConfig(dim=8, n_heads=2, n_layers=1, hidden_dim=8, vocab_size=5)),
        Shaw(),
        {},
        "DistilBertModel cannot take this attention",
    ),
    (lambda: gpt2(add_cross_attention=True), Shaw(), {}, "write add_cross_attention=False"),
    (
        bert,
        Alibi(),
        {},
        "encoding 'alibi' has no class vectors to put into a host: write Shaw, Upe or Pairwise",
    ),
    (
        bert,
        Shaw(),
        {"form": Class()},
        r"form 'class' does not fit a host: write Content\(\) or ContentClass\(\)",
    ),
    (bert, Pairwise(relation=everywhere()), {"form": ContentClass()}, "has no classes to look for"),
    (bert, Pairwise(relation=(relative(),) * 3), {}, "3 relations for 4 heads"),
    (bert, Pairwise(relation=between("number")), {}, "there is no field 'number'"),
    (
        gpt2,
        Pairwise(relation=where(lambda q, k: q.index < k.index)),
        {},
        "leaves 'text 0' without any key at 24 tokens",
    ),
]


@pytest.mark.parametrize(("host", "encoding", "options", "message"), REFUSED)
def test_hosts_and_encodings_that_do_not_fit_are_refused(host, encoding, options, message):
    model = host()
    with pytest.raises(OrdinateError, match=message) as refusal:
        put_attention(model, encoding, **options)
    assert "\n" not in str(refusal.value)
    assert not any("class_vectors" in name for name, _ in model.named_parameters())


def test_lengths_that_do_not_fit_are_refused():
    model = put_attention(gpt2(), Shaw(), trained=6)
    model(words(6))
    with pytest.raises(OrdinateError, match=r"has no class '6 back' at 8 tokens.*write clip="):
        model(words(8))


def test_the_name_alone_is_not_enough():
    model = gpt2()
    model.set_attn_implementation("ordinate")
    with pytest.raises(OrdinateError, match="GPT2Attention has no class vectors: write put_attention"):
        model(words(3))


def test_the_example_of_the_documentation_works(tmp_path, monkeypatch):
    page = (Path(__file__).parents[2] / "docs" / "hub.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(code, names)
    assert torch.equal(
        names["again"].state_dict()[VECTORS], load_file("with-shaw/model.safetensors")[VECTORS]
    )
