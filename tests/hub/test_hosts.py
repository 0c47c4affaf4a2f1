"""Every host that the documentation names: the same numbers as slow formulas, and without positions a set."""

import pytest
import torch
import transformers
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from ordinate.attention import ContentClass
from ordinate.coordinates import Coordinates
from ordinate.encodings import Alibi, Fire, NoPosition, Pairwise, Rope, Shaw, Upe
from ordinate.hub import put_attention
from ordinate.relations import relative, window
from tests.hub.hosts import (
    BOTH_WAYS,
    ENCODINGS,
    HEADS,
    IDS,
    LLAMAS,
    NAMED,
    SIZES,
    WIDTH,
    host,
    layers,
    states,
    words,
)

every_host = pytest.mark.parametrize("name", NAMED)
MASK = torch.tensor([[1] * 10, [1] * 6 + [0] * 4])


def turned(x, base):
    """RoPE by complex numbers."""
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[2])[:, None] * base ** (-torch.arange(half, dtype=x.dtype) / half)
    spun = torch.complex(x[..., :half], x[..., half : 2 * half]) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([spun.real, spun.imag, x[..., 2 * half :]], -1)


def reference(module, query, key, value, mask, scaling=None, dropout=0.0, position_bias=None, **_):
    """Attention as it is written down, every pair with a vector of its own."""
    copies = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(copies, 1), value.repeat_interleave(copies, 1)
    seat, vectors = module.seat, getattr(module, "class_vectors", None)
    where = Coordinates.of(text=range(key.shape[2]))
    if isinstance(seat.encoding, Rope):
        query, key = turned(query, seat.encoding.base), turned(key, seat.encoding.base)
    by_pair = key[:, :, None].expand(-1, -1, query.shape[2], -1, -1)
    absent = torch.zeros(1, dtype=torch.bool)
    if vectors is not None:
        own, tables, none = [], iter(vectors.tables), []
        for heads, bound in zip(vectors.heads, vectors.bound, strict=True):
            classes = bound.pattern(where).dense
            table = next(tables) if bound.classes else torch.zeros(1, 1, query.shape[-1])
            table = torch.cat([table, torch.zeros(len(table), 1, table.shape[-1])], 1).to(query.dtype)
            own.append(
                table.expand(heads, -1, -1)[:, classes.clamp(min=0).where(classes >= 0, torch.tensor(-1))]
            )
            none.append((classes < 0).expand(heads, -1, -1))
        by_pair = by_pair * vectors.content + torch.cat(own)
        absent = torch.cat(none)
    scores = torch.einsum("bhid,bhijd->bhij", query, by_pair) * scaling
    bias = seat.encoding.bias(where, seat.layer)
    scores = scores if bias is None else scores + bias
    scores = scores + position_bias if seat.keep and position_bias is not None else scores
    scores = (scores if mask is None else scores + mask).masked_fill(absent, float("-inf"))
    mixed = torch.einsum("bhij,bhjd->bihd", scores.softmax(-1), value)
    return mixed, None


AttentionInterface.register("reference", reference)
AttentionMaskInterface.register("reference", eager_mask)


def assert_is_the_formula(model, mask=None, tokens=10):
    real = torch.ones(2, tokens, dtype=torch.bool) if mask is None else mask.bool()
    found = states(model, words(tokens), attention_mask=mask)
    model.set_attn_implementation("reference")
    expected = states(model, words(tokens), attention_mask=mask)
    model.set_attn_implementation("ordinate")
    torch.testing.assert_close(found[:, real], expected[:, real])


SOME = ("t5", "rope", "upe", "pairwise")


@every_host
def test_with_nothing_put_in_a_host_says_what_it_said(name):
    model, given = host(name), words(10)
    before = states(model, given, attention_mask=MASK)
    after = states(put_attention(model, NoPosition()), given, attention_mask=MASK)
    torch.testing.assert_close(after[:, MASK.bool()], before[:, MASK.bool()], atol=1e-5, rtol=1e-5)


@every_host
@pytest.mark.parametrize("positions", ["keep", "remove"])
def test_a_host_is_the_formula(name, positions):
    encoding = ENCODINGS[SOME[list(NAMED).index(name) % len(SOME)]]
    model = put_attention(host(name), encoding, positions=positions)
    assert_is_the_formula(model)
    assert_is_the_formula(model, MASK)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", ["gemma3", "bert"])
def test_an_encoding_is_the_formula(name, encoding):
    assert_is_the_formula(put_attention(host(name), ENCODINGS[encoding], positions="remove"), MASK)


@pytest.mark.parametrize("name", ["llama", "electra", "t5", "inkling"])
def test_class_vectors_without_keys_are_the_formula(name):
    relation = relative(clip=2) * window(4, 4)
    model = put_attention(host(name), Pairwise(relation=relation, std=1.0), form=ContentClass())
    assert_is_the_formula(model, MASK)


@every_host
def test_without_positions_a_host_reads_a_set(name):
    """Both ways, a permutation of tokens is one of outputs; back, one layer gives the last token the same."""
    one = (
        {"num_layers": 1}
        if name == "t5"
        else {"n_layers" if name == "distilbert" else "num_hidden_layers": 1}
    )
    one |= {"layer_types": ["full_attention"]} if name == "gemma3" else {}
    one |= {"layer_types": ["hybrid"], "mlp_layer_types": ["dense"]} if name == "inkling" else {}
    one |= {"no_rope_layers": [1]} if name == "smollm3" else {}
    given = words(8, batch=1)
    order = torch.tensor([3, 0, 5, 6, 1, 4, 2, 7])
    for positions in ("keep", "remove"):
        model = put_attention(host(name, **one), NoPosition(), positions=positions)
        for part, parameter in model.named_parameters():
            if "sconv" in part:  # Inkling's convolutions see the order of neighbours, whatever attention does
                parameter.data.zero_()
        said, other = (states(model, x)[-1, 0] for x in (given, given[:, order]))
        alike = slice(None) if name in BOTH_WAYS else slice(7, None)
        assert torch.allclose(said[order][alike], other[alike], atol=1e-5) == (positions == "remove")


@every_host
def test_the_relation_is_all_that_tells_places_apart(name):
    model = put_attention(host(name), Shaw(clip=3, std=1.0), positions="remove")
    given = words(8, batch=1)
    said, other = (states(model, x)[-1, 0, -1] for x in (given, given[:, [3, 0, 5, 6, 1, 4, 2, 7]]))
    assert not torch.allclose(said, other, atol=1e-3)


@every_host
def test_any_length_can_be_read_without_positions(name):
    model = put_attention(host(name), Alibi(), positions="remove")
    assert states(model, words(60)).isfinite().all()


PLACED = {"fire": Fire(hidden=4, threshold=4.0), "upe": Upe(fields=("text",), std=1.0), "rope": Rope()}


@every_host
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("encoding", PLACED)
def test_places_are_counted_from_the_first_real_token(name, side, encoding):
    """Also where scores depend on places themselves, as those of FIRE do."""
    model = put_attention(host(name), PLACED[encoding], positions="remove")
    given, filled = words(7), torch.zeros(2, 3, dtype=torch.long)
    given[1, :2] = filled[1, :2] = 0  # the second one is shorter
    there = (given > 0).long()
    parts = (
        ([filled, given], [0 * filled, there]) if side == "left" else ([given, filled], [there, 0 * filled])
    )
    padded = states(model, torch.cat(parts[0], 1), attention_mask=torch.cat(parts[1], 1))
    assert padded.isfinite().all()
    first = 3 if side == "left" else 0
    for row, begins in ((0, 0), (1, 2)):
        alone = states(model, given[row : row + 1, begins:])
        if name != "inkling":  # convolutions read what padding left behind
            found = padded[:, row : row + 1, first + begins : first + 7]
            torch.testing.assert_close(found, alone, atol=2e-5, rtol=2e-5)


@every_host
def test_gradients_reach_every_parameter_and_are_those_of_the_formula(name):
    encoding = ENCODINGS[("fire", "shaw", "kerple-log", "t5")[list(NAMED).index(name) % 4]]
    model = put_attention(host(name), encoding, positions="remove")
    grads = []
    for way in ("ordinate", "reference"):
        model.set_attn_implementation(way)
        model.zero_grad()
        states(model, words(10), attention_mask=MASK)[:, MASK.bool()].square().sum().backward()
        grads.append({part: p.grad for part, p in model.named_parameters() if p.grad is not None})
    own = [part for part in grads[0] if "encodings" in part or "class_vectors" in part]
    put_in = [part for part, _ in model.named_parameters() if "encodings" in part or "class_vectors" in part]
    assert own == put_in
    assert own
    for part, grad in grads[0].items():
        torch.testing.assert_close(grad, grads[1][part], atol=1e-5, rtol=1e-4)


@every_host
def test_layers_computed_twice_to_save_memory(name):
    grads = []
    for twice in (False, True):
        model = put_attention(host(name), ENCODINGS["t5"], positions="remove").train()
        if twice:
            model.gradient_checkpointing_enable()
        states(model, words(9)).square().sum().backward()
        grads.append([p.grad for part, p in model.named_parameters() if "encodings" in part])
    assert grads[0]
    torch.testing.assert_close(*grads)


@every_host
def test_half_the_precision(name):
    model = put_attention(host(name), Shaw(clip=3), positions="remove")
    exact = states(model, words(10), attention_mask=MASK)[-1]
    rough = states(model.bfloat16(), words(10), attention_mask=MASK)[-1]
    assert rough.dtype == torch.bfloat16
    away = (rough.double() - exact)[MASK.bool()].abs().mean() / exact[MASK.bool()].abs().mean()
    assert away < 0.05


@every_host
def test_a_sample_of_nothing_but_padding_spoils_nothing(name):
    mask = MASK.clone()
    mask[1] = 0
    for encoding in (ENCODINGS["shaw"], ENCODINGS["t5"]):
        model = put_attention(host(name), encoding, positions="remove")
        said = states(model, words(10), attention_mask=mask)
        said.square().sum().backward()
        assert said.isfinite().all()
        assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_the_size_of_heads_is_that_of_the_layer():
    model = put_attention(host("inkling"), Shaw(clip=2), positions="remove")
    shapes = [tuple(layer.class_vectors.tables[0].shape) for layer in layers(model)]
    assert shapes == [(1, 3, 6), (1, 3, 4)]


def unlisted():
    small = SIZES | {"intermediate_size": WIDTH, "attn_implementation": "eager"}
    back = LLAMAS | {"attn_implementation": "eager"}
    special = {"cls_token_id": 0, "sep_token_id": 0}
    latent = {
        "q_lora_rank": 4,
        "kv_lora_rank": 4,
        "qk_rope_head_dim": 2,
        "qk_nope_head_dim": 2,
        "v_head_dim": 4,
    }
    experts = {"n_routed_experts": 2, "num_experts_per_tok": 1, "n_group": 1, "topk_group": 1}
    chunks = {
        "head_dim": 4,
        "intermediate_size_mlp": WIDTH,
        "num_local_experts": 1,
        "attention_chunk_size": 4,
    }
    return {
        "ModernBert": small | IDS | special | {"local_attention": 4, "global_attn_every_n_layers": 2},
        "Albert": small | {"embedding_size": WIDTH, "pad_token_id": 0},
        "Mistral": back | {"sliding_window": 4},
        "Cohere": back,
        "Llama4Text": back | chunks,
        "DeepseekV3": back | latent | experts | {"num_key_value_heads": HEADS, "first_k_dense_replace": 2},
    }


@pytest.mark.parametrize("name", unlisted())
def test_hosts_that_are_in_no_list(name):
    """Windows on both sides, chunks, rotations of neighbours, heads of several parts: they are what they were."""
    config = getattr(transformers, f"{name}Config")(**unlisted()[name])
    torch.manual_seed(0)
    kind = getattr(transformers, f"{name}Model")
    model, left = kind(config).eval(), MASK.flip(1)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.3)
    before = states(model, words(10), attention_mask=left)
    after = states(put_attention(model, NoPosition()), words(10), attention_mask=left)
    torch.testing.assert_close(after[:, left.bool()], before[:, left.bool()], atol=1e-5, rtol=1e-5)
    put_attention(model, Upe(fields=("text",), std=1.0), positions="remove")
    padded = states(model, words(10), attention_mask=left)[:, 1, 4:]
    alone = states(model, words(10)[1:, 4:])[:, 0]
    torch.testing.assert_close(padded, alone, atol=1e-5, rtol=1e-5)
