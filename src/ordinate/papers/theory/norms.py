"""Norms in which a sum of heads is fitted to a kernel, each with the solver for its best coefficients.

The l1 norm of the difference of two kernels is the sup norm of the difference of their outputs over all inputs in
[-1, 1], which is the norm of the paper's theorems; the l2 norm squared is the mean squared error over independent
inputs of variance 1, which is the loss of its experiments; the sup norm is over lags.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ordinate.errors import OrdinateError

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
    def size(self, values: Float[ndarray, " lag"]) -> float:
        """The norm of a kernel."""

    @abstractmethod
    def solve(
        self,
        basis: Float[ndarray, "lag term"],
        penalty: Float[ndarray, "row term"],
        target: Float[ndarray, " lag"],
    ) -> Float[ndarray, " term"]:
        """The c that minimises the norm of target - basis c, with that of penalty c beside it.

        Basis and penalty under each other have orthonormal columns, so that float64 is enough.
        """


class LinearProgram(Norm):
    """A norm whose best coefficients are those of a linear program."""

    @abstractmethod
    def bounds(self, lags: int, rows: int) -> Float[ndarray, "bound row"]:
        """Which bound holds each row: row i of the residual is at most the sum of its bounds."""

    def solve(
        self,
        basis: Float[ndarray, "lag term"],
        penalty: Float[ndarray, "row term"],
        target: Float[ndarray, " lag"],
    ) -> Float[ndarray, " term"]:
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

    def size(self, values: Float[ndarray, " lag"]) -> float:
        """The sum of absolute values."""
        return float(np.abs(values).sum())

    def bounds(self, lags: int, rows: int) -> Float[ndarray, "bound row"]:
        """Each row has its own."""
        return np.eye(lags + rows)


class Largest(LinearProgram):
    """max_s |e_s|; its best fit is what an exchange method of Remez finds."""

    def size(self, values: Float[ndarray, " lag"]) -> float:
        """The largest absolute value."""
        return float(np.abs(values).max())

    def bounds(self, lags: int, rows: int) -> Float[ndarray, "bound row"]:
        """All lags have one, each row of the penalty its own."""
        shared = np.zeros((1, lags + rows))
        shared[0, :lags] = 1
        return np.concatenate([shared, np.eye(lags + rows)[lags:]])


class Euclidean(Norm):
    """sqrt(sum_s e_s^2)."""

    def size(self, values: Float[ndarray, " lag"]) -> float:
        """The root of the sum of squares."""
        return float(np.linalg.norm(values))

    def solve(
        self,
        basis: Float[ndarray, "lag term"],
        penalty: Float[ndarray, "row term"],
        target: Float[ndarray, " lag"],
    ) -> Float[ndarray, " term"]:
        """The projection: columns are orthonormal."""
        found = basis.T @ target
        again: ndarray = basis.T @ (target - basis @ found) - penalty.T @ (penalty @ found)
        refined: ndarray = found + again
        return refined


L1 = Taxicab("l1")
L2 = Euclidean("l2")
SUP = Largest("sup")
NORMS: dict[str, Norm] = {norm.name: norm for norm in (L1, L2, SUP)}
