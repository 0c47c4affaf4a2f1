"""Experiments 4a and 4b: kernels with heavy and light tails, for heads that fall like powers and like exponentials."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from ordinate.encodings import Encoding, RpeLin, RpeLog
from ordinate.lab.architectures import DpFree, Memory
from ordinate.lab.evaluation.predicates import AtLeast, AtMost
from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.memories.decaying import Given, Kernel, Polynomial
from ordinate.papers.aims import Aim, Expresses, Place, Ratio
from ordinate.papers.figure import published
from ordinate.papers.memories.sizes import SHARE, SIZES, described, quoted
from ordinate.papers.sheets import Exact, Line, Sheet, Sheets, Spot, sheets_figure
from ordinate.papers.theory.biases import LIN, LOG, LOG_SHIFTED, Bias
from ordinate.papers.theory.slopes import best_slopes

Heads = Mapping[str, tuple[Encoding, Bias]]
FROM_ONE: Heads = {"lin": (RpeLin(), LIN), "log": (RpeLog(), LOG)}
"""Log heads do not see lag 0."""
FROM_ZERO: Heads = {"lin": (RpeLin(), LIN), "log": (RpeLog(shift=1), LOG_SHIFTED)}
ROLES = {"lin": "standard", "log": "positional"}
LENGTHS = {"smoke": 16, "laptop": 128, "paper": 1000}
LAPTOP = replace(
    SIZES["laptop"],
    width=4,
    training=SIZES["laptop"].training.model_copy(update={"steps": 2400}),
    differs="Differs from the published setting: 128 tokens instead of 1000, 2400 steps instead of 10 000. Rate, width "
    "and slopes at first are not published.",
)
"""Sequences are longer than elsewhere: the width is that of a sum, which needs little, and steps are fewer."""


def heavy(length: int) -> tuple[float, ...]:
    """t^-0.5 from lag 1 on: lag 0 would be infinite."""
    return (0.0, *(float(t) ** -0.5 for t in range(1, length)))


def light() -> tuple[float, ...]:
    """e^-5t, to where float32 ends."""
    return tuple(float(np.exp(-5.0 * t)) for t in range(8))


@lru_cache(maxsize=256)
def least_share(bias: Bias, kernel: tuple[float, ...], heads: int) -> float:
    """What heads of any slopes leave of the variance, at least: the squared distance of the kernels from lag 1 on.

    The token itself is there without any head.

    >>> least_share(LOG, heavy(32), 1) < 1e-20, round(least_share(LIN, heavy(32), 1), 2)
    (True, 0.05)
    """
    rho = np.array(kernel)
    return float(best_slopes(bias, heads, rho, start=1).error ** 2 / (rho**2).sum())


def _shown_share(bias: Bias, kernel: tuple[float, ...], heads: float) -> float:
    """The share as a logarithmic axis can show it."""
    return max(least_share(bias, kernel, int(heads)), 1e-16)


def tails(
    scale: str,
    name: str,
    kernel: Kernel,
    weights: tuple[float, ...],
    kinds: Heads,
    *,
    better: str,
    worse: str,
    left: float,
    note: str,
) -> Sheets:
    """Both kinds of heads on one kernel, trained and at their best; the worse are said to leave `left`."""
    size = LAPTOP if scale == "laptop" else SIZES[scale]
    # The softmax divides by a sum that grows with t, so that a head cannot be right at all tokens: one is scored.
    task = make_task("decaying-memory", length=LENGTHS[scale], kernels=[kernel], last=True)
    xs = tuple(float(heads) for heads in size.heads)
    lines: list[Line | Exact] = []
    for label, (encoding, bias) in kinds.items():
        spots = {}
        for heads in size.heads:
            layer = Memory(layers=1, heads=heads, ffn=False, encoding=(encoding,), attention=DpFree())
            spots[float(heads)] = Spot(size.recipe(f"{name}-{label}-{heads}", task, layer))
        lines.append(Line(f"{label}, trained", ROLES[label], spots))
        lines.append(
            Exact(
                f"{label}, best",
                f"{ROLES[label]}, last",
                xs,
                partial(_shown_share, bias, weights),
            )
        )
    known = published("memories")[f"exp-{name}"]
    few, most, title = xs[0], xs[-1], "what is left"
    aims: list[Aim] = [
        Ratio(
            f"Trained: one {better} head is better than {most:g} {worse} heads.",
            AtLeast(1),
            Place(title, f"{better}, trained", few),
            Place(title, f"{worse}, trained", most),
            known[f"{worse}, 64 heads"] / known[f"{better}, 1 head"],
        ),
        Expresses(
            f"Expressible: one {better} head leaves less than 1e-5 of the variance.",
            AtMost(1e-5),
            Place(title, f"{better}, best", few),
        ),
        Expresses(
            f"Expressible: {most:g} {worse} heads leave more than {left:g} of the variance.",
            AtLeast(left),
            Place(title, f"{worse}, best", most),
        ),
    ]
    apart = (
        "The first claim is of what training finds, the others of what heads can express: no theorem says that the "
        "other kind of head fails, and it does not."
    )
    return Sheets(
        [Sheet(title, "heads", lines, SHARE, log_x=True)],
        aims,
        size.seeds,
        f"{apart} {note} {quoted(f'exp-{name}')} {size.differs}",
    )


def exp_4a(scale: str) -> Sheets:
    """A heavy tail."""
    length = LENGTHS[scale]
    kernel = Polynomial(power=0.5, cut=length)
    note = "The kernel begins at lag 1: at lag 0 it is infinite."
    return tails(
        scale, "4a", kernel, heavy(length), FROM_ONE, better="log", worse="lin", left=0.01, note=note
    )


def exp_4b(scale: str) -> Sheets:
    """A light tail."""
    squares = np.square(light())
    note = (
        "Log heads fall like (1 + t)^-p, so that they see lag 0. The token itself is there without any head and alone "
        f"leaves {squares[1:].sum() / squares.sum():.1e} of the variance, less than was published for 64 log heads."
    )
    return tails(
        scale, "4b", Given(rho=light()), light(), FROM_ZERO, better="lin", worse="log", left=1e-4, note=note
    )


FIGURES = (
    sheets_figure(
        "memories/exp-4a",
        "A heavy tail",
        "What one layer of attention alone leaves of the variance of a sum over all tokens before, weighted by t^-0.5 "
        "(not summable, so outside the theorem): heads that fall like powers (log) and like exponentials (lin).",
        described("both kinds of heads, three seeds, about 10 minutes on 2 cores"),
        exp_4a,
    ),
    sheets_figure(
        "memories/exp-4b",
        "A light tail",
        "What one layer of attention alone leaves of the variance of a sum over all tokens before, weighted by e^-5t: "
        "heads that fall like exponentials (lin) and like powers (log).",
        described("both kinds of heads, three seeds, about 10 minutes on 2 cores"),
        exp_4b,
    ),
)
