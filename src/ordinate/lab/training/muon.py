"""Muon: the step of a matrix is made orthogonal, that of everything else is AdamW's.

    M <- mu M + (1 - mu) G                      momentum of the gradient G
    U <- orthogonal part of mu M + (1 - mu) G   all its singular values are about 1
    W <- (1 - rate decay) W - rate 0.2 sqrt(max(rows, columns)) U

(K. Jordan et al. 2024; the scale is that of arXiv 2502.16982, with which a number of a matrix moves about as far as
under AdamW, so that rate and decay of one are right for the other.)

`torch.optim.Muon` takes matrices alone, one after the other, and in bfloat16. Here matrices of a shape are one batch,
in the precision of the weights, and one optimiser with one state and one schedule moves all parameters.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

ROUNDS = 5
COEFFICIENTS = 3.4445, -4.7750, 2.0315
"""Of the odd polynomial that is applied to singular values again and again: steep at 0, and near 1 it stays near 1."""


def orthogonal_part(matrices: Float[Tensor, "*batch row column"]) -> Float[Tensor, "*batch row column"]:
    """U V^T of every matrix U S V^T, roughly: singular values end between 0.6 and 1.3, but for those that are tiny.

    By Newton-Schulz `rounds`, which multiply only.

    >>> orthogonal_part(torch.tensor([[3.0, 0.0], [0.0, 2.0]])).round(decimals=1)
    tensor([[1.1000, 0.0000],
            [0.0000, 0.7000]])
    """
    tall = matrices.shape[-2] > matrices.shape[-1]
    wide = matrices.mT if tall else matrices
    x = wide.reshape(-1, *wide.shape[-2:])
    x = x / x.norm(dim=(-2, -1), keepdim=True).clamp(min=torch.finfo(x.dtype).tiny)
    faster = rounds_of_squares if 2 * x.shape[-1] >= 3 * x.shape[-2] else rounds
    x = faster(x).view(wide.shape)
    return x.mT if tall else x


def rounds(x: Float[Tensor, "batch row column"]) -> Float[Tensor, "batch row column"]:
    """X <- a X + (b A + c A^2) X with A = X X^T, again and again."""
    a = COEFFICIENTS[0]
    for _ in range(ROUNDS):
        x = torch.baddbmm(x, _added(x @ x.mT), x, beta=a)
    return x


def rounds_of_squares(x: Float[Tensor, "batch row column"]) -> Float[Tensor, "batch row column"]:
    """The same with fewer products where columns are more than one and a half times the rows.

    A is all that a round reads of X, and the next A is a polynomial of this one: with R = a + b A + c A^2, which
    commutes with A, it is R^2 A. The wide X is multiplied once, by the product of all R.
    """
    a = COEFFICIENTS[0]
    square = x @ x.mT
    added = _added(square)
    product = added + a * torch.eye(x.shape[-2], dtype=x.dtype, device=x.device)
    for _ in range(ROUNDS - 1):
        for _ in range(2):
            square = torch.baddbmm(square, added, square, beta=a)
        added = _added(square)
        product = torch.baddbmm(product, added, product, beta=a)
    return product @ x


def _added(square: Float[Tensor, "batch row row"]) -> Float[Tensor, "batch row row"]:
    """b A + c A^2."""
    _, b, c = COEFFICIENTS
    return torch.baddbmm(square, square, square, beta=b, alpha=c)


class MuonAdamW(torch.optim.AdamW):
    """Muon for parameters whose last two axes are both at least `smallest`, AdamW for the others."""

    def __init__(
        self,
        parameters: Iterable[Tensor],
        rate: float,
        betas: tuple[float, float],
        *,
        weight_decay: float,
        momentum: float,
        smallest: int,
    ) -> None:
        every = list(parameters)
        matrices = [p for p in every if p.ndim > 1 and min(p.shape[-2:]) >= smallest]
        chosen = {id(p) for p in matrices}
        groups: list[dict[str, Any]] = [
            {"params": [p for p in every if id(p) not in chosen]},
            {"params": matrices, "momentum": momentum},
        ]
        filled = [group for group in groups if group["params"]]
        super().__init__(filled, rate, betas, weight_decay=weight_decay, fused=True)

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Move all parameters that have a gradient."""
        groups = self.param_groups
        try:
            self.param_groups = [group for group in groups if "momentum" not in group]
            super().step()
        finally:
            self.param_groups = groups
        for group in groups:
            if "momentum" in group:
                self._move_matrices(group)

    def _move_matrices(self, group: dict[str, Any]) -> None:
        """One batch of orthogonal parts for every shape."""
        mu, rate = group["momentum"], group["lr"]
        by_shape: defaultdict[torch.Size, list[tuple[Tensor, Tensor]]] = defaultdict(list)
        for p in group["params"]:
            if p.grad is not None:
                by_shape[p.shape].append((p, p.grad))
        for shape, pairs in by_shape.items():
            matrices, gradients = [p for p, _ in pairs], [gradient for _, gradient in pairs]
            states = [self._state_of(p) for p in matrices]
            held = [state["momentum"] for state in states]
            torch._foreach_add_([state["step"] for state in states], 1)
            torch._foreach_lerp_(held, gradients, 1 - mu)
            moved = orthogonal_part(torch.stack(torch._foreach_lerp(gradients, held, mu)))
            torch._foreach_mul_(matrices, 1 - rate * group["weight_decay"])
            torch._foreach_add_(matrices, moved.unbind(), alpha=-rate * 0.2 * max(shape[-2:]) ** 0.5)

    def _state_of(self, matrix: Tensor) -> dict[str, Tensor]:
        """Its momentum; AdamW asks for a count of steps where there is a state at all."""
        state: dict[str, Tensor] = self.state[matrix]
        if not state:
            state |= {"step": torch.zeros(()), "momentum": torch.zeros_like(matrix)}
        return state
