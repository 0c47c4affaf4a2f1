"""Position coupling (Cho et al. 2024, arXiv 2405.20671)."""

from typing import ClassVar

from pydantic import Field

from ordinate.encodings.encoding import BuildSpec, EncodingSettings, Terms
from ordinate.encodings.fields import TEXT, number_fields
from ordinate.encodings.places import PlaceEncoding


class Coupling(EncodingSettings):
    """P[i] = a_{s + ordinate}: tokens of equal significance share one position id, in whatever field they are.

    In training the first id s is uniform over all that leave room for the longest number of the sequence below
    `furthest` (one for each sequence); outside of it s = 1. Operators take part with their ordinate, text and a model's
    dummy have the id 0.

    Example: `encoding = {kind = "coupling", furthest = 128}`.
    """

    name: ClassVar[str] = "coupling"
    summary: ClassVar[str] = (
        "tokens of equal significance share a learned vector, ids start at random in training"
    )
    extrapolation: ClassVar[str] = "defined: up to `furthest` places, trained by random starts; refused above"
    source: ClassVar[str] = "Cho et al. 2024, arXiv 2405.20671"

    furthest: int = Field(128, ge=1, le=10**6, description="largest position id")
    width: int = Field(16, ge=1, le=4096, description="columns appended to a token")
    std: float = Field(1.0, gt=0, description="standard deviation of the first values")
    fields: tuple[str, ...] | None = Field(
        None, min_length=1, description="fields that are coupled; all but `text` where not given"
    )

    @classmethod
    def for_contest(cls, terms: Terms) -> "Coupling":
        """Ids for the longest field that is measured."""
        return cls(width=terms.columns, furthest=terms.furthest)

    def build(self, spec: BuildSpec) -> PlaceEncoding:
        """A vector for every id; those of training have to fit."""
        fields = number_fields(self.fields, spec.trained, self.name, without=(TEXT,))
        encoding = PlaceEncoding(
            self.name,
            fields,
            furthest=self.furthest,
            spread=self.furthest,
            each=True,
            width=self.width,
            std=self.std,
        )
        for coordinates in reversed(spec.trained):
            encoding.places(coordinates)
        return encoding
