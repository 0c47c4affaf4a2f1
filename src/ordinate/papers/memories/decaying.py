"""Experiments 4a and 4b: kernels with heavy and light tails, for heads that fall like powers and like exponentials.

Beyond the paper: which published bias suits which tail, in one layer of attention alone with dot products.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ordinate.encodings import (
    T5,
    Alibi,
    Encoding,
    Fire,
    KerpleLog,
    NoPosition,
    Rope,
    RpeLin,
    RpeLog,
)
from ordinate.lab.architectures import Dp, DpFree, Memory
from ordinate.lab.evaluation.predicates import AtLeast, AtMost
from ordinate.lab.report.heat import Heat, heat_maps
from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.memories.decaying import Given, Kernel, Polynomial
from ordinate.papers.aims import Aim, Expresses, Place, Ratio, across
from ordinate.papers.figure import published
from ordinate.papers.memories.fixed import SHARE, SIZES, described, quoted
from ordinate.papers.sheets import Exact, Line, Sheet, Sheets, sheets_figure
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
        recipes = {}
        for heads in size.heads:
            layer = Memory(layers=1, heads=heads, ffn=False, encoding=(encoding,), attention=DpFree())
            recipes[heads] = size.recipe(f"{name}-{label}-{heads}", task, layer)
        look, share = ROLES[label], partial(_shown_share, bias, weights)
        lines.append(Line.over(recipes, f"{label}, trained", look))
        lines.append(Exact(f"{label}, best", f"{look}, last", xs, share))
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


@sheets_figure(
    "memories/exp-4a",
    "A heavy tail",
    "What one layer of attention alone leaves of the variance of a sum over all tokens before, weighted by t^-0.5 "
    "(not summable, so outside the theorem): heads that fall like powers (log) and like exponentials (lin).",
    described("both kinds of heads, three seeds, about 10 minutes on 2 cores"),
)
def exp_4a(scale: str) -> Sheets:
    """A heavy tail."""
    length = LENGTHS[scale]
    kernel = Polynomial(power=0.5, cut=length)
    note = "The kernel begins at lag 1: at lag 0 it is infinite."
    return tails(
        scale, "4a", kernel, heavy(length), FROM_ONE, better="log", worse="lin", left=0.01, note=note
    )


@sheets_figure(
    "memories/exp-4b",
    "A light tail",
    "What one layer of attention alone leaves of the variance of a sum over all tokens before, weighted by e^-5t: "
    "heads that fall like exponentials (lin) and like powers (log).",
    described("both kinds of heads, three seeds, about 10 minutes on 2 cores"),
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


ENCODED: Mapping[str, Encoding] = {
    "none": NoPosition(),
    "RoPE": Rope(),
    "T5": T5(),
    "ALiBi": Alibi(),
    "KERPLE": KerpleLog(),
    "FIRE": Fire(),
    "rpe-lin": RpeLin(),
    "rpe-log": RpeLog(shift=1),
}
KERNELS: Mapping[str, dict[str, object]] = {
    "light tail, e^-s": {"kind": "exponential", "rate": 1.0},
    "heavy tail, s^-1.5": {"kind": "polynomial", "power": 1.5},
}


@sheets_figure(
    "memories/biases",
    "Which published bias suits which tail",
    "What one layer of attention alone leaves of sums over all tokens before, with a light and a heavy tail.",
    described("eight encodings, two tails, three seeds, sized for 10 minutes on 2 cores", paper=False),
    draw=lambda document: heat_maps([heat_of(document)], columns=1),
    caption="What is left of the variance, median over {settings[seeds]} seeds; cells say how many did not end. "
    "The darker, the more is left.",
)
def biases(scale: str) -> Sheets:
    """Published encodings on a light and on a heavy tail."""
    size = SIZES[scale]
    heads = size.heads[len(size.heads) // 2]
    sheets = []
    for place, (title, kernel) in enumerate(KERNELS.items()):
        task = make_task("decaying-memory", length=size.length, kernels=[kernel], last=True)
        lines = []
        for label, encoding in ENCODED.items():
            layer = Memory(layers=1, heads=heads, ffn=False, encoding=(encoding,), attention=Dp())
            recipe = size.recipe(f"bias-{place}-{label}", task, layer)
            lines.append(Line.over({heads: recipe}, label, "positional"))
        sheets.append(Sheet(title, "heads", lines, SHARE))
    light, heavy = KERNELS
    x = float(heads)
    aims: list[Aim] = [
        Ratio(
            "Light tail: rpe-lin leaves less than rpe-log.",
            AtLeast(1),
            *across(light, "rpe-lin", "rpe-log", x),
        ),
        Ratio(
            "Heavy tail: rpe-log leaves less than rpe-lin.",
            AtLeast(1),
            *across(heavy, "rpe-log", "rpe-lin", x),
        ),
        Ratio(
            "Heavy tail: KERPLE, which falls with the logarithm, leaves less than ALiBi, which falls with the lag.",
            AtLeast(1),
            *across(heavy, "KERPLE", "ALiBi", x),
        ),
    ]
    note = f"One layer of attention alone with dot products, {heads} heads; the table is the figure."
    return Sheets(sheets, aims, size.seeds, note)


def heat_of(document: dict[str, Any]) -> Heat:
    """The map of a document, the first encoding on top."""
    sheets = document["sheets"]
    labels = [line["label"] for line in sheets[0]["lines"]]
    found = [[[row[0] for row in line["values"]] for line in sheet["lines"]] for sheet in sheets]
    values = np.array(found, dtype=np.float64).transpose(2, 1, 0)[:, ::-1]
    titles = [sheet["title"] for sheet in sheets]
    return Heat("what is left of the variance", "", "encoding", labels[::-1], titles, values)


FIGURES = (exp_4a, exp_4b, biases)
