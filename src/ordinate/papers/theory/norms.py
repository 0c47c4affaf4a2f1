"""Norms in which a sum of heads is fitted to a kernel, and the exact minimax error of attention without dot product.

Each norm has the solver for its best coefficients. The l1 norm of the difference of two kernels is the sup norm of the
difference of their outputs over all inputs in [-1, 1], which is the norm of the paper's theorems; the l2 norm squared
is the mean squared error over independent inputs of variance 1, which is the loss of its experiments; the sup norm is
over lags.

Minimax (Proposition 4.2 of arXiv 2402.00522): without dot products, one layer of attention is an affine function of
the tokens, whatever its heads. Over finitely many inputs the best affine function in the sup norm is a linear program,
and its dual is a proof: signed weights on inputs, 1 in absolute sum, that every affine function sums to 0, so that
none is nearer than their sum over the target.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from typing_extensions import override

from ordinate.errors import OrdinateError

Kernel: TypeAlias = Float[ndarray, " lag"]
Basis: TypeAlias = Float[ndarray, "lag term"]
Penalty: TypeAlias = Float[ndarray, "row term"]
Terms: TypeAlias = Float[ndarray, " term"]

REFINEMENTS = 3
"""Linear programs on what the one before left: each brings some 7 digits."""
PRECISE = 1e-4
"""A residual larger than this part of the target is known to three digits after one linear program."""


def need_scipy_optimize() -> Any:
    """Return scipy.optimize, which the extra `theory` installs."""
    try:
        import scipy.optimize
    except ImportError:
        raise OrdinateError("best fits need scipy: write pip install 'ordinate[theory]'") from None
    return scipy.optimize


@dataclass(frozen=True)
class Norm(ABC):
    """A norm over lags."""

    name: str

    @abstractmethod
    def size(self, values: Kernel) -> float:
        """The norm of a kernel."""

    @abstractmethod
    def solve(self, basis: Basis, penalty: Penalty, target: Kernel) -> Terms:
        """The c that minimises the norm of target - basis c, with that of penalty c beside it.

        Basis and penalty under each other have orthonormal columns, so that float64 is enough.
        """


class LinearProgram(Norm):
    """A norm whose best coefficients are those of a linear program."""

    @abstractmethod
    def bounds(self, lags: int, rows: int) -> Float[ndarray, "bound row"]:
        """Which bound holds each row: row i of the residual is at most the sum of its bounds."""

    @override
    def solve(self, basis: Basis, penalty: Penalty, target: Kernel) -> Terms:
        """By HiGHS, repeated on the residual: its tolerance is absolute, the residual's size is not."""
        matrix = np.concatenate([basis, penalty])
        rest = np.concatenate([target, np.zeros(len(penalty))])
        found = np.zeros(basis.shape[1])
        for _ in range(REFINEMENTS):
            scale = float(np.abs(rest).max())
            if scale == 0:
                break
            step = scale * self._once(matrix, rest / scale, len(basis))
            if self._cost(rest - matrix @ step, len(basis)) >= self._cost(rest, len(basis)):
                break
            found, rest = found + step, rest - matrix @ step
            if self._cost(rest, len(basis)) > PRECISE * scale:
                break
        return found

    def _cost(self, residual: ndarray, lags: int) -> float:
        return self.size(residual[:lags]) + float(np.abs(residual[lags:]).sum())

    def _once(self, matrix: ndarray, target: ndarray, lags: int) -> ndarray:
        from scipy.sparse import block_array, csr_array

        terms = matrix.shape[1]
        held = csr_array(self.bounds(lags, len(matrix) - lags).T)
        dense = csr_array(matrix)
        limits = held.shape[1]
        for method in ("highs", "highs-ipm"):  # where simplex steps stall, an interior point method does not
            solved = need_scipy_optimize().linprog(
                np.concatenate([np.zeros(terms), np.ones(limits)]),
                A_ub=block_array([[dense, -held], [-dense, -held]], format="csc"),
                b_ub=np.concatenate([target, -target]),
                bounds=[(None, None)] * terms + [(0, None)] * limits,
                method=method,
            )
            if solved.x is not None:
                answer: ndarray = solved.x[:terms]
                return answer
        raise OrdinateError(f"the linear program of the {self.name} fit failed: {solved.message}")


class Taxicab(LinearProgram):
    """sum_s |e_s|."""

    @override
    def size(self, values: Kernel) -> float:
        return float(np.abs(values).sum())

    @override
    def bounds(self, lags: int, rows: int) -> Float[ndarray, "bound row"]:
        """Each row has its own."""
        return np.eye(lags + rows)


class Largest(LinearProgram):
    """max_s |e_s|; its best fit is what an exchange method of Remez finds."""

    @override
    def size(self, values: Kernel) -> float:
        return float(np.abs(values).max())

    @override
    def bounds(self, lags: int, rows: int) -> Float[ndarray, "bound row"]:
        """All lags have one, each row of the penalty its own."""
        shared = np.zeros((1, lags + rows))
        shared[0, :lags] = 1
        return np.concatenate([shared, np.eye(lags + rows)[lags:]])


class Euclidean(Norm):
    """sqrt(sum_s e_s^2)."""

    @override
    def size(self, values: Kernel) -> float:
        return float(np.linalg.norm(values))

    @override
    def solve(self, basis: Basis, penalty: Penalty, target: Kernel) -> Terms:
        """The projection: columns are orthonormal."""
        found = basis.T @ target
        again: ndarray = basis.T @ (target - basis @ found) - penalty.T @ (penalty @ found)
        refined: ndarray = found + again
        return refined


L1 = Taxicab("l1")
L2 = Euclidean("l2")
SUP = Largest("sup")
NORMS: dict[str, Norm] = {norm.name: norm for norm in (L1, L2, SUP)}


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
