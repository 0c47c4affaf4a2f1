"""Vectors on the keys, one for every class of pairs that a relation declares (arXiv 2406.01895, eq 2.1).

    score[i, j] = q_i . (k_j + p_{class(i, j)}) / sqrt(d)

Pairs that do the same job share one vector. Which pairs those are is the relation; Shaw's relative keys, UPE and
the special heads for numbers in text are all built from here.
"""

from collections.abc import Sequence
from copy import copy
from typing import Annotated, Any, ClassVar, NamedTuple

import torch
from jaxtyping import Float
from pydantic import BeforeValidator, Field, SerializeAsAny
from torch import Tensor, nn

from ordinate.coordinates import Coordinates
from ordinate.encodings.encoding import BuildSpec, Encoding, EncodingSettings, NoPlaceError, Pairs, Terms
from ordinate.errors import OrdinateError
from ordinate.kinds import choose
from ordinate.relations import RELATIONS, BoundRelation, Relation, relative


class Group(NamedTuple):
    """Neighbouring heads with one relation."""

    heads: int
    relation: Relation


class PairwiseEncoding(Encoding):
    """A table of vectors for every layer and group of heads; a relation without classes has none."""

    def __init__(self, spec: BuildSpec, groups: Sequence[Group], *, per_head: bool, std: float) -> None:
        super().__init__()
        self.heads = tuple(group.heads for group in groups)
        self.bound = tuple(BoundRelation(group.relation, spec.trained) for group in groups)
        self.tables = nn.ParameterList(
            std * torch.randn(spec.layers, group.heads if per_head else 1, bound.classes, spec.head_dim)
            for group, bound in zip(groups, self.bound, strict=True)
            if bound.classes
        )

    def pairs(self, coordinates: Coordinates, layer: int) -> tuple[Pairs, ...]:
        """One for each group; refused where the relation has classes that were never trained."""
        vectors = iter(self.vectors(layer))
        return tuple(
            Pairs(heads, bound.pattern(coordinates), next(vectors) if bound.classes else None)
            for heads, bound in zip(self.heads, self.bound, strict=True)
        )

    def at_loop(self, loop: int) -> "PairwiseEncoding":
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


def _relations(value: Any) -> tuple[Relation, ...]:
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(choose(v, RELATIONS, "model.encoding.relation") for v in values)


Relations = Annotated[tuple[SerializeAsAny[Relation], ...], BeforeValidator(_relations)]
"""One relation, or a list of them for equal groups of heads."""


class Pairwise(EncodingSettings):
    """Class vectors from any relation, drawn from N(0, std^2).

    Example: `encoding = {kind = "pairwise", relation = {kind = "relative", clip = 8}}`; with a list of relations
    the heads are split evenly, in order.
    """

    name: ClassVar[str] = "pairwise"
    summary: ClassVar[str] = "a key vector for every class of pairs of a relation"
    extrapolation: ClassVar[str] = "defined: where the relation has no new classes; refused where it has"
    source: ClassVar[str] = "Sabbaghi et al. 2024, arXiv 2406.01895"

    relation: Relations = Field(
        (relative(),), min_length=1, description="one relation, or a list for groups of heads"
    )
    per_head: bool = Field(True, description="own vectors for every head; false: one table for all of them")
    std: float = Field(0.5, ge=0, description="standard deviation of the first values")

    def groups(self, spec: BuildSpec) -> list[Group]:
        """One group of heads for each relation."""
        count = len(self.relation)
        if spec.heads % count:
            raise OrdinateError(
                f"model.encoding.relation has {count} relations for {spec.heads} heads: "
                f"write a number of heads that is a multiple of {count}"
            )
        return [Group(spec.heads // count, relation) for relation in self.relation]

    @classmethod
    def for_contest(cls, terms: Terms) -> "Pairwise":
        """The relation that is declared for the task."""
        if terms.relation is None:
            raise NoPlaceError(f"no relation: {terms.told}")
        return cls(relation=terms.relation)

    def build(self, spec: BuildSpec) -> PairwiseEncoding:
        """A table for each group."""
        return PairwiseEncoding(spec, self.groups(spec), per_head=self.per_head, std=self.std)
