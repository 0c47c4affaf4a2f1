"""Class vectors in BERT and GPT-2: training, caches, files, what does not fit."""

import pytest
import torch
from transformers import (
    BertForMaskedLM,
    DistilBertConfig,
    DistilBertModel,
    GPT2LMHeadModel,
    StaticCache,
)

from ordinate.attention import Class, ContentClass
from ordinate.encodings import Alibi, Pairwise, Shaw
from ordinate.errors import OrdinateError
from ordinate.hub import put_attention
from ordinate.relations import between, everywhere, relative, where
from tests.hub.hosts import (
    FORMS,
    PAIR,
    LAYERS,
    MASK,
    bert,
    both,
    draw,
    first_attention,
    gpt2,
    numbers,
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
    model = put_attention(PAIR[host](kind, **names), Shaw(clip=3), form=form)
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
        model = draw(put_attention(PAIR[host](), Shaw(clip=3, per_head=True)))
        model(words(12), attention_mask=mask).last_hidden_state[MASK.bool()].square().sum().backward()
        grads.append([p.grad for p in model.parameters() if p.grad is not None])
    assert len(grads[0]) == len(grads[1]) > 2 * LAYERS
    for one, other in zip(*grads, strict=True):
        torch.testing.assert_close(one, other)


@both
def test_half_the_precision(host):
    model = draw(put_attention(PAIR[host](), Shaw(clip=3)))
    exact = model(words(12), attention_mask=MASK).last_hidden_state
    rough = model.bfloat16()(words(12), attention_mask=MASK).last_hidden_state
    assert rough.dtype == torch.bfloat16
    assert (rough.double() - exact)[MASK.bool()].abs().mean() < 0.05


@both
def test_layers_computed_twice_to_save_memory(host):
    grads = []
    for twice in (False, True):
        model = draw(put_attention(PAIR[host](), Shaw(clip=3))).train()
        if twice:
            model.gradient_checkpointing_enable()
        model(words(12), attention_mask=MASK).last_hidden_state.square().sum().backward()
        grads.append(first_attention(model).class_vectors.tables[0].grad)
    torch.testing.assert_close(*grads)


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


def test_several_texts_in_one_sequence():
    model = draw(put_attention(gpt2(), Shaw(clip=3), positions="remove"))
    one, other = words(4), words(5, seed=2)
    places = torch.cat([torch.arange(4), torch.arange(5)])[None].expand(2, -1)
    packed = model(torch.cat([one, other], 1), position_ids=places, use_cache=False).last_hidden_state
    apart = [model(part, use_cache=False).last_hidden_state for part in (one, other)]
    torch.testing.assert_close(packed, torch.cat(apart, 1))


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
