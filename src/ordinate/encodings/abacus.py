"""Abacus embeddings (McLeish et al. 2024, arXiv 2405.17399)."""

from typing import ClassVar

from pydantic import Field

from ordinate.encodings.encoding import BuildSpec, EncodingSettings, Terms
from ordinate.encodings.fields import SIGN, TEXT, number_fields
from ordinate.encodings.places import PlaceEncoding


class Abacus(EncodingSettings):
    """P[i] = a_{1 + ordinate + k}, the digit's place inside its own number; a_0 for tokens that are no digits.

    The offset k is uniform on 0 .. spread in training (one for each batch, and no more than `furthest` has room for)
    and 0 outside of it. Places count from the least significant digit, where the paper reverses its numbers.

    Example: `encoding = {kind = "abacus", furthest = 128, spread = 99}`.
    """

    name: ClassVar[str] = "abacus"
    summary: ClassVar[str] = "a learned vector for a digit's place in its number, moved at random in training"
    extrapolation: ClassVar[str] = (
        "defined: up to `furthest` digits, trained by random offsets; refused above"
    )
    source: ClassVar[str] = "McLeish et al. 2024, arXiv 2405.17399"

    furthest: int = Field(128, ge=1, le=10**6, description="digits of the longest number")
    spread: int = Field(99, ge=0, description="largest offset in training")
    width: int = Field(16, ge=1, le=4096, description="columns appended to a token")
    std: float = Field(1.0, gt=0, description="standard deviation of the first values")
    fields: tuple[str, ...] | None = Field(
        None, min_length=1, description="fields of numbers; all but `text` and `sign` where not given"
    )

    @classmethod
    def for_contest(cls, terms: Terms) -> "Abacus":
        """Places for the longest number that is measured, all of them met in training."""
        return cls(width=terms.columns, furthest=terms.furthest, spread=terms.furthest)

    def build(self, spec: BuildSpec) -> PlaceEncoding:
        """A vector for every place; those of training have to fit."""
        fields = number_fields(self.fields, spec.trained, self.name, without=(TEXT, SIGN))
        encoding = PlaceEncoding(
            self.name,
            fields,
            furthest=self.furthest,
            spread=self.spread,
            each=False,
            width=self.width,
            std=self.std,
        )
        for coordinates in reversed(spec.trained):
            encoding.places(coordinates)
        return encoding
