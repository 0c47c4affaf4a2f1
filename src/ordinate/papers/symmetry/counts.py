"""Figures 13 and 14: how hard random sums and products are, counted exactly and by sampling."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from matplotlib.figure import Figure as Drawing
from torch import Generator, Tensor

from ordinate.lab.evaluation.claims import AtMost, Between, Claim
from ordinate.lab.evaluation.statistics import summarise
from ordinate.lab.report.distributions import Distribution, distributions
from ordinate.lab.report.numbers import show_number
from ordinate.lab.seeds import generator
from ordinate.lab.tasks.arithmetic.carries import (
    carry_levels,
    carry_levels_distribution,
    cascade_distribution,
    longest_cascade,
)
from ordinate.papers.figure import Document, Figure, Progress, published

LENGTHS = (5, 10, 20, 50, 100, 200, 500, 1000)
COVERED = 4
"""Up to here the paper counts."""

SAMPLED = 0.005
"""Largest total variation distance between the exact distribution and a seed's samples."""

CHUNK = 50_000

SCALES = {
    "smoke": "few samples and lengths up to 50 prove the path; no verdict",
    "laptop": "exact up to 1000 digits, beside five seeds of 200 000 samples; some seconds",
    "paper": "exact up to 1000 digits, beside ten seeds of 1 000 000 samples (the published number is not given)",
}


ROUGH = 0.05
"""How far a value may be off that the paper calls rough, as a share of it."""


@dataclass(frozen=True)
class Known:
    """A published probability: its name in the data file, what it is of, and how it was printed."""

    key: str
    digits: int
    up_to: bool
    """P(at most 4), else P(exactly 4)."""
    figures: int
    """Significant figures in print."""
    rough: bool = False
    """Whether the paper calls the value rough."""

    def tolerance(self, printed: float) -> float:
        """Half a unit of the last figure printed, or a share of a rough value.

        >>> known = Known("at most 4, 50 digits", 50, up_to=True, figures=3)
        >>> round(known.tolerance(0.998), 6)
        0.0005
        """
        return (
            ROUGH * printed
            if self.rough
            else 0.5 * 10.0 ** (math.floor(math.log10(printed)) + 1 - self.figures)
        )

    def distance(self, printed: float, exact: float) -> str:
        """What is asked, and how far off the published value is, in words.

        >>> known = Known("exactly 4, 5 digits", 5, up_to=False, figures=2, rough=True)
        >>> known.distance(8.3e-4, 8.55e-4)
        'called rough, so within 5 % is asked: off by 2.9 %, and not right to the 2 figures printed'
        """
        off = f"off by {100 * abs(printed / exact - 1):.1f} %"
        if not self.rough:
            return f"to the {self.figures} figures printed: {off}"
        right = float(f"{exact:.{self.figures - 1}e}") == printed
        not_right = "" if right else f", and not right to the {self.figures} figures printed"
        return f"called rough, so within {100 * ROUGH:.0f} % is asked: {off}{not_right}"


@dataclass(frozen=True)
class Count:
    """A measure of difficulty: its distribution, exactly and by samples, and what was published of it."""

    key: str
    measure: str
    distribution: Callable[[int], Float[Tensor, " value"]]
    """P(measure = k), k = 0, 1, ..., exactly, for a number of digits."""
    draw_values: Callable[[int, int, Generator], Int[Tensor, " sample"]]
    """The measure of `count` random samples of `digits` digits."""
    known: tuple[Known, Known]

    def compute(self, scale: str, progress: Progress) -> Document:
        """Count exactly at every length, and sample at the published ones."""
        seeds, count = {"smoke": (2, 1000), "laptop": (5, 200_000), "paper": (10, 1_000_000)}[scale]
        lengths = LENGTHS if scale != "smoke" else LENGTHS[:4]
        shown = [known.digits for known in self.known]
        exact = {}
        for place, digits in enumerate(lengths):
            progress(place, len(lengths) + len(shown))
            exact[digits] = self.distribution(digits)
        sampled = {}
        for place, digits in enumerate(shown):
            progress(len(lengths) + place, len(lengths) + len(shown))
            sampled[digits] = torch.stack([self._shares(digits, count, seed) for seed in range(seeds)])
        claims = [self.claim(known, exact[known.digits], scale) for known in self.known]
        claims += [_agrees(digits, exact[digits], sampled[digits], scale) for digits in shown]
        return {
            "settings": {"seeds": seeds, "samples a seed": count, "lengths": ", ".join(map(str, lengths))},
            "published_source": published("symmetry")[self.key]["source"],
            "exact": {str(digits): _plain(values) for digits, values in exact.items()},
            "sampled": {str(digits): [_plain(row) for row in rows] for digits, rows in sampled.items()},
            "claims": [claim.to_dict() for claim in claims],
            "table": {
                "headers": [
                    "digits",
                    "P(at most 4)",
                    "P(exactly 4)",
                    "P(more than 4)",
                    "mean",
                    "99.8 % are at most",
                ],
                "rows": [_row(digits, values) for digits, values in exact.items()],
                "caption": f"Exact distribution of the {self.measure}.",
            },
        }

    def draw(self, document: Document) -> Drawing:
        """Bars for the two published lengths, and the tail along all."""
        bars = [
            Distribution(
                f"{known.digits} digits",
                document["exact"][str(known.digits)],
                document["sampled"][str(known.digits)],
            )
            for known in self.known
        ]
        tail = {int(digits): sum(values[COVERED + 1 :]) for digits, values in document["exact"].items()}
        return distributions(bars, self.measure, tail, f"P({self.measure} > {COVERED})")

    def notes(self, document: Document) -> list[str]:
        """How the published values were judged."""
        notes = [
            "Exact values come from a recurrence over the places of the number, without sampling, and are judged "
            "without seeds."
        ]
        for known in self.known:
            value = _probability(known, torch.tensor(document["exact"][str(known.digits)]))
            printed = published("symmetry")[self.key][known.key]
            notes.append(
                f"P({known.key.replace(', ', ' at ')}): published {show_number(printed)}, exactly {value:.4g} "
                f"({known.distance(printed, value)})."
            )
        return notes

    def claim(self, known: Known, exact: Float[Tensor, " value"], scale: str) -> Claim:
        """The published probability beside the exact one."""
        printed = published("symmetry")[self.key][known.key]
        value = _probability(known, exact)
        sentence = (
            f"P({self.measure} {'at most' if known.up_to else 'exactly'} {COVERED}, {known.digits} digits) is "
            f"{show_number(printed)} ({known.distance(printed, value)})."
        )
        margin = known.tolerance(printed)
        asked = Between(round(printed - margin, 12), round(printed + margin, 12))
        return Claim.of_exact(sentence, value, asked, printed, scale)  # type: ignore[arg-type]

    def figure(self, title: str, summary: str) -> Figure:
        """The distribution at two lengths, and its tail at all lengths up to 1000."""
        return Figure(
            f"symmetry/{self.key}",
            title,
            summary,
            SCALES,
            draw=self.draw,
            caption=f"Bars: exact probabilities of the {self.measure}. Dots: shares among {{settings[samples a seed]}} "
            f"samples, one for each of {{settings[seeds]}} seeds. Right: the exact probability of more than {COVERED}, "
            "by digits.",
            compute=self.compute,
            notes=self.notes,
        )

    def _shares(self, digits: int, count: int, seed: int) -> Float[Tensor, " value"]:
        """Shares of each value among the samples of a seed."""
        random = generator(seed, f"symmetry/{self.key}", digits)
        found = torch.zeros(digits + 1, dtype=torch.float64)
        for first in range(0, count, CHUNK):
            values = self.draw_values(digits, min(CHUNK, count - first), random)
            found += torch.bincount(values, minlength=digits + 1)
        return found / count


def _agrees(
    digits: int, exact: Float[Tensor, " value"], rows: Float[Tensor, "seed value"], scale: str
) -> Claim:
    distance = (rows - exact).abs().sum(1) / 2
    summary = summarise(distance.tolist())
    sentence = f"{digits} digits: samples are distributed as the exact count says (total variation distance)."
    return Claim(sentence, summary.interval, AtMost(SAMPLED), None, summary.count, 0, scale)  # type: ignore[arg-type]


def cascades_of_sums(digits: int, count: int, random: Generator) -> Int[Tensor, " sample"]:
    """Longest cascades of sums of two uniform numbers."""
    return longest_cascade(torch.randint(10, (2, count, digits), generator=random).sum(0))


def levels_of_products(digits: int, count: int, random: Generator) -> Int[Tensor, " sample"]:
    """Levels of carries of products of a digit and a uniform number."""
    multiplier = torch.randint(1, 10, (count, 1), generator=random)
    return carry_levels(multiplier, torch.randint(10, (count, digits), generator=random))


def _probability(known: Known, exact: Float[Tensor, " value"]) -> float:
    return float(exact[: COVERED + 1].sum() if known.up_to else exact[COVERED])


def _row(digits: int, exact: Float[Tensor, " value"]) -> list[str]:
    within, four = float(exact[: COVERED + 1].sum()), float(exact[COVERED])
    beyond = float(exact[COVERED + 1 :].sum())
    mean = float((exact * torch.arange(len(exact))).sum())
    enough = int((exact.cumsum(0) < 0.998).sum())
    return [
        str(digits),
        f"{within:.4f}",
        show_number(four),
        show_number(beyond),
        show_number(mean),
        str(enough),
    ]


def _plain(values: Float[Tensor, " value"]) -> list[float]:
    """Probabilities down to 1e-15, five significant figures each, so that a file stays small."""
    kept = values[: int((values > 1e-15).nonzero().max()) + 1]
    return [float(f"{value:.6g}") for value in kept.tolist()]


FIG_13 = Count(
    "fig-13",
    "longest cascade",
    cascade_distribution,
    cascades_of_sums,
    (
        Known("at most 4, 50 digits", 50, up_to=True, figures=3),
        Known("exactly 4, 5 digits", 5, up_to=False, figures=2, rough=True),
    ),
)
FIG_14 = Count(
    "fig-14",
    "levels of carries",
    carry_levels_distribution,
    levels_of_products,
    (
        Known("at most 4, 20 digits", 20, up_to=True, figures=3),
        Known("exactly 4, 5 digits", 5, up_to=False, figures=2),
    ),
)

FIGURES = (
    FIG_13.figure(
        "How far carries travel in random sums",
        "The distribution of the longest cascade of carries in a sum of two uniform numbers, exact beside sampled.",
    ),
    FIG_14.figure(
        "How many rounds of carries random products need",
        "The distribution of the rounds in which carries are handed on, for a multiplier uniform in 1 to 9 and a "
        "uniform multiplicand, exact beside sampled.",
    ),
)
