"""Numbers as a person reads them: three significant figures, no padding."""

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ordinate.lab.evaluation.statistics import Interval

NUMBER = re.compile(r"[-+]?[\d.]+(e[-+]?\d+)?%?|n/a|∞|-∞|")
"""A number as it is shown, or nothing."""


def show_number(value: float | int | None) -> str:
    """Return three significant figures; whole numbers in full, n/a for what is not known.

    >>> [show_number(v) for v in (0.0585, 1498.2, 1.7e-5, 12, 2.5e7, 0.0, None)]
    ['0.0585', '1498', '1.7e-5', '12', '2.5e7', '0', 'n/a']
    """
    if value is None or math.isnan(value):
        return "n/a"
    if isinstance(value, int):
        return str(value)
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e5:
        decimals = max(0, 2 - math.floor(math.log10(abs(value))))
        text = f"{value:.{decimals}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


def show_share(value: float) -> str:
    """Return whole per cents, rounded down: 100 is all of them, and what misses a limit is seen to miss it.

    >>> [show_share(v) for v in (1.0, 0.999, 0.895, 0.29, 0.0)]
    ['100', '99', '89', '29', '0']
    """
    return f"{math.floor(100 * value + 1e-6)}"


def show_power(value: float) -> str:
    """Write a number for an axis: a power of ten where `show_number` has an exponent.

    >>> [show_power(v) for v in (0.02, 5e-4, 1e-5)]
    ['0.02', '$5\\\\times10^{-4}$', '$10^{-5}$']
    """
    mantissa, _, exponent = show_number(value).partition("e")
    if not exponent:
        return mantissa
    factor = "" if mantissa == "1" else rf"{mantissa}\times"
    return rf"${factor}10^{{{exponent}}}$"


def show_interval(interval: "Interval") -> str:
    """Return the estimate with its interval.

    >>> from ordinate.lab.evaluation.statistics import Interval
    >>> show_interval(Interval(4.0, 2.5, 8.125, 0.95))
    '4 [2.5, 8.12]'
    """
    low, high = show_number(interval.low), show_number(interval.high)
    return f"{show_number(interval.estimate)} [{low}, {high}]"
