"""Entrants of the arena: every encoding that a recipe can name, with the settings that it chooses for a contest.

How an encoding is set for a contest is said in `terms`. A plug-in's encoding takes part too.

A bias that is alike on both sides cannot tell left from right in an encoder that looks both ways. Such biases are
published for models that look back only, and take part behind a causal mask as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.attention import Content, ContentClass, Form
from ordinate.coordinates import Coordinates
from ordinate.encodings import (
    ENCODINGS,
    BuildSpec,
    Encoding,
    EncodingSettings,
    NoPosition,
    Pairwise,
)
from ordinate.errors import OrdinateError
from ordinate.papers.arena.contests import FACTORS, Contest
from ordinate.papers.arena.terms import NoPlaceError, Terms, in_contest
from ordinate.relations import causal

Chosen = Callable[[Terms], EncodingSettings]

CONTENT: Form = Content()


@dataclass(frozen=True)
class Entrant:
    """An encoding under a name, how it is set for a contest, and the form of attention that reads it."""

    name: str
    settings: Chosen
    """Raises `NoPlaceError` in contests that it cannot take part in."""
    form: Form = CONTENT
    declared: bool = False
    """Whether it is given a relation of the task."""
    causal: bool = False
    """Whether a causal mask is added to it."""
    own: bool = False
    """Whether it is a plug-in's."""


def behind_mask(name: str) -> str:
    """The name of an entrant behind a causal mask."""
    return f"{name}, causal"


def entrants(contests: Sequence[Terms]) -> dict[str, Entrant]:
    """All encodings by name, some behind a causal mask too, and declared relations with keys of classes alone.

    Whether an encoding needs the mask is seen in the first of the contests that it takes part in.
    """
    found = [
        Entrant(name, partial(in_contest, kind.builds), declared=kind is Pairwise.Settings, own=_is_own(kind))
        for name, kind in ENCODINGS.items()
    ]
    alike = [entrant for entrant in found if _is_alike(entrant, contests)]
    found.append(Entrant(behind_mask(NoPosition.name), lambda terms: Pairwise(relation=causal()).settings))
    found += [replace(entrant, name=behind_mask(entrant.name), causal=True) for entrant in alike]
    found.append(Entrant("pairwise, content x class", _classes, ContentClass(), declared=True))
    return {entrant.name: entrant for entrant in found}


def _is_own(kind: type[EncodingSettings]) -> bool:
    return kind.__module__.split(".")[0] != __name__.split(".")[0]


def _is_alike(entrant: Entrant, contests: Sequence[Terms]) -> bool:
    for terms in contests:
        try:
            settings = entrant.settings(terms)
        except NoPlaceError:
            continue
        return alike_on_both_sides(built(settings, terms.spec), terms.trained, terms.spec.heads)
    return False


def _classes(terms: Terms) -> EncodingSettings:
    settings = in_contest(Pairwise, terms)
    if not built(settings, terms.spec).state_dict():
        raise NoPlaceError("its relation has no classes, which keys would be made of")
    return settings


def built(settings: EncodingSettings, spec: BuildSpec) -> Encoding:
    """The encoding of a model; the global generator stays as it was."""
    with torch.random.fork_rng(devices=[]):
        return settings.build(spec).eval()


def reached(settings: EncodingSettings, contest: Contest, spec: BuildSpec) -> tuple[int, ...]:
    """The multiples of the trained length that an encoding can be asked for; one that refuses says so itself.

    >>> from ordinate.papers.arena.contests import Lengths, contests
    >>> from ordinate.encodings import Learned, Sinusoidal
    >>> copies = contests(Lengths(5, 8, 10, 10, 16, 2))["copy"]
    >>> spec = BuildSpec(copies.task.trained())
    >>> reached(Sinusoidal().settings, copies, spec), reached(Learned().settings, copies, spec)
    ((1, 2, 4, 10), (1,))
    """
    encoding = built(settings, spec)
    found = []
    for factor in FACTORS:
        coordinates = contest.task.coordinates(factor * contest.length)
        try:
            with torch.no_grad():
                encoding.embed(torch.zeros(1, len(coordinates), 1), coordinates)
                encoding.pairs(coordinates, 0)
                encoding.bias(coordinates, 0)
        except OrdinateError:
            continue
        found.append(factor)
    return tuple(found)


def alike_on_both_sides(encoding: Encoding, coordinates: Coordinates, heads: int) -> bool:
    """Whether (i, j) and (j, i) get the same score term for all parameters: b[i, j] = b[j, i].

    An encoding that adds nothing to scores, or enters elsewhere as well, is none of these: columns and rotations tell
    left from right, and classes of pairs are declared with the mask that they need.

    >>> from ordinate.encodings import T5, Alibi, BuildSpec
    >>> here = Coordinates.of(number=range(5))
    >>> [alike_on_both_sides(kind().build(BuildSpec((here,), heads=2)), here, heads=2) for kind in (Alibi, T5)]
    [True, False]
    """
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        for parameter in encoding.parameters():  # first values may be all the same
            parameter.add_(torch.rand_like(parameter))
        if encoding.rotates or encoding.pairs(coordinates, 0) or _is_in_tokens(encoding, coordinates):
            return False
        bias = encoding.bias(coordinates, 0)
        if bias is None and not encoding.reads_scores:
            return False
        scores = torch.randn(1, heads, len(coordinates), len(coordinates))
        scores = scores + scores.mT
        if bias is not None:
            if not _is_even(bias):
                return False
            scores = scores + bias
        return not encoding.reads_scores or _is_even(encoding.scores(scores, coordinates, 0))


def _is_in_tokens(encoding: Encoding, coordinates: Coordinates) -> bool:
    """Whether `embed` makes equal tokens at different positions different."""
    tokens = encoding.embed(torch.zeros(1, len(coordinates), 1), coordinates)
    return not torch.equal(tokens, tokens[:, :1].expand_as(tokens))


def _is_even(scores: Float[Tensor, "*batch query key"]) -> bool:
    return torch.allclose(scores, scores.mT, atol=1e-5)
