"""What attention over classes of pairs reads from a pattern: worked out once for each, and checked once."""

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ordinate.errors import OrdinateError
from ordinate.relations.pattern import ABSENT, Pattern

_LAYOUTS: "WeakKeyDictionary[Pattern, Layout]" = WeakKeyDictionary()
_CHECKED: "WeakKeyDictionary[Pattern, bool]" = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Layout:
    """The classes of all pairs; those without a vector, plain or not attended, have the id after the last class."""

    classes: Int[Tensor, "query key"]
    count: int
    """How many ids there are, that one included."""
    mask: Float[Tensor, "query key"] | None
    """0 where a pair is attended, minus infinity where not; None where all are."""

    @cached_property
    @torch.inference_mode(False)
    def diagonals(self) -> Int[Tensor, " offset"] | None:
        """The class of every offset key - query, from 1 - tokens up; None where offsets do not decide the class.

        None also where classes are fewer than tokens: the product with a short table and a lookup is then faster
        than that with a vector for every offset (measured at 101 and 512 tokens).
        """
        if self.count <= len(self.classes) or bool((self.classes[1:, 1:] != self.classes[:-1, :-1]).any()):
            return None
        return torch.cat([self.classes[:, 0].flip(0), self.classes[0, 1:]])

    @cached_property
    @torch.inference_mode(False)
    def index(self) -> Int[Tensor, " pair"]:
        """Where in a flat [query, class] a pair of a flat [query, key] is looked up."""
        return (self.classes + torch.arange(len(self.classes))[:, None] * self.count).flatten()


@torch.inference_mode(False)
def layout_of(pattern: Pattern) -> Layout:
    """The layout of a pattern, from the cache after the first call."""
    layout = _LAYOUTS.get(pattern)
    if layout is None:
        absent = pattern.dense == ABSENT
        mask = torch.zeros(absent.shape).masked_fill_(absent, float("-inf")) if bool(absent.any()) else None
        layout = Layout(pattern.dense.masked_fill(absent, pattern.plain), pattern.classes + 1, mask)
        _LAYOUTS[pattern] = layout
    return layout


def with_plain(rows: Float[Tensor, "head cls *dim"]) -> Float[Tensor, "head more *dim"]:
    """Zeros for plain pairs, whose id comes after the classes."""
    return torch.cat([rows, rows.new_zeros(len(rows), 1, *rows.shape[2:])], 1)


def check(
    pattern: Pattern,
    query: Tensor | None,
    key: Tensor | None,
    value: Tensor,
    tables: tuple[Tensor | None, Tensor | None],
    scores_bias: Tensor | None = None,
) -> None:
    """Refuse what has no answer; `tables` are the vectors and the bias of the classes."""
    vectors, bias = tables
    if (query is None) != (key is None and vectors is None):
        raise OrdinateError("a query needs keys or class vectors, and they need a query")
    if query is None and bias is None and scores_bias is None:
        raise OrdinateError("attention without scores: give a query with keys or class vectors, or a bias")
    if value.shape[2] != pattern.tokens:
        raise OrdinateError(f"the pattern has {pattern.tokens} tokens, the values have {value.shape[2]}")
    for table in tables:
        if table is not None and table.shape[1] != pattern.classes:
            raise OrdinateError(f"the pattern has {pattern.classes} classes, the table has {table.shape[1]}")
    _check_queries(pattern)


def _check_queries(pattern: Pattern) -> None:
    """A query without a key would have the weights 0 / 0."""
    if pattern in _CHECKED:
        return
    counts = torch.bincount(pattern.query, minlength=pattern.tokens)
    if not bool(counts.all()):
        raise OrdinateError(f"query {int(counts.argmin())} has no key to attend to: give it at least one")
    _CHECKED[pattern] = True
