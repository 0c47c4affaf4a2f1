"""Uniform and relative key vectors (Sabbaghi et al. 2024, arXiv 2406.01895, eq 3.3)."""

from typing import ClassVar

from pydantic import Field

from ordinate.encodings.encoding import BuildSpec, EncodingSettings, NoPlaceError, Terms
from ordinate.encodings.fields import known_fields
from ordinate.encodings.pairwise import Group, PairwiseEncoding
from ordinate.relations import relative, uniform


class Upe(EncodingSettings):
    """p_{i,j} = c_j for keys j in some fields, whatever the query i; p_{i-j} among the rest.

    The digits of a short multiplier act alike on every digit of the other number, so each has one vector, seen from
    everywhere (from itself too, which the paper leaves open).

    Example: `encoding = {kind = "upe", fields = ["multiplier"]}`.
    """

    name: ClassVar[str] = "upe"
    summary: ClassVar[str] = "keys of some fields act alike on all queries, the rest by distance"
    extrapolation: ClassVar[str] = (
        "refused: longer distances have no vector; defined with `clip` where the fields keep their length"
    )
    source: ClassVar[str] = "Sabbaghi et al. 2024, arXiv 2406.01895"

    fields: tuple[str, ...] = Field(
        ("multiplier",), min_length=1, description="fields of keys that act alike"
    )
    clip: int | None = Field(
        None, ge=1, description="larger distances share a vector; without, they are refused"
    )
    per_head: bool = Field(False, description="own vectors for every head")
    std: float = Field(0.02, ge=0, description="standard deviation of the first values")

    def groups(self, spec: BuildSpec) -> list[Group]:
        """All heads with `uniform(fields) | relative(clip=...)`."""
        fields = known_fields(self.fields, spec.trained, self.name)
        return [Group(spec.heads, uniform(*fields) | relative(clip=self.clip))]

    @classmethod
    def for_contest(cls, terms: Terms) -> "Upe":
        """For a field that acts alike on all others; further distances share a vector."""
        if "multiplier" not in terms.trained.fields:
            raise NoPlaceError("no field acts alike on all others")
        # The multiplier is the first token: the largest distance is to it, and has no vector of its own.
        return cls(clip=terms.distance - 1)

    def build(self, spec: BuildSpec) -> PairwiseEncoding:
        """A table for the one group."""
        return PairwiseEncoding(spec, self.groups(spec), per_head=self.per_head, std=self.std)
