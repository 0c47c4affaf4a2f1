"""Small hosts, one of every kind that is named in the documentation, and what their layers of attention are."""

from functools import cache

import pytest
import torch
import transformers
from transformers import BertModel, GPT2Model

from ordinate.attention import Content, ContentClass
from ordinate.coordinates import Coordinates
from ordinate.encodings import (
    T5,
    Alibi,
    Fire,
    KerpleLog,
    KerplePower,
    NoPosition,
    Pairwise,
    Rope,
    RpeLin,
    RpeLog,
    Shaw,
    Upe,
)
from ordinate.hub.hosts import find_stacks
from ordinate.relations import everywhere, relative, window

WORDS, WIDTH, HEADS, LAYERS, PLACES = 13, 16, 4, 2, 24

IDS = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
SIZES = {"vocab_size": WORDS, "hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS}
BERTS = SIZES | {
    "intermediate_size": WIDTH,
    "max_position_embeddings": PLACES,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "pad_token_id": 0,
}
LLAMAS = (
    SIZES | IDS | {"intermediate_size": WIDTH, "max_position_embeddings": PLACES, "num_key_value_heads": 2}
)

NAMED = {
    "gpt2": (
        "GPT2",
        IDS
        | {"vocab_size": WORDS, "n_embd": WIDTH, "n_layer": LAYERS, "n_head": HEADS, "n_positions": PLACES}
        | {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0},
    ),
    "bert": ("Bert", BERTS),
    "roberta": ("Roberta", BERTS),
    "distilbert": (
        "DistilBert",
        {"vocab_size": WORDS, "dim": WIDTH, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": WIDTH}
        | {"max_position_embeddings": PLACES, "dropout": 0.0, "attention_dropout": 0.0, "pad_token_id": 0},
    ),
    "electra": ("Electra", BERTS | {"embedding_size": WIDTH}),
    "llama": ("Llama", LLAMAS),
    "mistral": ("Mistral", LLAMAS | {"sliding_window": None}),
    "qwen2": ("Qwen2", LLAMAS),
    "qwen3": ("Qwen3", LLAMAS | {"head_dim": 6}),
    "gemma3": (
        "Gemma3Text",
        LLAMAS
        | {"head_dim": 4, "query_pre_attn_scalar": 4, "sliding_window": 5}
        | {"layer_types": ["sliding_attention", "full_attention"]},
    ),
    "phi3": ("Phi3", LLAMAS),
    "olmo2": ("Olmo2", LLAMAS),
    "gpt-neox": (
        "GPTNeoX",
        {name: value for name, value in LLAMAS.items() if name != "num_key_value_heads"},
    ),
    "smollm3": ("SmolLM3", LLAMAS | {"no_rope_layers": [1, 0]}),
    "inkling": (
        "InklingText",
        LLAMAS
        | {"head_dim": 4, "swa_num_attention_heads": HEADS, "swa_num_key_value_heads": 1, "swa_head_dim": 6}
        | {"d_rel": 3, "rel_extent": 7, "sliding_window_size": 5, "logits_mup_width_multiplier": 1.0}
        | {"layer_types": ["hybrid_sliding", "hybrid"], "mlp_layer_types": ["dense", "dense"]},
    ),
    "t5": (
        "T5",
        {"vocab_size": WORDS, "d_model": WIDTH, "d_kv": 4, "d_ff": WIDTH, "num_layers": LAYERS}
        | {"num_heads": HEADS, "dropout_rate": 0.0, "relative_attention_num_buckets": 8}
        | {"relative_attention_max_distance": 12, "decoder_start_token_id": 0, "pad_token_id": 0},
    ),
}
"""The class of their config, without `Config`, and the arguments of it."""

BOTH_WAYS = ("bert", "roberta", "distilbert", "electra")
BACK = (
    "gpt2",
    "llama",
    "mistral",
    "qwen2",
    "qwen3",
    "gemma3",
    "phi3",
    "olmo2",
    "gpt-neox",
    "smollm3",
    "inkling",
)

ENCODINGS = {
    "none": NoPosition(),
    "t5": T5(buckets=8, furthest=6, std=1.0),
    "alibi": Alibi(),
    "kerple-log": KerpleLog(),
    "kerple-power": KerplePower(),
    "fire": Fire(hidden=4, threshold=4.0),
    "rpe-lin": RpeLin(),
    "rpe-log": RpeLog(shift=1),
    "rope": Rope(),
    "rope, base 100": Rope(base=100.0),
    "shaw": Shaw(clip=3, std=1.0),
    "upe": Upe(fields=("text",), std=1.0),
    "pairwise": Pairwise(relation=(relative(clip=2) * window(4, 4), everywhere()), std=1.0),
}
"""One of every kind that a host takes."""


def host(name, kind="Model", **changes):
    """A host in double precision, with weights large enough to matter."""
    prefix, options = NAMED[name]
    config = getattr(transformers, f"{prefix}Config")(**options | changes, attn_implementation="eager")
    torch.manual_seed(0)
    model = _kind(prefix, kind)(config).double().eval()
    torch.manual_seed(1)  # the same weights under every head
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.3)
    return model


def _kind(prefix, kind):
    names = [f"{prefix}{kind}", f"{prefix.removesuffix('Text')}{kind}"]
    return next(getattr(transformers, name) for name in names if hasattr(transformers, name))


def bert(kind=BertModel, **changes):
    return host("bert", kind.__name__.removeprefix("Bert"), **changes)


def gpt2(kind=GPT2Model, **changes):
    return host("gpt2", kind.__name__.removeprefix("GPT2"), **changes)


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
    """What every layer says; of an encoder and a decoder, which read the same, the decoder."""
    if model.config.is_encoder_decoder:
        mask = options.get("attention_mask")
        options |= {"decoder_input_ids": args[0], "decoder_attention_mask": mask}
        found = model(*args, output_hidden_states=True, use_cache=False, **options).decoder_hidden_states
    else:
        found = model(*args, output_hidden_states=True, use_cache=False, **options).hidden_states
    return torch.stack(found[1:])


def layers(model):
    return [layer for stack in find_stacks(model)[0] for layer in stack.layers]


def first_attention(model):
    return layers(model)[0]


@cache
def numbers(tokens):
    """Two numbers of equal length."""
    return Coordinates.of(first=range(tokens // 2), second=range(tokens // 2))


FORMS = [Content(), ContentClass()]
MASK = torch.tensor([[1] * 12, [1] * 7 + [0] * 5])
HOSTS = {"bert": bert, "gpt2": gpt2}
both = pytest.mark.parametrize("host", HOSTS)
