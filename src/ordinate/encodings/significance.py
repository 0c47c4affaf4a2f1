"""Numbers inside text (Sabbaghi et al. 2024, arXiv 2406.01895, section 3.3)."""

from typing import ClassVar

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ordinate.coordinates import Coordinates
from ordinate.encodings.cache import Cache
from ordinate.encodings.encoding import BuildSpec, EncodingSettings, Terms
from ordinate.encodings.fields import known_fields, number_fields
from ordinate.encodings.pairwise import Group, PairwiseEncoding
from ordinate.encodings.sinusoidal import waves
from ordinate.encodings.vectors import append
from ordinate.errors import OrdinateError
from ordinate.relations import Relation, aligned, between, everywhere, uniform, window


class SignificanceEncoding(PairwiseEncoding):
    """Special heads relate digits by significance; tokens outside the numbers carry waves of their ordinate."""

    def __init__(self, spec: BuildSpec, settings: "Significance") -> None:
        special = settings.special or max(1, spec.heads // 2)
        if special > spec.heads:
            raise OrdinateError(
                f"model.encoding.special = {special} is more than the {spec.heads} heads of the model: "
                f"write at most {spec.heads}"
            )
        numbers = number_fields(settings.fields, spec.trained, settings.name)
        digits: Relation = aligned(*numbers)
        if settings.reach is not None:
            digits = digits * window(settings.reach, settings.reach)
        if settings.uniform is not None:
            alike = known_fields(settings.uniform, spec.trained, settings.name)
            digits = uniform(*alike) * between(numbers, alike) | digits
        groups = [Group(special, digits | everywhere()), Group(spec.heads - special, everywhere())]
        super().__init__(
            spec, [group for group in groups if group.heads], per_head=settings.per_head, std=settings.std
        )
        self.numbers = numbers
        self.width = self.extra_features = settings.width
        self._columns = Cache[Tensor]()

    def columns(self, coordinates: Coordinates) -> Float[Tensor, "token width"]:
        """Waves of the ordinate outside the numbers, zeros inside."""
        names = [coordinates.fields[field] for field in coordinates.field]
        outside = torch.tensor([name not in self.numbers for name in names])
        return waves(coordinates.ordinate_tensor, self.width) * outside[:, None]

    def embed(
        self, x: Float[Tensor, "batch token feature"], coordinates: Coordinates
    ) -> Float[Tensor, "batch token wider"]:
        """X | P."""
        key = (coordinates, x.device, x.dtype)
        return append(x, self._columns(key, lambda: self.columns(coordinates).to(x.device, x.dtype)))


def _apart(coordinates: Coordinates) -> int:
    """The largest difference of ordinates that every field of several tokens shows."""
    last: dict[int, int] = {}
    for field, ordinate in zip(coordinates.field, coordinates.ordinate, strict=True):
        last[field] = max(ordinate, last.get(field, 0))
    return min(ordinate for ordinate in last.values() if ordinate)


class Significance(EncodingSettings):
    """p_{i,j} = p_{field of i, field of j, significance of i - significance of j} between numeric tokens.

    Only some heads carry these vectors; every pair is attended, in every head, and where the numbers stand in the
    text does not matter. Text keeps an absolute position, sinusoidal so that any length has one; numbers have none.
    Digits of the fields in `uniform` have one vector each, seen from every digit (p_{i,j} = c_j).

    Example: `encoding = {kind = "significance", special = 4, reach = 8}`.
    """

    name: ClassVar[str] = "significance"
    summary: ClassVar[str] = (
        "numbers in text: some heads relate digits by significance, text keeps its places"
    )
    extrapolation: ClassVar[str] = (
        "refused: longer numbers have untrained classes; defined everywhere with `reach`; text: defined"
    )
    source: ClassVar[str] = "Sabbaghi et al. 2024, arXiv 2406.01895"

    special: int | None = Field(None, ge=1, description="heads with vectors; half of them where not given")
    fields: tuple[str, ...] | None = Field(
        None, min_length=1, description="fields of numbers; all but `text` where not given"
    )
    reach: int | None = Field(
        None, ge=0, description="digits further apart in significance than this are plain"
    )
    uniform: tuple[str, ...] | None = Field(
        None, min_length=1, description="fields whose digits act alike on all digits, as in `upe`"
    )
    per_head: bool = Field(False, description="own vectors for every special head")
    std: float = Field(0.02, ge=0, description="standard deviation of the first values")
    width: int = Field(16, ge=1, le=4096, description="columns appended to a token for the text's position")

    @classmethod
    def for_contest(cls, terms: Terms) -> "Significance":
        """Digits further apart than every field of several tokens shows in training are plain."""
        return cls(width=terms.columns, reach=_apart(terms.trained))

    def build(self, spec: BuildSpec) -> SignificanceEncoding:
        """Two groups of heads: special ones first."""
        return SignificanceEncoding(spec, self)
