"""Vectors on the keys, one for every class of pairs that a relation declares (arXiv 2406.01895, eq 2.1).

    score[i, j] = q_i . (k_j + p_{class(i, j)}) / sqrt(d)

Pairs that do the same job share one vector. Which pairs those are is the relation: distance for Shaw's relative keys,
the key alone for UPE, significance in the special heads for numbers in text, or any other.
"""

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import torch
from jaxtyping import Float
from pydantic import BeforeValidator, Field, SerializeAsAny
from torch import Tensor, nn
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.encodings.digits import known_fields, number_fields
from ordinate.encodings.encoding import BuildSpec, Encoding, Pairs
from ordinate.encodings.helpers import Cache
from ordinate.encodings.vectors import append, waves
from ordinate.errors import OrdinateError
from ordinate.kinds import choose
from ordinate.relations import (
    RELATIONS,
    Relation,
    aligned,
    between,
    everywhere,
    relative,
    uniform,
    window,
)


class Group(NamedTuple):
    """Neighbouring heads with one relation."""

    heads: int
    relation: Relation


class ClassVectorEncoding(Encoding):
    """A table of vectors for every layer and group of heads; a relation without classes has none."""

    @abstractmethod
    def groups(self, spec: BuildSpec) -> list[Group]:
        """The heads with their relations, in order."""

    def use_groups(self, spec: BuildSpec, groups: Sequence[Group], *, per_head: bool, std: float) -> None:
        """Draw a table for each group that has classes, from N(0, std^2)."""
        self.heads = tuple(group.heads for group in groups)
        self.bound = tuple(group.relation.bind(spec.trained or None) for group in groups)
        self.tables = nn.ParameterList(
            std * torch.randn(spec.layers, group.heads if per_head else 1, bound.classes, spec.head_dim)
            for group, bound in zip(groups, self.bound, strict=True)
            if bound.classes
        )

    @override
    def pairs(self, coordinates: Coordinates, layer: int) -> tuple[Pairs, ...]:
        """One for each group; refused where the relation has classes that were never trained."""
        vectors = iter(self.vectors(layer))
        return tuple(
            Pairs(heads, bound.pattern(coordinates), next(vectors) if bound.classes else None)
            for heads, bound in zip(self.heads, self.bound, strict=True)
        )

    @override
    def at_loop(self, loop: int) -> "ClassVectorEncoding":
        """The same tables over the relations of that loop."""
        bound = tuple(relation.at_loop(loop) for relation in self.bound)
        if all(one is other for one, other in zip(bound, self.bound, strict=True)):
            return self
        view = copy(self)
        view.bound = bound
        return view

    def vectors(self, layer: int) -> list[Float[Tensor, "head cls dim"]]:
        """The tables of a layer, one for each group that has classes."""
        return [table[layer] for table in self.tables]


class Shaw(
    ClassVectorEncoding,
    name="shaw",
    summary="a key vector for every distance in the sequence (RPE)",
    extrapolation="refused: longer distances have no vector; defined everywhere with `clip`",
    source="Shaw et al. 2018, arXiv 1803.02155",
):
    """score[i, j] = q_i . (k_j + p_{clip(i - j)}) / sqrt(d), one table a layer, shared by the heads.

    The RPE of arXiv 2406.01895, where vectors start as BERT's do, from N(0, 0.02^2). Shaw et al. can also add vectors
    to the values; their ablation shows no gain from it, and it is left out.

    Example: `encoding = {kind = "shaw", clip = 16}`.
    """

    clip: int | None = Field(
        default=None, ge=1, description="larger distances share a vector; by default they are refused"
    )
    per_head: bool = Field(default=False, description="own vectors for every head")
    std: float = Field(default=0.02, ge=0, description="standard deviation of the first values")

    @override
    def setup(self, spec: BuildSpec) -> None:
        self.use_groups(spec, self.groups(spec), per_head=self.per_head, std=self.std)

    @override
    def groups(self, spec: BuildSpec) -> list[Group]:
        return [Group(spec.heads, relative(clip=self.clip))]


class Upe(
    ClassVectorEncoding,
    name="upe",
    summary="keys of some fields act alike on all queries, the rest by distance",
    extrapolation="refused: longer distances have no vector; defined with `clip` where the fields keep their length",
    source="Sabbaghi et al. 2024, arXiv 2406.01895",
):
    """p_{i,j} = c_j for keys j in some fields, whatever the query i; p_{i-j} among the rest (eq 3.3).

    The digits of a short multiplier act alike on every digit of the other number, so each has one vector, seen from
    everywhere (from itself too, which the paper leaves open).

    Example: `encoding = {kind = "upe", fields = ["multiplier"]}`.
    """

    fields: tuple[str, ...] = Field(
        default=("multiplier",), min_length=1, description="fields of keys that act alike"
    )
    clip: int | None = Field(
        default=None, ge=1, description="larger distances share a vector; by default they are refused"
    )
    per_head: bool = Field(default=False, description="own vectors for every head")
    std: float = Field(default=0.02, ge=0, description="standard deviation of the first values")

    @override
    def setup(self, spec: BuildSpec) -> None:
        self.use_groups(spec, self.groups(spec), per_head=self.per_head, std=self.std)

    @override
    def groups(self, spec: BuildSpec) -> list[Group]:
        fields = known_fields(self.fields, spec.trained, self.name)
        return [Group(spec.heads, uniform(*fields) | relative(clip=self.clip))]


def _relations(value: Any) -> tuple[Relation, ...]:
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(choose(v, RELATIONS, "model.encoding.relation") for v in values)


if TYPE_CHECKING:
    Relations = Relation | Sequence[Relation]
else:
    Relations = Annotated[tuple[SerializeAsAny[Relation], ...], BeforeValidator(_relations)]
    """One relation, or a list of them for equal groups of heads; what is given becomes a tuple."""


class Pairwise(
    ClassVectorEncoding,
    name="pairwise",
    summary="a key vector for every class of pairs of a relation",
    extrapolation="defined: where the relation has no new classes; refused where it has",
    source="Sabbaghi et al. 2024, arXiv 2406.01895",
):
    """Class vectors from any relation, drawn from N(0, std^2).

    Example: `encoding = {kind = "pairwise", relation = {kind = "relative", clip = 8}}`; with a list of relations
    the heads are split evenly, in order.
    """

    relation: Relations = Field(
        default=(relative(),), min_length=1, description="one relation, or a list for groups of heads"
    )
    per_head: bool = Field(
        default=True, description="own vectors for every head; false: one table for all of them"
    )
    std: float = Field(default=0.5, ge=0, description="standard deviation of the first values")

    @override
    def setup(self, spec: BuildSpec) -> None:
        self.use_groups(spec, self.groups(spec), per_head=self.per_head, std=self.std)

    @override
    def groups(self, spec: BuildSpec) -> list[Group]:
        relations = _relations(self.relation)
        count = len(relations)
        if spec.heads % count:
            raise OrdinateError(
                f"model.encoding.relation has {count} relations for {spec.heads} heads: "
                f"write a number of heads that is a multiple of {count}"
            )
        return [Group(spec.heads // count, relation) for relation in relations]


class Significance(
    ClassVectorEncoding,
    name="significance",
    summary="numbers in text: some heads relate digits by significance, text keeps its places",
    extrapolation="refused: longer numbers have untrained classes; defined everywhere with `reach`; text: defined",
    source="Sabbaghi et al. 2024, arXiv 2406.01895",
):
    """p_{i,j} = p_{field of i, field of j, significance of i - significance of j} between numeric tokens (section 3.3).

    Only some heads carry these vectors; every pair is attended, in every head, and where the numbers stand in the
    text does not matter. Text keeps an absolute position, sinusoidal so that any length has one; numbers have none.
    Digits of the fields in `uniform` have one vector each, seen from every digit (p_{i,j} = c_j).

    Example: `encoding = {kind = "significance", special = 4, reach = 8}`.
    """

    special: int | None = Field(
        default=None, ge=1, description="heads with vectors; half of them where not given"
    )
    fields: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="fields of numbers; all but `text` where not given"
    )
    reach: int | None = Field(
        default=None, ge=0, description="digits further apart in significance than this are plain"
    )
    uniform: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="fields whose digits act alike on all digits, as in `upe`"
    )
    per_head: bool = Field(default=False, description="own vectors for every special head")
    std: float = Field(default=0.02, ge=0, description="standard deviation of the first values")
    width: int = Field(
        default=16, ge=1, le=4096, description="columns appended to a token for the text's position"
    )

    @override
    def setup(self, spec: BuildSpec) -> None:
        self.numbers = number_fields(self.fields, spec.trained, self.name)
        self.use_groups(spec, self.groups(spec), per_head=self.per_head, std=self.std)
        self.extra_features = self.width
        self._columns = Cache[Tensor]()

    @override
    def groups(self, spec: BuildSpec) -> list[Group]:
        """Two groups of heads: special ones first."""
        special = self.special or max(1, spec.heads // 2)
        if special > spec.heads:
            raise OrdinateError(
                f"model.encoding.special = {special} is more than the {spec.heads} heads of the model: "
                f"write at most {spec.heads}"
            )
        numbers = number_fields(self.fields, spec.trained, self.name)
        digits: Relation = aligned(*numbers)
        if self.reach is not None:
            digits = digits * window(self.reach, self.reach)
        if self.uniform is not None:
            alike = known_fields(self.uniform, spec.trained, self.name)
            digits = uniform(*alike) * between(numbers, alike) | digits
        groups = [Group(special, digits | everywhere()), Group(spec.heads - special, everywhere())]
        return [group for group in groups if group.heads]

    def columns(self, coordinates: Coordinates) -> Float[Tensor, "token width"]:
        """Waves of the ordinate outside the numbers, zeros inside."""
        names = [coordinates.fields[field] for field in coordinates.field]
        outside = torch.tensor([name not in self.numbers for name in names])
        return waves(torch.tensor(coordinates.ordinate), self.width) * outside[:, None]

    @override
    def embed(
        self, x: Float[Tensor, "batch token feature"], coordinates: Coordinates
    ) -> Float[Tensor, "batch token wider"]:
        key = (coordinates, x.device, x.dtype)
        return append(x, self._columns(key, lambda: self.columns(coordinates).to(x.device, x.dtype)))
