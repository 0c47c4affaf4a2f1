"""Encodings in hosts at work: training, caches, padding, masks, and what does not fit."""

import copy

import pytest
import torch
import transformers
from transformers import BertForMaskedLM, GPT2LMHeadModel, StaticCache

from ordinate.attention import Class, ContentClass
from ordinate.encodings import Alibi, Dape, KerpleLog, Pairwise, Shaw, Significance, Sinusoidal
from ordinate.errors import OrdinateError
from ordinate.hub import put_attention
from ordinate.hub.attention import attention
from ordinate.relations import between, everywhere, relative, where
from tests.hub.hosts import (
    BACK,
    BERTS,
    BOTH_WAYS,
    ENCODINGS,
    FORMS,
    HEADS,
    HOSTS,
    LAYERS,
    MASK,
    NAMED,
    WORDS,
    bert,
    both,
    draw,
    first_attention,
    gpt2,
    host,
    numbers,
    states,
    words,
)


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


@pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])
def test_words_one_by_one_from_a_cache(form):
    model = draw(put_attention(gpt2(GPT2LMHeadModel), Shaw(clip=3), form=form, positions="remove"))
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
    with pytest.raises(
        OrdinateError, match=r"have other coordinates in a sequence of 6.*write use_cache=False"
    ):
        model(words(2), past_key_values=cache)


LONG = {"max_new_tokens": 8, "min_new_tokens": 8, "do_sample": False} | {
    "return_dict_in_generate": True,
    "output_logits": True,
}
CACHED = {name: ("fire", "shaw", "rope", "upe", "t5")[place % 5] for place, name in enumerate((*BACK, "t5"))}


@pytest.mark.parametrize("positions", ["keep", "remove"])
@pytest.mark.parametrize("name", CACHED)
def test_generation_with_a_cache_and_padding_is_that_without(name, positions):
    """Also where a sliding window has dropped keys from the cache, as in Gemma and Inkling."""
    kind = {"gpt2": "LMHeadModel", "t5": "ForConditionalGeneration"}.get(name, "ForCausalLM")
    model, given = put_attention(host(name, kind), ENCODINGS[CACHED[name]], positions=positions), words(6)
    padding, there = torch.zeros(2, 3, dtype=torch.long), torch.ones_like(given)
    mask = torch.cat([padding, there], 1)
    anew = model.generate(given, attention_mask=there, use_cache=False, **LONG)
    kept = model.generate(given, attention_mask=there, use_cache=True, **LONG)
    padded = model.generate(torch.cat([padding, given], 1), attention_mask=mask, use_cache=True, **LONG)
    for other in (kept, padded):
        assert torch.equal(other.sequences[:, -8:], anew.sequences[:, -8:])
        torch.testing.assert_close(torch.stack(other.logits), torch.stack(anew.logits), atol=1e-5, rtol=1e-5)


def test_samples_of_a_batch_may_be_padded_differently():
    model = put_attention(host("llama", "ForCausalLM"), ENCODINGS["fire"], positions="remove")
    given, mask = words(6), torch.tensor([[1] * 6, [0, 0, 0, 1, 1, 1]])
    together = model.generate(given, attention_mask=mask, **LONG)
    for row, first in ((0, 0), (1, 3)):
        there = torch.ones(1, 6 - first, dtype=torch.long)
        alone = model.generate(given[row : row + 1, first:], attention_mask=there, **LONG)
        found = torch.stack(together.logits)[:, row : row + 1]
        torch.testing.assert_close(found, torch.stack(alone.logits), atol=1e-5, rtol=1e-5)


PACKED = {name: ("fire", "shaw", "rope", "upe", "t5")[place % 5] for place, name in enumerate(BACK[:-1])}


@pytest.mark.parametrize("name", PACKED)
def test_several_texts_in_one_sequence(name):
    model = put_attention(host(name), ENCODINGS[PACKED[name]], positions="remove")
    one, other = words(4), words(7, seed=2)
    places = torch.cat([torch.arange(4), torch.arange(7)])[None].expand(2, -1)
    packed = states(model, torch.cat([one, other], 1), position_ids=places)
    apart = [states(model, part) for part in (one, other)]
    torch.testing.assert_close(packed, torch.cat(apart, 2), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", NAMED)
def test_twenty_steps_lower_the_loss(name, tmp_path):
    """With dropout. `Trainer` needs accelerate, which `tests/slow/test_hub.py` installs for itself."""
    rates = {"gpt2": "attn_pdrop", "distilbert": "attention_dropout", "t5": "dropout_rate"}
    rate = rates.get(name, "attention_probs_dropout_prob" if name in BOTH_WAYS else "attention_dropout")
    kind = {"gpt2": "LMHeadModel", "t5": "ForConditionalGeneration"}.get(name, "ForCausalLM")
    kind = "ForMaskedLM" if name in BOTH_WAYS else kind
    encoding = ENCODINGS[("kerple-log", "upe", "rope", "fire")[list(NAMED).index(name) % 4]]
    model = put_attention(host(name, kind, **{rate: 0.1}), encoding, positions="remove").float().train()
    own = [p for part, p in model.named_parameters() if "class_vectors" in part or "encodings" in part]
    first = [p.detach().clone() for p in own]
    given, losses = words(10, batch=4), []
    mask = torch.ones_like(given)
    mask[0, 6:] = 0
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(20):
        optimizer.zero_grad()
        loss = model(given, attention_mask=mask, labels=given).loss
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert sum(losses[-3:]) < 0.9 * sum(losses[:3])
    assert all(not torch.equal(*pair) for pair in zip(first, own, strict=True))


def heads(groups=2, tokens=6, width=4):
    generator = torch.Generator().manual_seed(0)
    shapes = (HEADS, groups, groups)
    return [torch.randn(2, n, tokens, width, generator=generator, requires_grad=True) for n in shapes]


def in_numbers(mask, low):
    return torch.zeros(mask.shape).masked_fill(~mask, low)


MASKS = {
    "true and false": lambda mask: mask,
    "minus infinity": lambda mask: in_numbers(mask, float("-inf")),
    "the lowest number": lambda mask: in_numbers(mask, torch.finfo(torch.float32).min),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("encoding", ["none", "fire", "rope", "pairwise", "shaw"])
def test_a_query_without_any_key_receives_nothing(encoding, dropout, mask):
    model = put_attention(host("llama").float(), ENCODINGS[encoding], positions="remove")
    seen = torch.ones(2, 1, 6, 6, dtype=torch.bool).tril()
    seen[0, 0, 2] = seen[1, 0, 5] = False
    for given in (MASKS[mask](seen), seen[:, :, :1] & torch.tensor([[[[False]]], [[[True]]]])):
        query, key, value = heads()
        mixed, _ = attention(first_attention(model), query, key, value, given, 0.5, dropout)
        none = ~seen.any(-1)[:, 0] if given.shape[2] > 1 else torch.tensor([[True] * 6, [False] * 6])
        assert not mixed[none].any()
        mixed.square().sum().backward()
        assert not query.grad.transpose(1, 2)[none].any()
        assert all(x.grad.isfinite().all() for x in (query, key, value))
        assert mixed[~none].any()


def test_numbers_that_are_not_finite_stay_where_they_are():
    for encoding in ("shaw", "pairwise"):
        layer = first_attention(put_attention(host("llama").float(), ENCODINGS[encoding], positions="remove"))
        query, key, value = (x.detach() for x in heads())
        expected, _ = attention(layer, query, key, value, None)
        value[:, :, 5], key[:, :, 5] = float("nan"), float("inf")
        found, _ = attention(layer, query, key, value, torch.ones(2, 1, 6, 6, dtype=torch.bool).tril())
        assert found[:, 5].isnan().all()
        torch.testing.assert_close(found[:, :5], expected[:, :5])


@pytest.mark.parametrize("encoding", ["shaw", "t5"])
def test_a_mask_of_ones_own_is_obeyed(encoding):
    """A causal host with a mask of four axes: what it forbids is not seen."""
    model = put_attention(host("llama"), ENCODINGS[encoding], positions="remove")
    mask = torch.ones(2, 1, 8, 8, dtype=torch.bool).tril()
    mask[..., 2] = False
    mask[..., 2, 2] = True
    other = words(8)
    other[:, 2] = other[:, 2] % (WORDS - 1) + 1
    said, after = (states(model, x, attention_mask=mask)[..., :, :] for x in (words(8), other))
    kept = [0, 1, 3, 4, 5, 6, 7]
    assert torch.equal(said[:, :, kept], after[:, :, kept])


def test_a_bias_of_the_host_is_added_unless_it_is_removed():
    query, key, value = (x.detach() for x in heads(groups=HEADS))
    bias = torch.randn(1, HEADS, 6, 6)
    for encoding in ("shaw", "t5", "rope"):
        kept, removed = (
            first_attention(put_attention(host("t5").float(), ENCODINGS[encoding], positions=positions))
            for positions in ("keep", "remove")
        )
        alone, _ = attention(kept, query, key, value, None, 1.0)
        found, _ = attention(kept, query, key, value, None, 1.0, position_bias=bias)
        by_mask, _ = attention(kept, query, key, value, bias, 1.0)
        torch.testing.assert_close(found, by_mask)
        assert not torch.allclose(found, alone)
        without = [attention(removed, query, key, value, None, 1.0, position_bias=b)[0] for b in (None, bias)]
        assert torch.equal(*without)


def of(name, **changes):
    """Another model, by the name of its class."""
    kind = getattr(transformers, name)
    return lambda: kind(kind.config_class(**BERTS | changes))


def clip():
    small = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    picture = small | {"image_size": 8, "patch_size": 4}
    return transformers.CLIPModel(transformers.CLIPConfig(text_config=small, vision_config=picture))


GROUPED = {"num_key_value_heads": 2, "head_dim": 4}
REFUSED = [
    (lambda: torch.nn.Linear(2, 2), Shaw(), {}, "Linear cannot take this attention: give a model of transf"),
    *(
        (
            of(name),
            Alibi(),
            {},
            f"{name} cannot take this attention: no layer of it calls the attention interf",
        )
        for name in ("DebertaV2Model", "RoFormerModel", "BloomModel", "MptModel")
    ),
    (
        of("Gemma2Model", **GROUPED),
        Shaw(clip=2),
        {},
        r"Gemma2Attention hands softcapping of scores \(softcap\)",
    ),
    (
        of("GptOssModel", **GROUPED, num_local_experts=2, num_experts_per_tok=1),
        Alibi(),
        {},
        r"GptOssAttention hands attention sinks \(s_aux\) to its attention, .* give a host without",
    ),
    (clip, Alibi(), {}, r"several Transformers, .* as put_attention\(model.text_model, \.\.\.\)"),
    (of("ViTModel"), Alibi(), {"positions": "remove"}, "cannot be taken away: write positions='keep'"),
    (lambda: gpt2(add_cross_attention=True), Shaw(), {}, "write add_cross_attention=False"),
    (bert, Shaw(), {"positions": "none"}, "positions = 'none' is not known: write 'keep' or 'remove'"),
    (bert, Dape(), {}, "encoding 'dape' reads the scores of all pairs, .*: write one that enters the scores"),
    (bert, Sinusoidal(), {}, "encoding 'sinusoidal' puts positions into tokens, not into their attention"),
    (bert, Significance(fields=("text",)), {}, "encoding 'significance' puts positions into tokens"),
    (bert, Alibi(), {"form": ContentClass()}, "encoding 'alibi' has no classes to look for: write Shaw"),
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


@pytest.mark.parametrize(("make", "encoding", "options", "message"), REFUSED)
def test_hosts_and_encodings_that_do_not_fit_are_refused(make, encoding, options, message):
    model = make()
    before = set(model.state_dict())
    with pytest.raises(OrdinateError, match=message) as refusal:
        put_attention(model, encoding, **options)
    assert "\n" not in str(refusal.value)
    assert set(model.state_dict()) == before


def test_softcapping_that_is_off_is_no_reason():
    model = put_attention(of("Gemma2Model", **GROUPED, attn_logit_softcapping=None)(), Shaw(clip=2))
    assert model(words(5)).last_hidden_state.isfinite().all()


CALLED = [
    ({"softcap": 2.0}, r"LlamaAttention hands softcapping of scores \(softcap\)"),
    ({"s_aux": torch.zeros(4)}, "hands attention sinks"),
    ({"is_causal": False}, "is_causal=False comes too late: write it into the config before put_attention"),
    (
        {"attention_mask": torch.ones(2, 1, 6, 5).bool()},
        r"mask has the shape \[2, 1, 6, 5\]: give \[batch, token\]",
    ),
    ({"attention_mask": torch.ones(2, 6).bool()}, r"mask has the shape \[2, 6\]: .* or \[2, 4, 6, 6\]"),
    ({"attention_mask": torch.ones(2, 1, 6, 6).long()}, "write mask.bool"),
    ({"query": torch.zeros(2, 3, 6, 4)}, "has 3 heads of queries, and 4 were counted"),
    ({"query": torch.zeros(2, 4, 6, 2), "key": torch.zeros(2, 2, 6, 2)}, "queries are 2 wide, and class vec"),
]


@pytest.mark.parametrize(("given", "message"), CALLED)
def test_what_would_be_lost_or_does_not_fit_is_refused_when_it_comes(given, message):
    layer = first_attention(put_attention(host("llama").float(), Shaw(clip=2)))
    query, key, value = heads()
    options = {"query": query, "key": key, "value": value, "attention_mask": None} | given
    with pytest.raises(OrdinateError, match=message) as refusal:
        attention(layer, **options)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", ["bert", "llama", "t5"])
@pytest.mark.parametrize("shape", [(2, 5), (2, 7), (1, 6)])
def test_a_mask_for_other_tokens_is_refused(name, shape):
    model = put_attention(host(name), Alibi())
    with pytest.raises(
        OrdinateError, match=r"mask has the shape .*: give \[(2, 6\], a number|batch, token\])"
    ):
        states(model, words(6), attention_mask=torch.ones(shape, dtype=torch.long))


def test_lengths_that_do_not_fit_are_refused():
    model = put_attention(gpt2(), Shaw(), trained=6)
    model(words(6))
    with pytest.raises(OrdinateError, match=r"has no class '6 back' at 8 tokens.*write clip="):
        model(words(8))


def test_a_cache_up_to_the_last_class_that_was_trained():
    model = put_attention(gpt2(GPT2LMHeadModel), Shaw(std=1.0), positions="remove", trained=9)
    options = {"attention_mask": torch.ones(2, 5, dtype=torch.long), "do_sample": False}
    kept, anew = (
        model.generate(words(5), use_cache=use, max_length=9, min_length=9, **options)
        for use in (True, False)
    )
    assert torch.equal(kept, anew)
    with pytest.raises(OrdinateError, match=r"has no class '9 back' at 10 tokens"):
        model.generate(words(5), max_length=11, min_length=11, **options)


def test_the_name_alone_is_not_enough():
    model = gpt2()
    model.set_attn_implementation("ordinate")
    with pytest.raises(OrdinateError, match="GPT2Attention has no encoding of ours: write put_attention"):
        model(words(3))


def test_another_encoding_takes_the_place_of_the_first():
    model = put_attention(host("llama"), Alibi())
    put_attention(model, Shaw(clip=2))
    assert not any("encodings" in name for name, _ in model.named_modules())
    put_attention(model, KerpleLog())
    assert not any("class_vectors" in name for name, _ in model.named_parameters())
    again = put_attention(host("llama"), KerpleLog())
    again.load_state_dict(model.state_dict())
    assert torch.equal(states(model, words(5)), states(again, words(5)))


def test_a_copy_has_parameters_of_its_own():
    model = put_attention(host("llama"), KerpleLog())
    twin, said = copy.deepcopy(model), states(model, words(5))
    twin.encodings[0].scale.data += 1
    assert torch.equal(states(model, words(5)), said)
    assert not torch.equal(states(twin, words(5)), said)
