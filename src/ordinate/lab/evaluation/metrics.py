"""How wrong outputs are. One number a sample, so that statistics can resample them."""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor


def squared_error(
    output: Float[Tensor, "batch token out"],
    target: Float[Tensor, "batch token out"],
    scored: Bool[Tensor, "token out"],
) -> Float[Tensor, " batch"]:
    """Mean over the scored outputs of (output - target)^2, for each sample."""
    return ((output - target)[:, scored]).square().mean(-1)


def squared_size(
    target: Float[Tensor, "batch token out"], scored: Bool[Tensor, "token out"]
) -> Float[Tensor, " batch"]:
    """Mean over the scored outputs of target^2, for each sample: what an answer of zero would score."""
    return target[:, scored].square().mean(-1)


def target_variance(target: Float[Tensor, "batch token out"], scored: Bool[Tensor, "token out"]) -> float:
    """Variance of all scored targets: what the best constant answer would score."""
    return float(target[:, scored].double().var(correction=0))


def within_tolerance(
    output: Float[Tensor, "batch token out"],
    target: Float[Tensor, "batch token out"],
    scored: Bool[Tensor, "token out"],
    *,
    relative: float,
    absolute: float,
) -> Bool[Tensor, " batch"]:
    """Whether ALL scored outputs of a sample satisfy |output - target| <= absolute + relative * |target|."""
    return torch.isclose(output, target, rtol=relative, atol=absolute)[:, scored].all(-1)


def symbols_right(
    output: Float[Tensor, "batch token out"],
    target: Int[Tensor, "batch token"],
    scored: Bool[Tensor, "token 1"],
) -> Bool[Tensor, "batch answer"]:
    """Whether the likeliest symbol is the right one, at every scored token."""
    chosen = scored[:, 0]
    return output[:, chosen].argmax(-1) == target[:, chosen]


def symbol_entropy(
    output: Float[Tensor, "batch token out"],
    target: Int[Tensor, "batch token"],
    scored: Bool[Tensor, "token 1"],
) -> Float[Tensor, " batch"]:
    """Mean over the scored tokens of -log p(right symbol), for each sample."""
    chosen = scored[:, 0]
    losses = F.cross_entropy(output[:, chosen].transpose(1, 2), target[:, chosen], reduction="none")
    return losses.mean(-1)
