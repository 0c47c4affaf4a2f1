"""What all models share: their base, and the settings that a recipe describes them by."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from jaxtyping import Float
from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator
from torch import Tensor, nn

from ordinate.coordinates import Coordinates
from ordinate.encodings import (
    ENCODINGS,
    BuildSpec,
    Combined,
    Encoding,
    EncodingSettings,
    OneHot,
)
from ordinate.kinds import Kind, choose
from ordinate.models.inputs import Inputs, Problem


class Model(nn.Module):
    """Maps (inputs, coordinates) to outputs, at every length that its encoding can reach."""

    vectorised: ClassVar[bool]
    """Whether members of an ensemble can be computed in one pass."""

    features: int
    encoding: Encoding
    encode: nn.Linear
    layers: nn.ModuleList

    @abstractmethod
    def forward(self, x: Inputs, coordinates: Coordinates) -> Float[Tensor, "batch token out"]:
        """Compute the outputs of all tokens."""

    def progress(self, share: float) -> None:
        """Hear, before every step of a training, which share of its steps is done; most models do not change."""


def _encodings(value: Any) -> tuple[EncodingSettings, ...]:
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(choose(v, ENCODINGS, "model.encoding") for v in values)


Encodings = Annotated[tuple[SerializeAsAny[EncodingSettings], ...], BeforeValidator(_encodings)]
"""One encoding by name, or a list of several that work together."""


class ModelSettings(Kind):
    """Sizes that all kinds share, as published for the first paper: width 64, 2 heads, MLP 64, log2(n) + 1 layers."""

    layers: int | None = Field(None, ge=1, le=256, description="log2(length) + 1 where not given")
    heads: int = Field(2, ge=1, le=256)
    width: int = Field(64, ge=1, le=65536)
    hidden: int = Field(64, ge=1, le=65536)
    encoding: Encodings = (OneHot().settings,)

    @model_validator(mode="after")
    def _fits(self) -> "ModelSettings":
        self.check_sizes()
        return self

    def check_sizes(self) -> None:
        """Refuse sizes that do not go together: heads divide the width unless a kind says otherwise."""
        if self.width % self.heads:
            raise ValueError(
                f"must have a width that is a multiple of heads, got {self.width} and {self.heads}"
            )

    @abstractmethod
    def build(self, task: Problem) -> Model:
        """Assemble the model for a task; first weights come from the global generator."""

    def sizes(self, tokens: int) -> tuple[int, int]:
        """Estimates: how many parameters there are, and how many numbers a training step keeps for every token."""
        layers, source = self.layers or tokens.bit_length(), self.width + tokens
        parameters = layers * (2 * self.heads * source**2 + 2 * self.width**2 + 3 * self.width * self.hidden)
        a_token = layers * (4 * self.heads * source + 4 * self.width + 2 * self.hidden + self.heads * tokens)
        return parameters, a_token

    def build_encoding(self, trained: Sequence[Coordinates], layers: int, head_dim: int) -> Encoding:
        """One encoding, or several that work together."""
        spec = BuildSpec(tuple(trained), layers, self.heads, head_dim)
        built = [settings.build(spec) for settings in self.encoding]
        return built[0] if len(built) == 1 else Combined(*built)
