"""Small BERTs and GPT-2s to put class vectors into."""

import pytest
import torch
from transformers import (
    BertConfig,
    BertModel,
    GPT2Config,
    GPT2Model,
)

from ordinate.attention import Content, ContentClass
from ordinate.coordinates import Coordinates

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
FORMS = [Content(), ContentClass()]
MASK = torch.tensor([[1] * 12, [1] * 7 + [0] * 5])
both = pytest.mark.parametrize("host", HOSTS)


def numbers(tokens):
    """Two numbers of equal length."""
    return Coordinates.of(first=range(tokens // 2), second=range(tokens // 2))
