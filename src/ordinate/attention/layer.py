"""`od.Attention`: attention over a declared structure, as one module for a model of one's own."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from typing_extensions import override

from ordinate.attention.call import Call, HeadOptions, KeyCache, read_masks
from ordinate.attention.heads import FORMS, Form
from ordinate.attention.operator import How, attention_operator
from ordinate.coordinates import Coordinates, handle_of
from ordinate.encodings import BuildSpec, ClassVectorEncoding, Encoding, NoPosition, Pairwise
from ordinate.errors import OrdinateError, nearest
from ordinate.relations import Relation

Relations = Relation | Iterable[Relation]
Trained = Coordinates | Iterable[Coordinates] | int


@dataclass(frozen=True)
class Declared:
    """What a user says of positions: an encoding, and the field of all tokens where no layout is given."""

    encoding: Encoding
    field: str | None
    """None where the relation names several fields, so that a layout has to say which token is in which."""

    @classmethod
    def of(cls, relation: Relations | None, encoding: Encoding | None) -> "Declared":
        """From a relation, several of them for equal groups of heads, or an encoding."""
        if relation is None:
            return cls(NoPosition() if encoding is None else encoding, "token")
        if encoding is not None:
            raise OrdinateError("relation and encoding exclude each other: give one of them")
        relations = (relation,) if isinstance(relation, Relation) else tuple(relation)
        named = {name for each in relations for name in each.named_fields()}
        field = "token" if not named else named.pop() if len(named) == 1 else None
        return cls(Pairwise(relation=relations), field)

    def layout(self, tokens: int, given: Coordinates | None = None) -> Coordinates:
        """The layout of a sequence: the one that is given, or one field."""
        if given is None:
            return coordinates_of(self._only_field(), tokens)
        if len(given) != tokens:
            raise OrdinateError(f"the layout has {len(given)} tokens, and the input has {tokens}")
        return given

    def trained(self, layouts: Trained | None) -> tuple[Coordinates, ...]:
        """The layouts of training: none where nothing is said."""
        if layouts is None:
            return ()
        if isinstance(layouts, int):
            return (coordinates_of(self._only_field(), layouts),)
        return (layouts,) if isinstance(layouts, Coordinates) else tuple(layouts)

    def _only_field(self) -> str:
        if self.field is None:
            raise OrdinateError(
                "the relation names several fields: give a layout that says which tokens are in which, such as "
                "od.layout(first=9, second=9, answer=10)"
            )
        return self.field


@lru_cache(maxsize=256)
def coordinates_of(name: str, tokens: int) -> Coordinates:
    """So many tokens of one field."""
    return Coordinates.of(**{name: range(tokens)})


def has_classes(encoding: Encoding) -> bool:
    """Whether all heads have vectors for classes of pairs."""
    return isinstance(encoding, ClassVectorEncoding) and all(bound.classes for bound in encoding.bound)


def check_heads(dim: int, heads: int) -> None:
    """Refuse a width that heads cannot share evenly."""
    if min(dim, heads) < 1 or dim % heads:
        raise OrdinateError(f"dim = {dim} cannot be split into {heads} heads: write a multiple of the heads")


def form(scores: str) -> Form:
    """What scores are made of, by its name."""
    if scores not in FORMS:
        raise OrdinateError(f"scores = {scores!r} is not known: {nearest(scores, FORMS)}")
    return FORMS[scores]()


class Attention(nn.Module):
    """Multi-head attention in which position decides where a token may look; where `nn.MultiheadAttention` was.

    `relation` says which pairs attend, and which of them share a learned vector a_c; `scores` what a score is made of:

        "content"         q_i . (k_j + a_c) / sqrt(d)     standard attention; a relation without classes is a mask
        "content-class"   q_i . a_c / sqrt(d)             a token decides what it looks for, its place where that can be
        "class"           u . a_c / sqrt(d)               weights depend on positions alone

    A list of relations splits the heads evenly. Instead of a relation, `encoding` takes any other way for positions to
    enter the scores, such as `od.Rope()`. `trained` are the layouts of training, or its number of tokens; leave it out
    where the classes are the same at every length, as with a window or a clip.

    `key_value_heads`: equally many heads of queries share one of keys and values. `key_dim`, `value_dim`: widths of the
    tokens that keys and values are made of, where they are others. `dropout`: share of the weights dropped in training.

    >>> import ordinate as od, torch
    >>> near = od.aligned("number") * od.window(back=2)
    >>> attention = od.Attention(dim=8, heads=2, relation=near, scores="content-class")
    >>> attention(torch.zeros(1, 5, 8)).shape, attention(torch.zeros(1, 99, 8)).shape
    (torch.Size([1, 5, 8]), torch.Size([1, 99, 8]))
    """

    def __init__(
        self,
        dim: int,
        heads: int,
        *,
        relation: Relations | None = None,
        encoding: Encoding | None = None,
        scores: str = "content",
        trained: Trained | None = None,
        key_value_heads: int | None = None,
        key_dim: int | None = None,
        value_dim: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        check_heads(dim, heads)
        if key_value_heads is not None and (key_value_heads < 1 or heads % key_value_heads):
            raise OrdinateError(
                f"{heads} heads of queries cannot share {key_value_heads} of keys and values evenly: "
                "write a number that divides the heads"
            )
        if not 0 <= dropout < 1:
            raise OrdinateError(f"dropout = {dropout} is no share: write a number from 0 to below 1")
        self.handle = handle_of(self)
        self.dim, self.declared = dim, Declared.of(relation, encoding)
        unbuilt = self.declared.encoding
        self.encoding = unbuilt.build(BuildSpec(self.declared.trained(trained), 1, heads, dim // heads))
        if self.encoding.extra_features:
            raise OrdinateError(
                f"{type(unbuilt).__name__} puts positions into the tokens before the first layer, which one layer of "
                "attention cannot: use it in od.Transformer, or choose one that enters the scores, such as od.Rope()"
            )
        self.heads = form(scores).build(
            dim, heads, 0, HeadOptions(key_value_heads, key_dim, value_dim, bias, dropout)
        )
        if self.heads.needs_classes and not has_classes(self.encoding):
            raise OrdinateError(
                f"scores = {scores!r} looks for classes of pairs, and there are none: give a relation that has some, "
                "such as od.relative(clip=8)"
            )

    @classmethod
    def of(
        cls,
        attention: nn.MultiheadAttention,
        *,
        relation: Relations | None = None,
        encoding: Encoding | None = None,
        trained: Trained | None = None,
    ) -> "Attention":
        """The same layer with its weights, and positions: class vectors and other parameters of them are new.

        >>> old = nn.MultiheadAttention(8, heads := 2, batch_first=True)
        >>> x = torch.randn(1, 5, 8)
        >>> torch.allclose(Attention.of(old)(x), old(x, x, x)[0], atol=1e-6)
        True
        """
        if attention.bias_k is not None or attention.add_zero_attn:
            raise OrdinateError(
                "add_bias_kv and add_zero_attn add keys without a place: make the layer without them"
            )
        own, bias = attention.embed_dim, attention.in_proj_bias is not None
        others = {"key_dim": attention.kdim, "value_dim": attention.vdim}
        new = cls(
            own,
            attention.num_heads,
            relation=relation,
            encoding=encoding,
            trained=trained,
            bias=bias,
            dropout=attention.dropout,
            **({} if attention._qkv_same_embed_dim else others),
        ).to(attention.out_proj.weight)
        heads, biases = new.heads, attention.in_proj_bias
        maps: list[Any] = [heads.project, *heads.sources.values()]
        theirs = (
            [attention.in_proj_weight]
            if attention._qkv_same_embed_dim
            else [attention.q_proj_weight, attention.k_proj_weight, attention.v_proj_weight]
        )
        with torch.no_grad():
            for own_map, weight in zip(maps, theirs, strict=True):
                own_map.weight.copy_(weight)
            heads.to_output.weight.copy_(attention.out_proj.weight)
            if bias:
                for own_map, part in zip(maps, biases.split([len(m.weight) for m in maps]), strict=True):
                    own_map.bias.copy_(part)
                heads.to_output.bias.copy_(attention.out_proj.bias)
        return new.train(attention.training)

    def forward(
        self,
        x: Float[Tensor, "..."],
        layout: Coordinates | None = None,
        *,
        memory: Tensor | tuple[Tensor, Tensor] | None = None,
        memory_layout: Coordinates | None = None,
        key_padding_mask: Shaped[Tensor, "..."] | None = None,
        attn_mask: Shaped[Tensor, "..."] | None = None,
        is_causal: bool = False,
        need_weights: bool = False,
        cache: KeyCache | None = None,
    ) -> Float[Tensor, "batch token dim"] | tuple[Tensor, Tensor]:
        """Mix the tokens of x [batch, token, dim]; without a layout they are one field, numbered from 0.

        `memory`: other tokens to attend to, with their `memory_layout`; or two tensors, one for keys, one for values.
        `key_padding_mask` [batch, key] and `attn_mask` [query, key], [head, query, key] or [batch, head, query, key]
        are torch's: True where a pair is left out, or numbers to add to scores. A query without any key receives 0.
        `is_causal`: no token sees what comes after it; faster where the relation says so, by `* od.causal()`.
        `need_weights`: return (y, weights [batch, head, query, key]).
        `cache`: keys of earlier tokens; x is then what comes after them, and the layout that of all.
        """
        if x.dim() != 3 or x.shape[-1] != self.dim:
            raise OrdinateError(
                f"x has the shape {tuple(x.shape)}, and this attention takes [batch, token, {self.dim}]"
            )
        if torch.compiler.is_dynamo_compiling():
            if cache is not None:
                raise OrdinateError("a cache grows from call to call: leave it out of torch.compile")
            masks = (key_padding_mask, attn_mask)
            return self._in_graph(x, layout, memory, memory_layout, masks, is_causal, need_weights)
        past = 0 if cache is None else len(cache)
        if memory is None:
            self._check_own(memory_layout)
            coordinates, keys, given = (
                self.declared.layout(past + x.shape[1], layout),
                past + x.shape[1],
                None,
            )
        else:
            if past or cache is not None:
                raise OrdinateError("a memory is read whole in every call: leave the cache away")
            given = memory if isinstance(memory, tuple) else (memory, memory)
            self._check_memory(x, given)
            coordinates, keys = self._joined(x, given, layout, memory_layout), given[0].shape[1]
        shape = (len(x), self.heads.heads, x.shape[1], keys)
        if (
            not (given or is_causal or need_weights or cache is not None)
            and key_padding_mask is attn_mask is None
        ):
            call = None
        else:
            mask, added = read_masks(shape, key_padding_mask, attn_mask, is_causal=is_causal, device=x.device)
            call = Call(given, mask, added, cache, need_weights)
        mixed: Tensor | tuple[Tensor, Tensor] = self.heads(x, coordinates, self.encoding, call)
        return mixed

    def cache(self) -> KeyCache:
        """An empty cache, for the calls of one generation: `attention(x, cache=cache)`."""
        return KeyCache()

    def _in_graph(
        self,
        x: Tensor,
        layout: Coordinates | None,
        memory: Tensor | tuple[Tensor, Tensor] | None,
        memory_layout: Coordinates | None,
        masks: tuple[Tensor | None, Tensor | None],
        is_causal: bool,
        need_weights: bool,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """What `torch.compile` sees: one operator."""
        keys, values = memory if isinstance(memory, tuple) else (memory, memory)
        brought = (x, keys, values, *masks)
        drops = self.training and self.heads.options.dropout > 0
        seed = torch.randint(2**31, ()) if drops else torch.zeros((), dtype=torch.long)
        kind = x.device.type
        how = How(
            self.handle,
            "" if layout is None else layout.handle,
            "" if memory_layout is None else memory_layout.handle,
            "".join(["0" if one is None else "1" for one in brought]),
            f"{int(is_causal)}{int(need_weights)}{int(self.training)}",
            str(torch.get_autocast_dtype(kind)).partition(".")[2] if torch.is_autocast_enabled(kind) else "",
        )
        there = [one for one in brought if one is not None]
        out, weights = attention_operator([seed, *there, *self.parameters()], " ".join(how))
        return (out, weights) if need_weights else out

    @override
    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self.handle = handle_of(self)

    def _check_own(self, memory_layout: Coordinates | None) -> None:
        if memory_layout is not None:
            raise OrdinateError("there is a memory_layout and no memory: give memory=, the tokens it is of")
        if self.heads.sources:
            raise OrdinateError("keys and values are made of tokens of other widths: give them as memory=")

    def _check_memory(self, x: Tensor, memory: tuple[Tensor, Tensor]) -> None:
        options = self.heads.options
        for name, tokens, width in zip(
            ("keys", "values"),
            memory,
            (options.key_dim or self.dim, options.value_dim or self.dim),
            strict=True,
        ):
            if tokens.dim() != 3 or (len(tokens), tokens.shape[-1]) != (len(x), width):
                raise OrdinateError(
                    f"the memory of {name} has the shape {tuple(tokens.shape)}: give [{len(x)}, token, {width}]"
                )
        if memory[0].shape[1] != memory[1].shape[1]:
            raise OrdinateError(
                f"the memory has {memory[0].shape[1]} keys and {memory[1].shape[1]} values: give as many of both"
            )

    def _joined(
        self,
        x: Tensor,
        memory: tuple[Tensor, Tensor],
        layout: Coordinates | None,
        memory_layout: Coordinates | None,
    ) -> Coordinates:
        """Where keys and queries stand, the keys first."""
        tokens = (memory[0].shape[1], x.shape[1])
        if layout is None and memory_layout is None and isinstance(self.encoding, NoPosition):
            return coordinates_of("memory", tokens[0]) + coordinates_of("token", tokens[1])
        if layout is None or memory_layout is None:
            raise OrdinateError(
                "tokens that attend to others need both layouts: layout=od.layout(target=5), "
                "memory_layout=od.layout(source=7)"
            )
        return self.declared.layout(tokens[0], memory_layout) + self.declared.layout(tokens[1], layout)
