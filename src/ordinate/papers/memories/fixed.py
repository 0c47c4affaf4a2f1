"""Experiments 1b, 2a, 2b and 3a: fixed memories with one layer. What heads, width and dot products are for.

The scales are those of most figures on memories: `paper` as far as it is known, `laptop` with short lags for 2 cores.
"""

from dataclasses import dataclass
from functools import lru_cache

from typing_extensions import override

from ordinate.encodings import RpeLin
from ordinate.lab.architectures import Dp, DpFree, Memory
from ordinate.lab.evaluation.predicates import AtLeast, AtMost
from ordinate.lab.tasks import Task, make_task
from ordinate.lab.training import Adam, AdamW, Cosine, Training
from ordinate.models import ModelSettings
from ordinate.papers.aims import Aim, Expresses, Place, Ratio, Shows, across, along
from ordinate.papers.figure import SMOKE, published
from ordinate.papers.sheets import Column, Exact, Line, Scale, Sheet, Sheets, sheets_figure, stored
from ordinate.papers.theory.biases import LIN
from ordinate.papers.theory.slopes import best_slopes, lag_kernels

SHARE = Column("error / variance of the target", stored("variance_share"))
"""Mean squared error as a share of what the best constant has."""


@dataclass(frozen=True, kw_only=True)
class MemoryScale(Scale):
    """Sequences, lags, and the heads and widths that are compared."""

    length: int
    lags: tuple[int, ...]
    """Of the fixed memories."""
    heads: tuple[int, ...]
    hidden: tuple[int, ...]
    width: int

    @override
    def sized(self, model: ModelSettings) -> ModelSettings:
        return model.model_copy(update={"width": self.width})


SIZES = {
    "smoke": MemoryScale(
        length=12,
        lags=(0, 1, 2),
        heads=(1, 2),
        hidden=(4, 8),
        width=4,
        training=Training(steps=3, batch=8),
        seeds=1,
        count=20,
    ),
    "laptop": MemoryScale(
        length=24,
        lags=(0, 1, 2),
        heads=(1, 2, 4, 8, 16),
        hidden=(4, 16, 64, 256),
        width=16,
        training=Training(
            steps=3000,
            batch=100,
            optimizer=Adam(learning_rate=1e-2, betas=(0.9, 0.99)),
            schedule=Cosine(warmup=0.05),
            clip=1.0,
        ),
        seeds=3,
        count=2000,
        differs="Differs from the published setting: lags 0, 1 and 2 instead of 48, 56 and 99, sequences of 24 tokens "
        "instead of 1000, every token scored instead of one, 3000 steps instead of 10 000. With the published lags no "
        "float64 holds the coefficients that one layer needs; for lags 1, 2 and 4 they are larger than 10^8 already. "
        "Rate, width, slopes at first and type of bias are not published.",
    ),
    "paper": MemoryScale(
        length=1000,
        lags=(48, 56, 99),
        heads=(2, 4, 8, 16, 32, 64),
        hidden=(4, 16, 64, 256),
        width=64,
        training=Training(
            steps=10_000, batch=100, optimizer=AdamW(learning_rate=1e-3), schedule=Cosine(warmup=0.05)
        ),
        seeds=3,
        count=10_000,
        differs="Rate, width, slopes at first and type of bias are not published.",
    ),
}


def quoted(figure: str) -> str:
    """The published numbers of an experiment, which are all that is known of its tables.

    >>> quoted("exp-2a")[:52]
    'Published: fewest units 0.49, most units 0.002 (Appe'
    """
    known = published("memories")[figure]
    numbers = ", ".join(f"{name} {_listed(value)}" for name, value in known.items() if name != "source")
    return f"Published: {numbers} ({known['source']})."


def _listed(value: float | list[float]) -> str:
    return ", ".join(f"{number:g}" for number in value) if isinstance(value, list) else f"{value:g}"


def described(laptop: str, *, paper: bool = True) -> dict[str, str]:
    """The scales of a figure, with what is said of each."""
    return {
        "smoke": SMOKE,
        "laptop": laptop,
        **({"paper": "lags, length and steps as published, for GPUs"} if paper else {}),
    }


FIRST = RpeLin(first=(0.05, 4.0))
"""Slopes at first: from weights that fall within one token to weights that fall within twenty."""
LEARNED = 0.01
"""The share of the variance below which a target counts as learned."""


def model(heads: int, hidden: int, *, dot_product: bool = False) -> Memory:
    """One layer, with or without dot products."""
    look = Dp() if dot_product else DpFree()
    return Memory(layers=1, heads=heads, hidden=hidden, encoding=(FIRST,), attention=look)


def target(size: MemoryScale, lags: tuple[int, ...], readout: str, tokens: str = "signs") -> Task:
    """A function of the tokens at some lags."""
    return make_task("fixed-memory", lags=lags, length=size.length, readout=readout, tokens=tokens)


@lru_cache(maxsize=256)
def least_share(lags: tuple[int, ...], length: int, heads: int) -> float:
    """What linear heads of any slopes leave of the variance of the sum of memories at some lags, at least.

    Tokens are independent and have variance 1, so that it is the squared distance of the kernels. The token itself is
    there without any head.

    >>> round(least_share((1,), 8, 1), 2), least_share((1,), 8, 4) < 1e-6
    (0.75, True)
    """
    far = tuple(lag for lag in lags if lag)
    return float(best_slopes(LIN, heads, lag_kernels(far, length).sum(0)).error ** 2) / len(lags)


def best(size: MemoryScale, lags: tuple[int, ...]) -> Exact:
    """The least share over the number of heads."""
    xs = tuple(float(heads) for heads in size.heads)
    return Exact(
        "best linear heads",
        "baseline",
        xs,
        lambda heads: max(least_share(lags, size.length, int(heads)), 1e-16),
    )


def over(
    size: MemoryScale,
    name: str,
    task: Task,
    axis: str,
    middle: int,
    label: str,
    look: str,
    *,
    dp: bool = False,
) -> Line:
    """Models over heads, or over hidden units, with the other at `middle`."""
    recipes = {}
    for value in size.heads if axis == "heads" else size.hidden:
        heads, hidden = (value, middle) if axis == "heads" else (middle, value)
        made = model(heads, hidden, dot_product=dp)
        recipes[value] = size.recipe(f"{name}-{heads}-{hidden}", task, made)
    return Line.over(recipes, label, look)


@sheets_figure(
    "memories/exp-1b",
    "One layer for fixed memories",
    "What one layer without dot products leaves of the variance of a sum of 64 ReLUs of three tokens at fixed "
    "lags, over heads and hidden units; beside it what its heads can express.",
    described("two widths, three seeds, about 10 minutes on 2 cores"),
)
def exp_1b(scale: str) -> Sheets:
    """One layer for a readout of many ReLUs of three memories."""
    size = SIZES[scale]
    task = target(size, size.lags, "relus")
    widest, narrowest, most = size.hidden[-1], size.hidden[0], float(size.heads[-1])
    lines: list[Line | Exact] = [
        over(size, "1b", task, "heads", widest, f"{widest} units", "positional"),
        over(size, "1b", task, "heads", narrowest, f"{narrowest} units", "first"),
        best(size, size.lags),
    ]
    sheet = Sheet("64 ReLUs of three memories", "heads", lines, SHARE, log_x=True)
    aims: list[Aim] = [
        Expresses(
            f"The heads can express it: {most:g} of them leave less than 1 % of the sum of the memories.",
            AtMost(LEARNED),
            Place(sheet.title, "best linear heads", most),
        ),
        Shows(
            f"It is learned: {most:g} heads and {widest} units leave less than 1 % of the variance.",
            AtMost(LEARNED),
            Place(sheet.title, f"{widest} units", most),
        ),
    ]
    return Sheets([sheet], aims, size.seeds, size.differs)


@sheets_figure(
    "memories/exp-2a",
    "Units for the readout",
    "What one layer without dot products leaves of the variance of a sum of 64 ReLUs of one token at a fixed lag.",
    described("signs and Gaussian tokens, three seeds, about 10 minutes on 2 cores"),
)
def exp_2a(scale: str) -> Sheets:
    """A complex readout of one memory: units, not heads."""
    size = SIZES[scale]
    lag = size.lags[-1:]
    sheets, aims = [], list[Aim]()
    for tokens in ("signs", "gaussian"):
        task = target(size, lag, "relus", tokens)
        by_units = over(size, f"2a-{tokens}", task, "hidden", size.heads[-1], "over units", "positional")
        by_heads = over(size, f"2a-{tokens}", task, "heads", size.hidden[-1], "over heads", "standard")
        sheets += [
            Sheet(f"{tokens}, units", "hidden units", [by_units], SHARE, log_x=True),
            Sheet(f"{tokens}, heads", "heads", [by_heads], SHARE, log_x=True),
        ]
    units, heads = (size.hidden[0], size.hidden[-1]), (size.heads[0], size.heads[-1])
    known = published("memories")["exp-2a"]
    for tokens in ("signs", "gaussian"):
        over_units, over_heads = f"{tokens}, units", f"{tokens}, heads"
        aims += [
            Ratio(
                f"{tokens}: units matter, {units[1]} leave at most a tenth of the error of {units[0]}.",
                AtLeast(10),
                *along(over_units, "over units", float(units[1]), float(units[0])),
                known=known["fewest units"] / known["most units"] if tokens == "signs" else None,
            ),
            Ratio(
                f"{tokens}: heads do not, {heads[1]} leave no less than half of the error of {heads[0]}.",
                AtMost(2),
                *along(over_heads, "over heads", float(heads[1]), float(heads[0])),
            ),
        ]
    return Sheets(
        sheets,
        aims,
        size.seeds,
        f"Any function of one sign is affine, so that the published target, on signs, needs no units at all: the "
        f"same target on Gaussian tokens does. One head sees no single lag but 0, so that more of them help with any "
        f"lag; which numbers of heads were compared is not published. {quoted('exp-2a')} {size.differs}",
        columns=2,
    )


@sheets_figure(
    "memories/exp-2b",
    "Heads for the memories",
    "What one layer without dot products leaves of the variance of the sum of three tokens at fixed lags.",
    described("three seeds, about 10 minutes on 2 cores"),
)
def exp_2b(scale: str) -> Sheets:
    """The sum of three memories: heads, not units."""
    size = SIZES[scale]
    task = target(size, size.lags, "sum")
    middle = size.hidden[len(size.hidden) // 2]
    heads = over(size, "2b", task, "heads", middle, "trained", "positional")
    units = over(size, "2b", task, "hidden", size.heads[-1], "trained", "positional")
    sheets = [
        Sheet("over heads", "heads", [heads, best(size, size.lags)], SHARE, log_x=True),
        Sheet("over units", "hidden units", [units], SHARE, log_x=True),
    ]
    few, most = float(size.heads[0]), float(size.heads[-1])
    least, many = float(size.hidden[0]), float(size.hidden[-1])
    known = published("memories")["exp-2b"]
    aims: list[Aim] = [
        Expresses(
            f"The heads can express it: {most:g} leave less than 1 % of the variance.",
            AtMost(LEARNED),
            Place("over heads", "best linear heads", most),
        ),
        Ratio(
            f"Heads matter: {most:g} leave at most a tenth of the error of {few:g}.",
            AtLeast(10),
            *along("over heads", "trained", most, few),
            known=known["fewest heads"] / known["most heads"],
        ),
        Ratio(
            f"Units do not: {many:g} leave no less than half of the error of {least:g}.",
            AtMost(2),
            *along("over units", "trained", many, least),
        ),
    ]
    return Sheets(sheets, aims, size.seeds, f"{quoted('exp-2b')} {size.differs}")


@sheets_figure(
    "memories/exp-3a",
    "Fixed memories need no dot products",
    "The target of experiment 1b with and without dot products.",
    described("three seeds, about 10 minutes on 2 cores, less after exp-1b"),
)
def exp_3a(scale: str) -> Sheets:
    """The target of 1b with and without dot products."""
    size = SIZES[scale]
    task = target(size, size.lags, "relus")
    widest, most = size.hidden[-1], float(size.heads[-1])
    lines = [
        over(size, "1b", task, "heads", widest, "without dot products", "positional"),
        over(size, "3a", task, "heads", widest, "with dot products", "standard", dp=True),
    ]
    sheet = Sheet("64 ReLUs of three memories", "heads", lines, SHARE, log_x=True)
    aims: list[Aim] = [
        Ratio(
            f"Dot products add little with {most:g} heads: no less than half of the error is left.",
            AtMost(2),
            *across(sheet.title, "with dot products", "without dot products", most),
        )
    ]
    return Sheets([sheet], aims, size.seeds, size.differs)


FIGURES = (exp_1b, exp_2a, exp_2b, exp_3a)
