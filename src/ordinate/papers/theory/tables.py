"""Finite tables as ReLUs: an index function of a few tokens, exact, and near it where tokens are nearly right.

A table over tokens +-1 has one unit for every corner s of the cube,

    f(x) = c + sum_s (f(s) - c) relu(<s, x> - (n - 1)),    n tokens, c halfway between the ends of f:

at x = s the unit is 1, and at every other corner <s, x> is at most n - 2, so that it is 0, and stays so while the
errors of the tokens add up to less than 1. A table of one token is a line through its values, whatever they are. Tokens
that the table does not depend on get no weights.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ordinate.errors import OrdinateError

SIGNS = (-1.0, 1.0)
MOST_UNITS = 4096
"""Corners of the largest table."""


class Units(NamedTuple):
    """sum_i down_i relu(<up_i, x> + bias_i), and how far it moves when tokens do."""

    up: Float[ndarray, "unit token"]
    bias: Float[ndarray, " unit"]
    down: Float[ndarray, " unit"]
    read: tuple[int, ...]
    """Tokens that it depends on."""
    steepness: float
    """It moves by at most this times the sum of the tokens' errors, while that is below 1."""

    def at(self, x: Float[ndarray, "*row token"]) -> Float[ndarray, "*row"]:
        """Its value.

        >>> table_units(SIGNS, np.array([2.0, 1.0])).at(np.array([[-1.0], [1.0]])).tolist()
        [2.0, 1.0]
        """
        return np.asarray(np.maximum(x @ self.up.T + self.bias, 0) @ self.down)


def table_units(values: Sequence[float], table: Float[ndarray, "..."]) -> Units:
    """Units of a table with an axis for every token, each in the order of the values a token can have.

    >>> units = table_units(SIGNS, np.array([[1.0, 2.0], [3.0, 5.0]]))
    >>> units.at(np.array([[-1.0, 1.0], [1.0, 1.0]])).tolist(), units.steepness
    ([2.0, 5.0], 2.0)
    """
    read = tuple(axis for axis in range(table.ndim) if np.ptp(table, axis=axis).any())
    reduced = table[tuple(slice(None) if axis in read else 0 for axis in range(table.ndim))]
    if len(read) <= 1:
        slopes, offsets, heights, steepness = _line(values, reduced.ravel())
    elif tuple(values) == SIGNS:
        slopes, offsets, heights, steepness = _corners(reduced)
    else:
        raise OrdinateError(
            f"a table of {len(read)} tokens is built of tokens -1 and 1 alone: write tokens=signs, "
            "or an index function of one token"
        )
    up = np.zeros((len(offsets), table.ndim))
    up[:, list(read)] = slopes
    return Units(up, offsets, heights, read, steepness)


def _line(
    values: Sequence[float], table: Float[ndarray, " value"]
) -> tuple[ndarray, ndarray, ndarray, float]:
    """A constant, and a turn at every value but the last."""
    if len(table) == 1:
        return np.zeros((1, 0)), np.ones(1), table, 0.0
    slopes = np.diff(table) / np.diff(values)
    turns = np.diff(slopes, prepend=0.0)
    up = np.concatenate([[0.0], np.ones(len(turns))])[:, None]
    offsets = np.concatenate([[1.0], -np.array(values[:-1])])
    return up, offsets, np.concatenate([table[:1], turns]), float(np.abs(slopes).max())


def _corners(table: Float[ndarray, "..."]) -> tuple[ndarray, ndarray, ndarray, float]:
    """A constant, and a unit for every corner."""
    if table.size > MOST_UNITS:
        raise OrdinateError(
            f"a table of {table.ndim} tokens takes {table.size} units of an FFN: take at most {MOST_UNITS}"
        )
    centre = (float(table.max()) + float(table.min())) / 2
    corners = np.array(list(product(SIGNS, repeat=table.ndim)))
    up = np.concatenate([np.zeros((1, table.ndim)), corners])
    offsets = np.concatenate([[1.0], np.full(len(corners), 1.0 - table.ndim)])
    heights = np.concatenate([[centre], table.ravel() - centre])
    return up, offsets, heights, float(np.abs(heights[1:]).max())
