"""`od.Attention`: self-attention over a declared structure, as one module for a model of one's own."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from jaxtyping import Float
from torch import Tensor, nn

from ordinate.attention.heads import FORMS, Form
from ordinate.coordinates import Coordinates
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
            return _one_field(self._only_field(), tokens)
        if len(given) != tokens:
            raise OrdinateError(f"the layout has {len(given)} tokens, and the input has {tokens}")
        return given

    def trained(self, layouts: Trained | None) -> tuple[Coordinates, ...]:
        """The layouts of training: none where nothing is said."""
        if layouts is None:
            return ()
        if isinstance(layouts, int):
            return (_one_field(self._only_field(), layouts),)
        return (layouts,) if isinstance(layouts, Coordinates) else tuple(layouts)

    def _only_field(self) -> str:
        if self.field is None:
            raise OrdinateError(
                "the relation names several fields: give a layout that says which tokens are in which, such as "
                "od.layout(first=9, second=9, answer=10)"
            )
        return self.field


@lru_cache(maxsize=256)
def _one_field(name: str, tokens: int) -> Coordinates:
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
    """Multi-head self-attention in which position decides where a token may look.

    `relation` says which pairs attend, and which of them share a learned vector a_c; `scores` what a score is made of:

        "content"         q_i . (k_j + a_c) / sqrt(d)     standard attention; a relation without classes is a mask
        "content-class"   q_i . a_c / sqrt(d)             a token decides what it looks for, its place where that can be
        "class"           u . a_c / sqrt(d)               weights depend on positions alone

    A list of relations splits the heads evenly. Instead of a relation, `encoding` takes any other way for positions to
    enter the scores, such as `od.Rope()`. `trained` are the layouts of training, or its number of tokens; leave it out
    where the classes are the same at every length, as with a window or a clip.

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
    ) -> None:
        super().__init__()
        check_heads(dim, heads)
        self.dim, self.declared = dim, Declared.of(relation, encoding)
        unbuilt = self.declared.encoding
        self.encoding = unbuilt.build(BuildSpec(self.declared.trained(trained), 1, heads, dim // heads))
        if self.encoding.extra_features:
            raise OrdinateError(
                f"{type(unbuilt).__name__} puts positions into the tokens before the first layer, which one layer of "
                "attention cannot: use it in od.Transformer, or choose one that enters the scores, such as od.Rope()"
            )
        self.heads = form(scores).build(dim, heads, 0)
        if self.heads.needs_classes and not has_classes(self.encoding):
            raise OrdinateError(
                f"scores = {scores!r} looks for classes of pairs, and there are none: give a relation that has some, "
                "such as od.relative(clip=8)"
            )

    def forward(
        self, x: Float[Tensor, "..."], layout: Coordinates | None = None
    ) -> Float[Tensor, "batch token dim"]:
        """Mix the tokens of x [batch, token, dim]; without a layout they are one field, numbered from 0."""
        if x.dim() != 3 or x.shape[-1] != self.dim:
            raise OrdinateError(
                f"x has the shape {tuple(x.shape)}, and this attention takes [batch, token, {self.dim}]"
            )
        mixed: Tensor = self.heads(x, self.declared.layout(x.shape[1], layout), self.encoding)
        return mixed
