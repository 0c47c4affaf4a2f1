"""What config.json says of the attention in a host: the entry `ordinate`, by which the model is built again."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    SerializeAsAny,
    ValidationError,
    field_serializer,
    model_validator,
)
from pydantic_core import PydanticSerializationError

from ordinate.attention import FORMS, Form
from ordinate.coordinates import Coordinates
from ordinate.encodings import ENCODINGS, EncodingSettings
from ordinate.errors import OrdinateError, explain
from ordinate.kinds import choose

CONFIG = "config.json"
OPENED_BY = "ordinate.hub.load"
"""Written where `transformers` looks for the name of an attention. It knows none of this name, and so refuses."""


def _encoding(value: Any) -> EncodingSettings:
    return value if isinstance(value, EncodingSettings) else choose(value, ENCODINGS, "ordinate.encoding")


def _form(value: Any) -> Form:
    return choose(value, FORMS, "ordinate.form")


class Entry(BaseModel):
    """All that `put_attention` was told."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    encoding: Annotated[EncodingSettings, BeforeValidator(_encoding)]
    form: Annotated[SerializeAsAny[Form], BeforeValidator(_form)]
    positions: Literal["keep", "remove"]
    """Whether the host has positions of its own."""
    trained: int
    coordinates: str
    """A digest of where so many tokens stand: functions cannot be written down."""

    @model_validator(mode="before")
    @classmethod
    def _as_it_was_written(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Entries of earlier models say `absolute` instead of `positions`."""
        given = dict(given)
        if isinstance(given.get("absolute"), bool) and "positions" not in given:
            given["positions"] = "keep" if given.pop("absolute") else "remove"
        return given

    @field_serializer("encoding")
    def _write(self, encoding: EncodingSettings) -> Any:
        try:
            return encoding.model_dump(mode="json")
        except (
            PydanticSerializationError
        ):  # a relation of a function without a name: it can be used, and not be read
            return repr(encoding)

    def write(self, config: Any) -> None:
        """Let a config say this, and `from_pretrained` of the host refuse what is saved with it."""
        config.ordinate = self.model_dump(mode="json")
        config.attn_implementation = OPENED_BY

    def check(self, config: Any, folder: Path) -> None:
        """Refuse a model that was told something else than the one in the folder."""
        saved, given = self.model_dump(mode="json"), config.ordinate
        other = [f"{key} {given[key]} instead of {saved[key]}" for key in saved if given[key] != saved[key]]
        if other:
            raise OrdinateError(
                f"{folder} was saved with another attention, this model has {', '.join(other)}"
            )


def digest(coordinates: Coordinates) -> str:
    """The same for tokens that stand in the same places.

    >>> digest(Coordinates.of(text=range(3))) == digest(Coordinates.of(text=[0, 1], word=[0]))
    False
    """
    return sha256(" ".join(map(coordinates.label, range(len(coordinates)))).encode()).hexdigest()[:16]


def read_config(folder: Path) -> dict[str, Any]:
    """What config.json says."""
    path = folder / CONFIG
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise OrdinateError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, RecursionError) as error:
        raise OrdinateError(f"{path} is not readable JSON: {' '.join(str(error).split())}") from None
    if not isinstance(found, dict):
        raise OrdinateError(f"{path} is no config: give a folder that save_pretrained wrote")
    return found


def read_entry(folder: Path) -> Entry:
    """The entry of a saved model."""
    found = read_config(folder).get("ordinate")
    if not isinstance(found, dict):
        raise OrdinateError(
            f"{folder / CONFIG} names no encoding: save a model after put_attention, "
            "or open this one with from_pretrained of transformers"
        )
    try:
        return Entry(**found)
    except ValidationError as error:
        raise OrdinateError(f"{folder / CONFIG}: {explain(error, 'ordinate', Entry)}") from None
    except OrdinateError as error:
        raise OrdinateError(f"{folder / CONFIG}: {error}") from None
