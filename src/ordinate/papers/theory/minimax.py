"""The exact minimax error of attention without dot product (Proposition 4.2 of arXiv 2402.00522).

Without dot products, one layer of attention is an affine function of the tokens, whatever its heads. Over finitely many
inputs the best affine function in the sup norm is a linear program, and its dual is a proof: signed weights on inputs,
1 in absolute sum, that every affine function sums to 0, so that none is nearer than their sum over the target.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ordinate.errors import OrdinateError
from ordinate.papers.theory.norms import need_scipy_optimize

MOST_INPUTS = 100_000


@dataclass(frozen=True)
class Minimax:
    """The best affine function of the tokens in the sup norm."""

    error: float
    constant: float
    weights: Float[ndarray, " lag"]
    certificate: Float[ndarray, " input"]
    """The dual: no affine function has a smaller error than sum_i certificate_i target_i."""


def all_inputs(values: Sequence[float], tokens: int) -> Float[ndarray, "input lag"]:
    """All sequences of these values; column s is the token s places back.

    >>> all_inputs([-1.0, 1.0], 2).tolist()
    [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]
    """
    if len(values) ** tokens > MOST_INPUTS:
        raise OrdinateError(
            f"{len(values)}^{tokens} inputs are too many to list: take at most {MOST_INPUTS}, or fewer tokens"
        )
    return np.array(list(product(values, repeat=tokens)), dtype=np.float64)


def content_lag(inputs: Float[ndarray, "input lag"]) -> Float[ndarray, " input"]:
    """The target of Proposition 4.2: x_{t-g(x_t)} with g(x) = x + 1, over tokens -1, 0 and 1.

    >>> content_lag(np.array([[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, -1.0]])).tolist()
    [-1.0, 1.0, -1.0]
    """
    lag = inputs[:, 0].astype(int) + 1
    if inputs.shape[1] < 3:
        raise OrdinateError(f"{inputs.shape[1]} tokens are too few: the target looks 2 back, give 3 or more")
    found: ndarray = inputs[np.arange(len(inputs)), lag]
    return found


def affine_minimax(inputs: Float[ndarray, "input lag"], targets: Float[ndarray, " input"]) -> Minimax:
    """min over c and w of max over inputs |target - c - <w, x>|, and the proof that it is no smaller.

    >>> inputs = all_inputs([-1.0, 0.0, 1.0], 3)
    >>> found = affine_minimax(inputs, content_lag(inputs))
    >>> round(found.error, 9), round(float(found.certificate @ content_lag(inputs)), 9)
    (1.0, 1.0)
    """
    features = np.concatenate([np.ones((len(inputs), 1)), inputs], axis=1)
    terms, count = features.shape[1], len(inputs)
    bound = -np.ones((count, 1))
    solved = need_scipy_optimize().linprog(
        np.eye(terms + 1)[-1],
        A_ub=np.block([[features, bound], [-features, bound]]),
        b_ub=np.concatenate([targets, -targets]),
        bounds=[(None, None)] * terms + [(0, None)],
        method="highs",
    )
    if solved.x is None:
        raise OrdinateError(f"the linear program failed: {solved.message}")
    over, under = -solved.ineqlin.marginals.reshape(2, count)
    return Minimax(float(solved.fun), float(solved.x[0]), solved.x[1:terms], under - over)


def affine_mse(inputs: Float[ndarray, "input lag"], targets: Float[ndarray, " input"]) -> float:
    """The least mean squared error of an affine function, all inputs equally likely.

    >>> inputs = all_inputs([-1.0, 0.0, 1.0], 3)
    >>> round(affine_mse(inputs, content_lag(inputs)), 3), round(float(content_lag(inputs).var()), 3)
    (0.352, 0.667)
    """
    features = np.concatenate([np.ones((len(inputs), 1)), inputs], axis=1)
    best = np.linalg.lstsq(features, targets, rcond=None)[0]
    return float(((targets - features @ best) ** 2).mean())
