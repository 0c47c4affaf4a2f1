"""Attention over classes of pairs in models of `transformers`: Shaw's keys, any relation, positional keys.

Version 5 of `transformers` ignores `position_embedding_type="relative_key"`; `put_attention(model, Shaw())` is that
attention again, and every relation besides.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import BertModel, GPT2Model
from transformers.models.bert.modeling_bert import BertSelfAttention
from transformers.models.gpt2.modeling_gpt2 import GPT2Attention
from typing_extensions import override

from ordinate.attention import Content, ContentClass, Form
from ordinate.coordinates import Coordinates
from ordinate.encodings import (
    ENCODINGS,
    BuildSpec,
    ClassVectorEncoding,
    Encoding,
    EncodingSettings,
    Pairwise,
    Shaw,
    Upe,
)
from ordinate.encodings.class_vectors import Group
from ordinate.errors import OrdinateError
from ordinate.hub.entry import Entry, digest
from ordinate.hub.interface import NAME, ClassVectors, Standing
from ordinate.kinds import choose
from ordinate.relations import causal

Host = TypeVar("Host", bound=nn.Module)


def in_a_row(tokens: int) -> Coordinates:
    """Tokens of one text, one after another: where they stand unless something else is said."""
    return Coordinates.of(text=range(tokens))


def put_attention(
    model: Host,
    encoding: Encoding | EncodingSettings,
    *,
    coordinates: Callable[[int], Coordinates] = in_a_row,
    form: Form | None = None,
    absolute: bool = True,
    trained: int | None = None,
) -> Host:
    """Let every self-attention layer of a BERT or a GPT-2 look at classes of pairs, with vectors of its own.

    The vectors are parameters of the layers, `class_vectors.tables`: they train and are saved with the model, which
    `ordinate.hub.load` opens. Weights of the host stay as they are. In a host that looks back only, so does the
    relation. The model is returned, with a config of its own, which says what was put in.

    `encoding`: `Shaw`, `Upe` or `Pairwise`, whose vectors are drawn from the global generator.
    `coordinates`: where so many tokens stand, special tokens and padding included.
    `form`: `Content()`, content x (content + class), or `ContentClass()`, content x class, where keys of the host
    are not looked at.
    `absolute`: whether the host keeps its own vectors of positions; without them any length can be read.
    `trained`: tokens of the longest sequence in training, as many as the host has positions where not given. Classes
    of longer sequences must be among those of that one.

    >>> from transformers import GPT2Config
    >>> host = GPT2Model(GPT2Config(n_layer=2, n_head=2, n_embd=8, vocab_size=5, n_positions=16))
    >>> model = put_attention(host, Shaw(clip=4), absolute=False)
    >>> print(*(name for name, _ in model.named_parameters() if "class_vectors" in name))
    h.0.attn.class_vectors.tables.0 h.1.attn.class_vectors.tables.0
    >>> model(torch.zeros(1, 40, dtype=torch.long)).last_hidden_state.shape
    torch.Size([1, 40, 8])
    """
    base, encoding = base_of(model), choose(encoding, ENCODINGS, "encoding")
    layers = [layer for layer in base.modules() if isinstance(layer, BertSelfAttention | GPT2Attention)]
    form, standing = form or Content(), Standing(coordinates)
    trained = trained or base.config.max_position_embeddings
    looked_for = _build(base.config, encoding, form, standing, trained)
    for number, layer in enumerate(layers):
        vectors = ClassVectors(looked_for, number, standing, content=isinstance(form, Content))
        layer.class_vectors = vectors.to(next(layer.parameters()))
    if not absolute:
        _take_positions_away(base)
    _give_config(model, base.config)
    Entry(
        encoding=encoding,
        form=form,
        absolute=not isinstance(_positions(base), NoPositions),
        trained=trained,
        coordinates=digest(standing(trained)),
    ).write(base.config)
    base.set_attn_implementation(NAME)
    return model


def base_of(model: nn.Module) -> Any:
    """The Transformer under a head."""
    base = getattr(model, "base_model", model)
    if not isinstance(base, BertModel | GPT2Model):
        raise OrdinateError(
            f"{type(model).__name__} cannot take this attention: give a BERT or a GPT-2, with a head or without"
        )
    if base.config.add_cross_attention:
        raise OrdinateError(
            "cross-attention has no relation between its tokens: write add_cross_attention=False"
        )
    return base


def _build(
    config: Any, encoding: EncodingSettings, form: Form, standing: Standing, trained: int
) -> ClassVectorEncoding:
    """The vectors of all layers, over relations that look back only where the host does."""
    built = encoding.builds(encoding)
    if not isinstance(built, Shaw | Upe | Pairwise):
        raise OrdinateError(
            f"encoding {encoding.name!r} has no class vectors to put into a host: write Shaw, Upe or Pairwise"
        )
    if not isinstance(form, Content | ContentClass):
        raise OrdinateError(f"form {form.name!r} does not fit a host: write Content() or ContentClass()")
    heads = config.num_attention_heads
    spec = BuildSpec(
        (standing(trained),),
        layers=config.num_hidden_layers,
        heads=heads,
        head_dim=config.hidden_size // heads,
    )
    groups = built.groups(spec)
    if _looks_back(config):
        groups = [Group(group.heads, group.relation * causal()) for group in groups]
    built.use_groups(spec, groups, per_head=built.per_head, std=built.std)
    for bound in built.bound:
        bound.pattern(spec.trained[0])  # refuses tokens without any key
        if isinstance(form, ContentClass) and not bound.classes:
            raise OrdinateError(
                f"{bound.relation} has no classes to look for: multiply it with relative(clip=8)"
            )
    return built


def _looks_back(config: Any) -> bool:
    """As `transformers` decides which mask to make."""
    decoder = config.model_type == GPT2Model.config_class.model_type or config.is_decoder
    return bool(decoder and getattr(config, "is_causal", True))


def _give_config(model: nn.Module, shared: Any) -> None:
    """A copy, since other models may be made of the same config."""
    own = deepcopy(shared)
    for module in model.modules():
        if getattr(module, "config", None) is shared:
            module.config = own


class NoPositions(nn.Module):
    """In place of a table of position vectors: nothing is added, at any length."""

    @override
    def forward(self, positions: Int[Tensor, "#batch token"]) -> Float[Tensor, ""]:
        return torch.zeros((), device=positions.device)


def _positions(base: Any) -> nn.Module:
    """The host's table of position vectors."""
    table: nn.Module = base.wpe if isinstance(base, GPT2Model) else base.embeddings.position_embeddings
    return table


def _take_positions_away(base: Any) -> None:
    if isinstance(base, GPT2Model):
        base.wpe = NoPositions()
    elif not isinstance(_positions(base), NoPositions):
        base.embeddings.position_embeddings = NoPositions()
        base.embeddings.register_forward_pre_hook(_any_length, with_kwargs=True)


def _any_length(
    embeddings: nn.Module, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """BERT numbers its tokens by a list that ends: give it a number for each."""
    given = options["inputs_embeds"] if options.get("input_ids") is None else options["input_ids"]
    return args, options | {"position_ids": given.new_zeros(1, given.shape[1], dtype=torch.long)}
