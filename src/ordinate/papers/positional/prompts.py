"""Prompts: a list of prices and a question as a language model reads them, and the number it answers with.

The texts are those published with arXiv 2410.01686: prices of two digits before the point, answers of three. A model
reads two decimals only, so that its samples have prices of two decimals, and its answers are those of these prices.
"""

import math
import re
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.lab.evaluation.points import NumberPoint
from ordinate.lab.tasks.batch import Batch
from ordinate.lab.tasks.mixed_text import write_line
from ordinate.lab.tasks.mixed_types import MixedTypes

PRICE = ", %05.2f"
ANSWER = " Answer: %06.2f"
ANSWERED = re.compile(r"\s*Answer:\s*([-+]?\d+(?:\.\d+)?)\s*")


class Prompts(NamedTuple):
    """Questions, and the numbers that answer them."""

    texts: list[str]
    answers: Float[Tensor, " batch"]

    def answered(self) -> list[str]:
        """Questions with their answers behind them, to learn from."""
        return [text + ANSWER % y for text, y in zip(self.texts, self.answers.tolist(), strict=True)]


def write_prompts(task: MixedTypes, batch: Batch) -> Prompts:
    """Write every sample as a prompt, its prices rounded to two decimals.

    >>> task = MixedTypes(categories=2, asked=2, confusing=1)
    >>> batch = task.parse("Cata 1.504, Cat+c, Catd 0.25. Find min of categories Cata and Catd.")
    >>> write_prompts(task, batch).answered()
    ['Cata, 01.50, Cat+c, Catd, 00.25. Find min of categories Cata and Catd. Answer: 000.25']
    """
    text, prices = task.read(batch.input)
    rounded = task.compose(text, prices.double().mul(100).round() / 100, batch.coordinates)
    texts = [write_line(line, PRICE) for line in task.lines(rounded.input)]
    return Prompts(texts, rounded.target[:, 0, 0])


def read_answer(text: str) -> float:
    """The number that a text answers with; NaN for a text that is anything else than an answer.

    >>> read_answer(" Answer: 003.75"), read_answer(" Answer: 003.7x"), read_answer("3.75")
    (3.75, nan, nan)
    """
    found = ANSWERED.fullmatch(text)
    return float(found[1]) if found else math.nan


@dataclass(frozen=True)
class AnswerPoint(NumberPoint):
    """Errors of the answers that are numbers: the others are left out of them, as in the published numbers.

    Accuracy counts an answer that is no number as wrong.
    """

    percentage_error: float
    """Mean of |answer - right answer| / right answer in per cent (MAPE), where the right answer is not 0."""
    numbers: float
    """Share of the answers that are numbers."""

    columns: ClassVar[dict[str, str]] = NumberPoint.columns | {
        "mean absolute percentage error": "percentage_error",
        "answers that are numbers": "numbers",
    }


def judge_answers(
    answers: Float[Tensor, " sample"],
    right: Float[Tensor, " sample"],
    *,
    relative: float,
    absolute: float,
    **place: Any,
) -> tuple[AnswerPoint, Float[Tensor, " sample"]]:
    """Measure answers, NaN where they are no numbers; `place` says where, as the first fields of a `Point` do.

    Also returns the squared error of every sample. One without a number has the mean of the others, so that the mean
    over all samples is that over the numbers; NaN where there is no number at all.
    """
    read = answers.isfinite()
    squared = (answers - right).square()
    mse = float(squared[read].mean())
    nonzero = read & (right != 0)
    close = torch.isclose(answers, right, rtol=relative, atol=absolute)
    variance = float(right.var(correction=0))
    point = AnswerPoint(
        **place,
        count=len(answers),
        accuracy=float(close.double().mean()),
        mse=mse,
        relative_error=math.sqrt(mse / max(float(right[read].square().mean()), 1e-300)),
        variance_share=mse / variance if variance > 0 else math.nan,
        percentage_error=float(100 * ((answers - right).abs() / right)[nonzero].mean()),
        numbers=float(read.double().mean()),
    )
    return point, torch.where(read, squared, mse)
