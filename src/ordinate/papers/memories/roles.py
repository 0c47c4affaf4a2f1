"""Beyond the paper: what heads, units, slopes, samples and norms do for memories, one at a time."""

from functools import lru_cache

import numpy as np

from ordinate.lab.architectures.memory import NORMS
from ordinate.lab.evaluation.predicates import AtLeast, AtMost
from ordinate.lab.report.style import BLUE, GREEN, PURPLE, VERMILION
from ordinate.papers.aims import Aim, Place, Ratio, Shows, across, along
from ordinate.papers.memories.fixed import LEARNED, SHARE, SIZES, best, described, model, over, target
from ordinate.papers.sheets import Exact, Line, Sheet, Sheets, sheets_figure
from ordinate.papers.theory.biases import LIN
from ordinate.papers.theory.slopes import lag_kernels

LOOKS = (BLUE, VERMILION, GREEN, PURPLE)
SAMPLES = {"smoke": (16, 32), "laptop": (1, 3, 10, 30, 100, 300)}
TITLE = "what is left of the variance"


@sheets_figure(
    "memories/heads",
    "Heads for one to four memories",
    "What one layer without dot products leaves of the variance of the sum of 1 to 4 tokens at fixed lags.",
    described("M = 1 to 4, 1 to 16 heads, three seeds, sized for 10 minutes on 2 cores", paper=False),
)
def heads_for_memories(scale: str) -> Sheets:
    """The sum of 1 to 4 tokens at lags 1 to 4, over heads."""
    size = SIZES[scale]
    many = (1, 2) if scale == "smoke" else (1, 2, 3, 4)
    middle, few, most = size.hidden[len(size.hidden) // 2], float(size.heads[0]), float(size.heads[-1])
    lines = [
        over(
            size,
            f"heads-{memories}",
            target(size, tuple(range(1, memories + 1)), "sum"),
            "heads",
            middle,
            f"M = {memories}",
            LOOKS[memories - 1],
        )
        for memories in many
    ]
    aims: list[Aim] = [
        Ratio(
            f"M = {memories}: {most:g} heads leave at most a tenth of the error of {few:g}.",
            AtLeast(10),
            *along(TITLE, f"M = {memories}", most, few),
        )
        for memories in many
    ]
    aims.append(
        Ratio(
            f"At {most:g} heads M = {many[-1]} leaves at least twice the error of M = 1: heads go with memories.",
            AtLeast(2),
            *across(TITLE, "M = 1", f"M = {many[-1]}", most),
        )
    )
    return Sheets([Sheet(TITLE, "heads", lines, SHARE, log_x=True)], aims, size.seeds, size.differs)


@sheets_figure(
    "memories/width",
    "Units for a table",
    "What one layer without dot products leaves of the variance of a random table of 1 to 3 tokens.",
    described("M = 1 to 3, 4 to 256 units, three seeds, sized for 15 minutes on 2 cores", paper=False),
)
def width_for_readout(scale: str) -> Sheets:
    """A random table of 1 to 3 tokens, over hidden units."""
    size = SIZES[scale]
    many = (1, 2) if scale == "smoke" else (1, 2, 3)
    lines = [
        over(
            size,
            f"width-{memories}",
            target(size, tuple(range(memories)), "n-gram", "ternary"),
            "hidden",
            size.heads[-1],
            f"M = {memories}",
            LOOKS[memories - 1],
        )
        for memories in many
    ]
    few, most = float(size.hidden[0]), float(size.hidden[-1])
    aims: list[Aim] = [
        Ratio(
            f"M = {memories}: {most:g} units leave at most half of the error of {few:g}.",
            AtLeast(2),
            *along(TITLE, f"M = {memories}", most, few),
        )
        for memories in many[1:]
    ]
    note = "Tokens are -1, 0 or 1: a table of one token has 3 entries, of three tokens 27."
    sheet = Sheet(TITLE, "hidden units", lines, SHARE, log_x=True)
    return Sheets([sheet], aims, size.seeds, f"{note} {size.differs}")


@lru_cache(maxsize=256)
def paper_share(lags: tuple[int, ...], length: int, heads: int) -> float:
    """What the slopes of Appendix F leave of the sum of memories, with the best coefficients that float64 finds.

    >>> paper_share((1,), 8, 1) > paper_share((1,), 8, 4)
    True
    """
    far = tuple(lag for lag in lags if lag)
    kernel = lag_kernels(far, length).sum(0)
    columns = LIN.weights_of(np.array(LIN.paper_slopes(heads)), range(length))
    left = kernel - columns @ np.linalg.lstsq(columns, kernel, rcond=None)[0]
    return max(float(left @ left) / len(lags), 1e-16)


@sheets_figure(
    "memories/slopes",
    "Learned slopes and constructed ones",
    "What heads leave of the sum of three memories: with learned slopes, with those of the paper's proof, and with "
    "the best there are.",
    described("three seeds, sized for 5 minutes on 2 cores, none after exp-2b", paper=False),
)
def slopes(scale: str) -> Sheets:
    """Learned slopes, those of the paper's proof, and the best there are."""
    size = SIZES[scale]
    task = target(size, size.lags, "sum")
    middle = size.hidden[len(size.hidden) // 2]
    trained = over(size, "2b", task, "heads", middle, "learned", "positional")
    xs = tuple(float(heads) for heads in size.heads)
    paper = Exact(
        "slopes of the proof", "second", xs, lambda heads: paper_share(size.lags, size.length, int(heads))
    )
    most = xs[-1]
    aims: list[Aim] = [
        Shows(
            f"{most:g} heads with learned slopes leave less than those of the proof.",
            AtMost(paper_share(size.lags, size.length, int(most))),
            Place(TITLE, "learned", most),
        )
    ]
    lines: list[Line | Exact] = [trained, paper, best(size, size.lags)]
    return Sheets([Sheet(TITLE, "heads", lines, SHARE, log_x=True)], aims, size.seeds, size.differs)


@sheets_figure(
    "memories/samples",
    "Samples for fixed memories",
    "What one layer leaves of the variance of 64 ReLUs of three memories, over the size of the training set.",
    described("1 to 300 sequences, three seeds, about 4 minutes on 2 cores", paper=False),
)
def samples(scale: str) -> Sheets:
    """One model, over the size of its training set."""
    size = SIZES[scale]
    task = target(size, size.lags, "relus")
    heads, hidden = size.heads[-1], size.hidden[-2]
    recipes = {
        count: size.recipe(f"samples-{count}", task, model(heads, hidden), samples=count)
        for count in SAMPLES[scale]
    }
    few, most = float(min(recipes)), float(max(recipes))
    aims: list[Aim] = [
        Ratio(
            f"{most:g} sequences leave at most a tenth of the error of {few:g} sequence{'s' if few > 1 else ''}.",
            AtLeast(10),
            *along(TITLE, "one layer", most, few),
        ),
        Shows(
            f"{most:g} sequences are enough to learn it: less than {LEARNED:.0%} is left.",
            AtMost(LEARNED),
            Place(TITLE, "one layer", most),
        ),
    ]
    line = Line.over(recipes, "one layer", "positional")
    sheet = Sheet(TITLE, "sequences in the training set", [line], SHARE, log_x=True)
    note = (
        "Every token of a sequence is scored, and three signs have 8 values: few sequences show all there is."
    )
    return Sheets([sheet], aims, size.seeds, f"{note} {size.differs}".strip())


@sheets_figure(
    "memories/norms",
    "LayerNorm and heads for memories",
    "Experiment 2b without LayerNorm, as published, and with it in front of every part or behind every sum.",
    described("three places, 1 to 16 heads, three seeds, sized for 15 minutes on 2 cores", paper=False),
)
def norms(scale: str) -> Sheets:
    """Heads for the sum of three memories, with LayerNorm in three places."""
    size = SIZES[scale]
    task = target(size, size.lags, "sum")
    middle = size.hidden[len(size.hidden) // 2]
    lines = []
    for role, name in zip(LOOKS, ("none", "pre", "post"), strict=False):
        recipes = {}
        for heads in size.heads:
            changed = model(heads, middle).model_copy(update={"norm": NORMS[name]()})
            recipes[heads] = size.recipe(f"norm-{name}-{heads}-{middle}", task, changed)
        lines.append(Line.over(recipes, name, role))
    few, most = float(size.heads[0]), float(size.heads[-1])
    aims: list[Aim] = [
        Ratio(
            f"LayerNorm {name}: {most:g} heads leave at most a tenth of the error of {few:g}.",
            AtLeast(10),
            *along(TITLE, name, most, few),
        )
        for name in ("none", "pre", "post")
    ]
    return Sheets([Sheet(TITLE, "heads", lines, SHARE, log_x=True)], aims, size.seeds, size.differs)


FIGURES = (heads_for_memories, width_for_readout, slopes, samples, norms)
