"""How numbers are drawn: every sequence first draws a range of its own, then its numbers inside it.

    a, b ~ U[c * low, c * high],   lo = min(a, b),   hi = max(a, b),   x_1, ..., x_n ~ U[lo, hi]

Training has c = 1. Elsewhere only what training cannot show is kept: a range [lo, hi] that lies wholly inside
[low, high] is refused and drawn again. Where [c * low, c * high] does not stick out of [low, high] that rule
would refuse everything, so it does not apply: at c = 1, and at 0 < c < 1 when zero lies in [low, high].

Whole numbers are drawn as the paper draws them: from all of [c * low, c * high], without ranges and refusals.
"""

import math

import torch
from jaxtyping import Float, Int, Shaped
from torch import Generator, Tensor

from ordinate.errors import OrdinateError

LONGEST = 4096
LARGEST = 1e15
LARGEST_WHOLE = 2**24
"""Up to here float32 holds every whole number."""


def check_length(length: int, shortest: int = 1, longest: int = LONGEST) -> None:
    """Refuse a length that no sequence can have.

    >>> check_length(0)
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: length must be 1 to 4096, got 0: write a whole number such as length=8
    """
    if not shortest <= length <= longest:
        example = min(max(8, shortest), longest)
        raise OrdinateError(
            f"length must be {shortest} to {longest}, got {length}: "
            f"write a whole number such as length={example}"
        )


def check_count(count: int) -> None:
    """Refuse to draw fewer than one sequence."""
    if count < 1:
        raise OrdinateError(f"count must be at least 1, got {count}: write a whole number such as count=10")


def check_scale(scale: float, low: float, high: float) -> None:
    """Refuse a scale that is not positive, or so large that squares of sums would leave float32."""
    largest = LARGEST / max(abs(low), abs(high))
    if not 0 < scale <= largest:
        raise OrdinateError(
            f"scale must be above 0 and at most {largest:.3g}, got {scale}: "
            "write a number such as scale=2 (1 is the training range)"
        )


def whole(name: str, value: int | float, least: int, most: int) -> int:
    """A whole number from an axis, or a refusal.

    >>> whole("cascade", 7.0, 0, 5)
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: cascade must be a whole number from 0 to 5, got 7: write cascade=5
    """
    if not (least <= value <= most and value == int(value)):
        close = most if value > most else least
        raise OrdinateError(
            f"{name} must be a whole number from {least} to {most}, got {value:g}: write {name}={close}"
        )
    return int(value)


def integers(low: int, high: int, shape: tuple[int, ...], generator: Generator) -> Int[Tensor, "..."]:
    """Draw whole numbers from `low` to `high - 1`, on the device of the generator."""
    return torch.randint(low, high, shape, generator=generator, device=generator.device)


def chances(shape: tuple[int, ...], generator: Generator) -> Float[Tensor, "..."]:
    """Draw numbers from 0 to below 1, on the device of the generator."""
    return torch.rand(shape, generator=generator, device=generator.device)


def another(symbols: Shaped[Tensor, "*shape"], below: int, generator: Generator) -> Shaped[Tensor, "*shape"]:
    """Draw whole numbers below `below`, each other than the one given, uniform among those."""
    return (symbols + integers(1, below, tuple(symbols.shape), generator).to(symbols)) % below


def draw_range(
    count: int, *, low: float, high: float, scale: float, generator: Generator
) -> tuple[Float[Tensor, " count"], Float[Tensor, " count"]]:
    """Draw the range [lo, hi] of each of `count` sequences, in float64.

    Refusing needs no second draw. With S = [scale * low, scale * high] and I the part of S in [low, high],
    the pairs (a, b) that survive are uniform on S x S without I x I. So one end is uniform on S without I,
    the other is uniform on S with probability |S| / (|S| + |I|), else on I. The cost is the same however
    close the scale is to 1.

    >>> lo, hi = draw_range(1000, low=-2.0, high=2.0, scale=1.5, generator=torch.Generator())
    >>> bool((lo >= -3).all() and (hi <= 3).all() and ((lo < -2) | (hi > 2)).all())
    True
    """
    check_count(count)
    check_scale(scale, low, high)
    wide_low, wide_high = scale * low, scale * high
    inner_low, inner_high = max(low, wide_low), min(high, wide_high)

    def uniform(low: float, high: float) -> Float[Tensor, " count"]:
        u = torch.rand(count, generator=generator, dtype=torch.float64, device=generator.device)
        return torch.lerp(u.new_tensor(low), u.new_tensor(high), u)

    a, b = uniform(wide_low, wide_high), uniform(wide_low, wide_high)
    below, above = inner_low - wide_low, wide_high - inner_high
    if below + above > 0 and inner_low < inner_high:
        # t is in (0, below + above]: distances below `low` come first, then distances above `high`.
        t = (below + above) * (1 - uniform(0.0, 1.0))
        outside = torch.where(
            t <= below,
            (low - t).clamp(wide_low, math.nextafter(low, -math.inf)),
            (high + (t - below)).clamp(math.nextafter(high, math.inf), wide_high),
        )
        wide, inner = wide_high - wide_low, inner_high - inner_low
        a = outside
        b = torch.where(uniform(0.0, wide + inner) < wide, b, uniform(inner_low, inner_high))
    return torch.minimum(a, b), torch.maximum(a, b)


def draw_numbers(
    count: int, length: int, *, low: float, high: float, scale: float, generator: Generator
) -> Float[Tensor, "count length"]:
    """Draw `count` sequences of `length` numbers, each sequence inside its own range, in float32.

    >>> draw_numbers(3, 5, low=-2.0, high=2.0, scale=10.0, generator=torch.Generator()).shape
    torch.Size([3, 5])
    """
    lo, hi = draw_range(count, low=low, high=high, scale=scale, generator=generator)
    u = chances((count, length), generator)
    # lerp never leaves [lo, hi], whatever the rounding.
    return torch.lerp(lo.float().unsqueeze(1), hi.float().unsqueeze(1), u)


def whole_range(low: float, high: float, scale: float = 1.0) -> tuple[int, int]:
    """The smallest and the largest whole number of [scale * low, scale * high]; refused where there is none.

    >>> whole_range(-2.0, 2.0, 1.6)
    (-3, 3)
    >>> whole_range(0.2, 0.8)
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: there is no whole number from 0.2 to 0.8: write a larger scale, or a wider range
    """
    first, last = math.ceil(scale * low), math.floor(scale * high)
    if first > last:
        raise OrdinateError(
            f"there is no whole number from {scale * low:g} to {scale * high:g}: "
            "write a larger scale, or a wider range"
        )
    if max(-first, last) > LARGEST_WHOLE:
        raise OrdinateError(
            f"whole numbers are exact up to {LARGEST_WHOLE} in float32, got {max(-first, last)}: "
            "write a smaller scale, or a narrower range"
        )
    return first, last


def draw_integers(
    count: int, length: int, *, low: float, high: float, scale: float, generator: Generator
) -> Float[Tensor, "count length"]:
    """Draw `count` sequences of `length` whole numbers, uniformly from [scale * low, scale * high], in float32.

    >>> draw_integers(2, 99, low=-2.0, high=2.0, scale=1.0, generator=torch.Generator()).unique().tolist()
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    """
    check_count(count)
    first, last = whole_range(low, high, scale)
    return integers(first, last + 1, (count, length), generator).float()
