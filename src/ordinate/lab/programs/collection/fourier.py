"""The fast Fourier transform, real and imaginary parts in two words."""

import math

import numpy as np

from ordinate.lab.programs.language import Range, Value, butterfly, permute, powers
from ordinate.lab.programs.program import Outputs, Program, Words


def fft(real: Value, imaginary: Value) -> tuple[Value, Value]:
    """y_k = sum_j x_j e^{-2 pi i j k / n} (Cooley and Tukey 1965), n a power of two.

    Numbers are put into bit-reversed order. In stage h = 1, 2, 4, ... the upper of two processors h places apart turns
    its number by w, and they exchange: lower = a + w b, upper = a - w b. Turning is a position-dependent scaling.
    Sums of 2h numbers of absolute value at most sqrt(2) stay below 3h.
    """
    n = real.n
    order = reversed_bits(n)
    re, im = permute(real, order), permute(imaginary, order)
    for half in powers(n):
        lower = (np.arange(n) & half) == 0
        own = [x.scaled(lower.astype(float)) for x in (re, im)]
        turned = turn(re, im, half)
        re, im = (
            (a - wb + butterfly(a + wb, half)).within(Range(-3 * half, 3 * half))
            for a, wb in zip(own, turned, strict=True)
        )
    return re, im


def turn(re: Value, im: Value, half: int) -> tuple[Value, Value]:
    """Times e^{-i pi j / half} in place j of the upper half of a block, 0 in the lower half.

    Its cosines have both signs and its sines one: three patterns of attention, and a fourth for the lower half.
    """
    place = np.arange(re.n)
    upper = (place & half) > 0
    angle = -math.pi * (place % half) / half
    cos, sin = np.where(upper, np.cos(angle), 0.0), np.where(upper, np.sin(angle), 0.0)
    return re.scaled(cos) - im.scaled(sin), re.scaled(sin) + im.scaled(cos)


def reversed_bits(n: int) -> list[int]:
    """The order of bit reversal.

    >>> reversed_bits(8)
    [0, 4, 2, 6, 1, 5, 3, 7]
    """
    bits = (n - 1).bit_length()
    return [int(f"{i:0{bits}b}"[::-1], 2) if bits else 0 for i in range(n)]


def _fft(inputs: Words) -> Outputs:
    found = np.fft.fft(inputs[..., 0] + 1j * inputs[..., 1], axis=1)
    return np.stack([found.real, found.imag], axis=-1)


def _waves(n: int) -> list[Words]:
    """One number alone, and whole waves."""
    place = np.arange(n)
    waves = [
        np.stack([np.cos(2 * np.pi * k * place / n), np.sin(2 * np.pi * k * place / n)], -1)
        for k in range(min(n, 8))
    ]
    alone = [np.stack([place == k, place < 0], -1).astype(float) for k in (0, n - 1)]
    return [np.clip(np.array(waves + alone), -1, 1)]


FOURIER = (
    Program(
        "fft",
        "fast Fourier transform of real and imaginary parts",
        fft,
        (Range(-1, 1), Range(-1, 1)),
        _fft,
        words=2,
        hard=_waves,
        only_powers=True,
    ),
)
