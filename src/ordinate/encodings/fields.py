"""Which fields of a sequence are numbers: tokens there have a significance, their ordinate."""

from collections.abc import Iterable

from ordinate.coordinates import Coordinates
from ordinate.encodings.vectors import DUMMY
from ordinate.errors import OrdinateError

TEXT = "text"
"""Field of words; their ordinates are places in the text."""

SIGN = "sign"
"""Field of operators between numbers."""


def known_fields(given: Iterable[str], trained: Iterable[Coordinates], kind: str) -> tuple[str, ...]:
    """Return the given fields, all of which must be in training."""
    given, known = tuple(given), _fields(trained)
    for field in given:
        if field not in known:
            raise OrdinateError(
                f"encoding {kind!r}: there is no field {field!r} in these sequences: write fields = [...] with some "
                f"of {', '.join(name for name in known if name != DUMMY)}, or choose another encoding"
            )
    return given


def number_fields(
    given: Iterable[str] | None, trained: Iterable[Coordinates], kind: str, without: Iterable[str] = (TEXT,)
) -> tuple[str, ...]:
    """Return the given fields, or where none are given all of training but some and the model's dummy.

    >>> number_fields(None, [Coordinates.of(first=range(2), text=range(3), dummy=range(1))], "abacus")
    ('first',)
    """
    if given is not None:
        return known_fields(given, trained, kind)
    left_out = {DUMMY, *without}
    found = tuple(field for field in _fields(trained) if field not in left_out)
    if not found:
        raise OrdinateError(
            f"encoding {kind!r} needs a field of numbers, these sequences have {', '.join(_fields(trained))}: "
            "write fields = [...] or choose another encoding"
        )
    return found


def _fields(trained: Iterable[Coordinates]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(field for coordinates in trained for field in coordinates.fields))
