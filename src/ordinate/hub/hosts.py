"""Models of `transformers` as hosts: their layers of attention, and what differs between them.

Layers are found by what they do, not by their class: their `forward` calls the attention interface of `transformers`.
What differs are names: those of heads and widths, and where a host keeps its positions.
"""

import inspect
import re
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from typing_extensions import override

from ordinate.errors import OrdinateError

INTERFACE = "ALL_ATTENTION_FUNCTIONS"
"""By this name `transformers` looks up the function of a layer."""

HEADS = ("num_heads", "num_attention_heads", "n_heads")
WIDTHS = ("qk_head_dim", "head_dim", "attention_head_size", "head_size", "key_value_proj_dim")
"""What layers call the number of their heads, and the width of a query in one of them; else their config says it."""

TABLES = ("wpe", "position_embeddings", "embed_positions", "position_embedding")
"""What hosts call their learned vectors of positions."""

CROSS = re.compile("cross|encdec|encoder_attn", re.IGNORECASE)
"""In the names of layers that look at the tokens of another sequence."""

UNDERSTOOD = {
    "dropout",
    "scaling",
    "position_bias",
    "is_causal",
    "sliding_window",  # is in the mask
    "position_ids",  # are in the mask
    "output_attentions",
    "use_cache",
    "hidden_states",
    "deterministic",
}
"""What a layer may hand to the interface."""

CALLED = {"s_aux": "attention sinks", "sinks": "attention sinks", "softcap": "softcapping of scores"}


@dataclass(eq=False)
class Stack:
    """Layers of self-attention that read one sequence, and the `PreTrainedModel` that owns them."""

    owner: Any
    layers: list[nn.Module]

    @property
    def causal(self) -> bool:
        """Whether tokens look back only, as `transformers` decides it where there is no mask."""
        return all(
            getattr(layer, "is_causal", True) and getattr(config_of(layer), "is_causal", True)
            for layer in self.layers
        )


def config_of(layer: nn.Module) -> Any:
    """The config of a layer, which names its attention."""
    return getattr(layer, "config", None)


def find_stacks(model: nn.Module) -> tuple[list[Stack], list[nn.Module]]:
    """The stacks of a host, and its layers of cross-attention, which stay as they are."""
    name = type(model).__name__
    if not isinstance(model, PreTrainedModel):
        raise OrdinateError(
            f"{name} cannot take this attention: give a model of transformers, such as GPT-2, BERT, Llama or T5"
        )
    stacks: dict[str, Stack] = {}
    cross: list[nn.Module] = []
    owners = {path: part for path, part in model.named_modules() if isinstance(part, PreTrainedModel)}
    for path, part in model.named_modules():
        if not _calls_the_interface(type(part)):
            continue
        _refuse_kept(part)
        if CROSS.search(path):
            cross.append(part)
            continue
        owner = max((place for place in owners if _inside(path, place)), key=len)
        stacks.setdefault(owner, Stack(owners[owner], [])).layers.append(part)
    if not stacks:
        raise OrdinateError(
            f"{name} cannot take this attention: no layer of it calls the attention interface of transformers; "
            "give a host whose layers do, such as GPT-2, BERT, Llama or T5"
        )
    config: Any = model.config
    if getattr(config, "add_cross_attention", False):
        raise OrdinateError(
            "cross-attention has no relation between its tokens: write add_cross_attention=False"
        )
    if len(stacks) > 1 and not getattr(config, "is_encoder_decoder", False):
        parts = [f"model.{path}" for path in stacks]
        text = next((part for part in parts if re.search("text|language", part)), parts[-1])
        raise OrdinateError(
            f"{name} holds several Transformers, {', '.join(parts)}: give one of them, as put_attention({text}, ...)"
        )
    return list(stacks.values()), cross


def _inside(path: str, place: str) -> bool:
    return not place or path.startswith(f"{place}.")


def _calls_the_interface(kind: type[nn.Module]) -> bool:
    return INTERFACE in _source(kind)


def _source(kind: type[nn.Module]) -> str:
    """The source of a forward whose module knows the interface; nothing of any other."""
    forward = inspect.unwrap(kind.forward)
    try:
        return inspect.getsource(forward) if INTERFACE in forward.__globals__ else ""
    except (AttributeError, OSError, TypeError):
        return ""


def _handed_over(kind: type[nn.Module]) -> dict[str, str]:
    """What the forward of a layer names in its call of the interface, with what it gives."""
    call = re.search(r"attention_interface\((.*?)\n\s*\)\n", _source(kind), re.DOTALL)
    found = re.findall(r"^\s*(\w+)=(.+?),?\s*(?:#.*)?$", call[1] if call else "", re.MULTILINE)
    return {name: value for name, value in found if name not in UNDERSTOOD}


def _refuse_kept(layer: nn.Module) -> None:
    """Refuse what a layer will hand over, if it says so before."""
    for name, given in _handed_over(type(layer)).items():
        if re.fullmatch(r"self(\.\w+)+", given):
            place: Any = layer
            for part in given.split(".")[1:]:
                place = getattr(place, part, None)
            if place is not None:
                raise _dropped(layer, name)


def handed_over(layer: nn.Module) -> frozenset[str]:
    """What a layer may hand to its attention that this one does not read."""
    return frozenset({*_handed_over(type(layer)), *CALLED})


def refuse_dropped(layer: nn.Module, unread: frozenset[str], passed: dict[str, Any]) -> None:
    """Refuse what a layer hands over and nobody would read."""
    for name, given in passed.items():
        if given is not None and name in unread:
            raise _dropped(layer, name)


def _dropped(layer: nn.Module, name: str) -> OrdinateError:
    called = f"{CALLED[name]} ({name})" if name in CALLED else name
    return OrdinateError(
        f"{type(layer).__name__} hands {called} to its attention, which would be lost here: give a host without, such "
        "as Llama, or switch it off in the config"
    )


def size_of(layer: nn.Module) -> tuple[int, int]:
    """How many heads of queries a layer has, and how wide a query is in one of them."""
    config = config_of(layer)
    heads = next((getattr(layer, name) for name in HEADS if hasattr(layer, name)), None)
    heads = heads or config.num_attention_heads
    width = next((getattr(layer, name) for name in WIDTHS if hasattr(layer, name)), None)
    return int(heads), int(width or getattr(config, "head_dim", None) or config.hidden_size // heads)


class NoPositions(nn.Module):
    """In place of a table of position vectors: nothing is added, at any length."""

    @override
    def forward(self, *given: Any, **named: Any) -> Tensor:
        places = next(x for x in (*given, *named.values()) if isinstance(x, Tensor))
        return torch.zeros((), device=places.device)


class NoLogits(nn.Module):
    """In place of Inkling's logits of distance: nothing is added."""

    @override
    def forward(self, *given: Tensor) -> Tensor:
        return given[0].new_zeros(1, 1, 1, 1)


def take_positions_away(stack: Stack) -> None:
    """Learned vectors, rotations and biases of the host, wherever it has them."""
    owner = stack.owner
    if getattr(owner, "without_positions", False):
        return
    found = False
    layer: Any
    for part in list(owner.modules()):
        for name, child in list(part.named_children()):
            if name in TABLES and isinstance(child, nn.Embedding):
                setattr(part, name, NoPositions())
                if hasattr(part, "position_ids"):  # a list that ends
                    part.register_forward_pre_hook(_any_length, with_kwargs=True)
                found = True
            elif "RotaryEmbedding" in type(child).__name__:
                child.register_forward_hook(_not_turned)
                found = True
    for layer in stack.layers:
        if hasattr(layer, "has_relative_attention_bias"):
            layer.has_relative_attention_bias = False
            if hasattr(layer, "relative_attention_bias"):
                del layer.relative_attention_bias
            found = True
        if hasattr(layer, "rel_logits_proj"):
            layer.rel_logits_proj = NoLogits()
            found = True
    if not found:
        raise OrdinateError(
            f"{type(owner).__name__} keeps its positions where they cannot be taken away: write positions='keep'"
        )
    owner.without_positions = True


def _any_length(
    embeddings: nn.Module, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Some hosts number their tokens by a list that ends: give them a number for each."""
    given = inspect.signature(embeddings.forward).bind(*args, **options).arguments
    tokens = given["inputs_embeds"] if given.get("input_ids") is None else given["input_ids"]
    return (), given | {"position_ids": tokens.new_zeros(1, tokens.shape[1], dtype=torch.long)}


def _not_turned(rotary: nn.Module, args: tuple[Any, ...], output: Any) -> Any:
    """Cosines of 1 and sines of 0."""
    if isinstance(output, tuple) and len(output) == 2:
        return torch.ones_like(output[0]), torch.zeros_like(output[1])
    if isinstance(output, Tensor) and output.is_complex():
        return torch.ones_like(output)
    raise OrdinateError(
        f"{type(rotary).__name__} does not give cosines and sines, so it cannot be taken away: write positions='keep'"
    )
