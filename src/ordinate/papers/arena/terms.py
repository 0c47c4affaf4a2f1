"""What is known of a contest before an encoding is set for it, and how encodings of the library are set.

Tables have room for the longest sequence that is measured, distances share a vector or a bucket beyond those of
training, and lengths that papers chose for theirs are in the same proportion. All others have the settings of their
bare name. An encoding of one's own may have a class method `for_contest(terms)`, which returns it as it takes part.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ordinate.coordinates import Coordinates
from ordinate.encodings import (
    T5,
    Abacus,
    BuildSpec,
    Coupling,
    Encoding,
    EncodingSettings,
    Fire,
    Learned,
    Pairwise,
    Randomized,
    RpeLog,
    Shaw,
    Significance,
    Sinusoidal,
    Upe,
)
from ordinate.errors import OrdinateError
from ordinate.relations import Relation


@dataclass(frozen=True)
class Terms:
    """What is known of a contest before an encoding is set for it: what it is built for, and how far it is measured."""

    spec: BuildSpec
    measured: Coordinates
    """Coordinates of the longest sequence that is measured."""
    columns: int = 32
    """How many columns an encoding that appends columns to a token appends."""
    relation: Relation | None = None
    """The one that is declared for the task."""
    knowledge: str = ""
    """What a model with the relation knows about the task, or why no relation is declared."""

    @property
    def trained(self) -> Coordinates:
        """Coordinates of the longest sequence in training."""
        return max(self.spec.trained, key=len)

    @property
    def distance(self) -> int:
        """The largest distance between tokens in training."""
        return max(1, self.spec.capacity - 1)

    @property
    def furthest(self) -> int:
        """Places of the longest field that is measured."""
        return 1 + max(self.measured.ordinate)


class NoPlaceError(OrdinateError):
    """An encoding cannot take part in a contest; the message says why."""


def in_contest(kind: type[Encoding], terms: Terms) -> EncodingSettings:
    """The settings with which an encoding takes part; `NoPlaceError` is raised where it cannot.

    >>> here = Coordinates.of(number=range(9))
    >>> in_contest(Shaw, Terms(BuildSpec((here,)), here)).model_dump()["clip"]
    8
    """
    try:
        found = _asked(kind, terms)
    except NoPlaceError:
        raise
    except OrdinateError as error:
        raise OrdinateError(
            f"encoding {kind.name!r} cannot be set for a contest, {error}: give it a for_contest that does"
        ) from None
    settings = getattr(found, "settings", found)
    if not isinstance(settings, EncodingSettings):
        raise OrdinateError(
            f"for_contest of encoding {kind.name!r} gives {found!r}: return an encoding, such as cls()"
        )
    return settings


def _asked(kind: Any, terms: Terms) -> object:
    """What an encoding chooses, or the nearest class that it derives from."""
    for parent in kind.__mro__:
        if "for_contest" in vars(parent):
            return kind.for_contest(terms)
        if parent in CHOICES:
            return kind(**CHOICES[parent](terms))
    return kind()


def _columns(terms: Terms) -> Mapping[str, Any]:
    """As many columns as others append."""
    return {"width": terms.columns}


def _randomized(terms: Terms) -> Mapping[str, Any]:
    """Four times as many positions as tokens are measured: 2048 for 500 in the paper."""
    return {"width": terms.columns, "furthest": 4 * len(terms.measured)}


def _abacus(terms: Terms) -> Mapping[str, Any]:
    """Places for the longest number that is measured, all of them met in training."""
    return {"width": terms.columns, "furthest": terms.furthest, "spread": terms.furthest}


def _coupling(terms: Terms) -> Mapping[str, Any]:
    """Ids for the longest field that is measured."""
    return {"width": terms.columns, "furthest": terms.furthest}


def _shaw(terms: Terms) -> Mapping[str, Any]:
    """Distances beyond those of training share a vector."""
    return {"clip": terms.distance}


def _upe(terms: Terms) -> Mapping[str, Any]:
    """For a field that acts alike on all others; further distances share a vector."""
    if "multiplier" not in terms.trained.fields:
        raise NoPlaceError("no field acts alike on all others")
    # The multiplier is the first token: the largest distance is to it, and has no vector of its own.
    return {"clip": terms.distance - 1}


def _pairwise(terms: Terms) -> Mapping[str, Any]:
    """The relation that is declared for the task."""
    if terms.relation is None:
        raise NoPlaceError(f"no relation: {terms.knowledge}")
    return {"relation": terms.relation}


def _significance(terms: Terms) -> Mapping[str, Any]:
    """Digits further apart than every field of several tokens shows in training are plain."""
    last: dict[int, int] = {}
    for field, ordinate in zip(terms.trained.field, terms.trained.ordinate, strict=True):
        last[field] = max(ordinate, last.get(field, 0))
    return {"width": terms.columns, "reach": min(ordinate for ordinate in last.values() if ordinate)}


def _t5(terms: Terms) -> Mapping[str, Any]:
    """A bucket for all distances beyond training. A quarter of the buckets are single distances, never all."""
    return {"buckets": max(4, min(32, 4 * (terms.distance - 1))), "furthest": max(2, terms.distance)}


def _fire(terms: Terms) -> Mapping[str, Any]:
    """A threshold of a quarter of the longest training sequence: 512 of 2048 in the paper."""
    return {"threshold": terms.spec.capacity / 4}


def _rpe_log(terms: Terms) -> Mapping[str, Any]:
    """With lag 0, which every other encoding sees."""
    return {"shift": 1}


CHOICES: dict[type, Callable[[Terms], Mapping[str, Any]]] = {
    Learned: _columns,
    Sinusoidal: _columns,
    Randomized: _randomized,
    Abacus: _abacus,
    Coupling: _coupling,
    Shaw: _shaw,
    Upe: _upe,
    Pairwise: _pairwise,
    Significance: _significance,
    T5: _t5,
    Fire: _fire,
    RpeLog: _rpe_log,
}
"""The settings that encodings of the library choose for a contest, where they are not those of the bare name."""
