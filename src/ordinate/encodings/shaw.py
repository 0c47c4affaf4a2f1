"""Relative key vectors (Shaw et al. 2018, arXiv 1803.02155)."""

from typing import ClassVar

from pydantic import Field

from ordinate.encodings.encoding import BuildSpec, EncodingSettings, Terms
from ordinate.encodings.pairwise import Group, PairwiseEncoding
from ordinate.relations import relative


class Shaw(EncodingSettings):
    """score[i, j] = q_i . (k_j + p_{clip(i - j)}) / sqrt(d), one table a layer, shared by the heads.

    The RPE of arXiv 2406.01895, where vectors start as BERT's do, from N(0, 0.02^2). Shaw et al. can also add vectors
    to the values; their ablation shows no gain from it, and it is left out.

    Example: `encoding = {kind = "shaw", clip = 16}`.
    """

    name: ClassVar[str] = "shaw"
    summary: ClassVar[str] = "a key vector for every distance in the sequence (RPE)"
    extrapolation: ClassVar[str] = "refused: longer distances have no vector; defined everywhere with `clip`"
    source: ClassVar[str] = "Shaw et al. 2018, arXiv 1803.02155"

    clip: int | None = Field(
        None, ge=1, description="larger distances share a vector; without, they are refused"
    )
    per_head: bool = Field(False, description="own vectors for every head")
    std: float = Field(0.02, ge=0, description="standard deviation of the first values")

    def groups(self, spec: BuildSpec) -> list[Group]:
        """All heads with `relative(clip=...)`."""
        return [Group(spec.heads, relative(clip=self.clip))]

    @classmethod
    def for_contest(cls, terms: Terms) -> "Shaw":
        """Distances beyond those of training share a vector."""
        return cls(clip=terms.distance)

    def build(self, spec: BuildSpec) -> PairwiseEncoding:
        """A table for the one group."""
        return PairwiseEncoding(spec, self.groups(spec), per_head=self.per_head, std=self.std)
