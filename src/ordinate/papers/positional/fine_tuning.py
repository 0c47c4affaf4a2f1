"""Fine-tuning a GPT-2 on prompts, and decoding its answers, with the transformers library.

A prompt is a list of prices and a question as a language model reads them. The texts are those published with arXiv
2410.01686: prices of two digits before the point, answers of three. A model reads two decimals only, so that its
samples have prices of two decimals, and its answers are those of these prices.

The loss counts every token of a prompt, of its answer and of the end mark. Answers are decoded greedily, which is
what top-k sampling with k = 1 does. A run keeps what was measured and what was answered, and not the weights: those of
`gpt2-large` take 3 GB. A run that was stopped starts again.
"""

import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import torch
from jaxtyping import Float
from safetensors import SafetensorError
from torch import Tensor
from torch.nn.functional import cross_entropy

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.points import NumberPoint
from ordinate.lab.evaluation.sweep import TestSet
from ordinate.lab.runs import Run, Store
from ordinate.lab.runs.lock import in_turn
from ordinate.lab.seeds import derive
from ordinate.lab.tasks.batch import Batch
from ordinate.lab.tasks.mixed_text import write_line
from ordinate.lab.tasks.mixed_types import MixedTypes
from ordinate.lab.training.data import Data
from ordinate.lab.training.machine import resolve_device
from ordinate.lab.training.measured import draw_tests, point_name
from ordinate.papers.positional.gpt2 import FineTuning

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


AT_ONCE = 64
"""Prompts that are answered in one call."""

ANSWER_TOKENS = len(ANSWER % 0) + 1
"""A token is at least a character, and there is an end mark."""


class LanguageModel:
    """A GPT-2 with its tokenizer, from a folder on this machine, on the best device."""

    def __init__(self, folder: Path, device: torch.device) -> None:
        from transformers import AutoTokenizer, GPT2LMHeadModel, __version__
        from transformers.utils import logging

        logging.disable_progress_bar()
        try:
            self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self.model = GPT2LMHeadModel.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, dtype=torch.float32
            ).to(device)
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise OrdinateError(f"{folder} holds no GPT-2 that transformers can load: {first}") from error
        if self.tokenizer.eos_token is None:
            raise OrdinateError(f"the tokenizer in {folder} has no end mark: give it an eos_token")
        self.tokenizer.pad_token = self.tokenizer.eos_token
        self.device = device
        self.version: str = __version__

    @property
    def parameters(self) -> int:
        """How many numbers are trained."""
        return sum(p.numel() for p in self.model.parameters())

    def loss(self, texts: Sequence[str], max_length: int) -> Tensor:
        """Mean cross-entropy of all tokens of the texts, each with its end mark."""
        ended = [text + self.tokenizer.eos_token for text in texts]
        encoded = self.tokenizer(ended, padding=True, padding_side="right", return_tensors="pt").to(
            self.device
        )
        tokens, mask = encoded["input_ids"], encoded["attention_mask"]
        if tokens.shape[1] > max_length:
            raise OrdinateError(
                f"a prompt with its answer has {tokens.shape[1]} tokens, and max_length is {max_length}: "
                "use the tokenizer of GPT-2"
            )
        logits = self.model(input_ids=tokens, attention_mask=mask).logits
        told = mask[:, 1:].bool()
        return cross_entropy(logits[:, :-1][told], tokens[:, 1:][told])

    @torch.no_grad()
    def answer(self, prompts: Sequence[str]) -> list[str]:
        """What follows each prompt up to the end mark, the likeliest token at every place."""
        encoded = self.tokenizer(list(prompts), padding=True, padding_side="left", return_tensors="pt")
        written = self.model.generate(
            **encoded.to(self.device),
            do_sample=False,
            max_new_tokens=ANSWER_TOKENS,
            pad_token_id=self.tokenizer.pad_token_id,
            eos_token_id=self.tokenizer.eos_token_id,
        )
        behind = written[:, encoded["input_ids"].shape[1] :]
        texts: list[str] = self.tokenizer.batch_decode(
            behind, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return texts


def fine_tune_job(
    *, folder: str, recipe: dict[str, Any], seed: int, store: str, report: Callable[..., None]
) -> str:
    """Fine-tune and measure one seed in a worker; one at a time, since each wants the whole device."""
    run = Store(store).open(recipe, seed)
    with run.lock(), in_turn(folder), torch.random.fork_rng(range(torch.cuda.device_count())):
        _FineTuning(FineTuning.parse(recipe), Path(folder), run, report).go()
    return run.id


class _FineTuning:
    def __init__(self, recipe: FineTuning, folder: Path, run: Run, report: Callable[..., None]) -> None:
        self.recipe, self.run, self.report = recipe, run, report
        self.device = resolve_device(recipe.training.device)
        self.model = LanguageModel(folder, self.device)
        self.tests = draw_tests(recipe, run.seed)
        self.started = time.monotonic()

    def go(self) -> None:
        """Train to the end, unless the loss is no number, and measure."""
        training = self.recipe.training
        self.run.truncate_metrics(0)
        self.run.update(
            status="running",
            step=0,
            steps=training.steps,
            parameters=self.model.parameters,
            transformers=self.model.version,
            error=None,
        )
        for step, loss in enumerate(self._losses(), start=1):
            if not math.isfinite(loss):
                error = f"the loss is {loss} at step {step}"
                self.run.update(status="failed", step=step, error=error)
                return
        points, answers, errors = self._measure()
        self.run.save_arrays("answers", answers)
        self.run.save_arrays("errors", errors)
        self.run.write_result("evaluation", [point.to_dict() for point in points])
        self.run.update(
            status="done",
            step=training.steps,
            seconds=round(time.monotonic() - self.started, 3),
            samples_seen=training.steps * training.batch,
            scores={point_name(i, point): point.mse for i, point in enumerate(points)},
        )

    def _losses(self) -> Iterator[float]:
        """Take the steps one by one."""
        training, task = self.recipe.training, self.recipe.task
        data = Data(task, batch=training.batch, samples=training.samples, seed=self.run.seed)
        optimizer = training.optimizer.build(self.model.model.parameters())
        schedule = training.schedule.build(optimizer, training.steps)
        self.model.model.train()
        logged: list[float] = []
        for step in range(training.steps):
            torch.manual_seed(derive(self.run.seed, "noise", step))
            optimizer.zero_grad(set_to_none=True)
            with self._precision():
                loss = self.model.loss(write_prompts(task, data.at(step)).answered(), self.recipe.max_length)
            loss.backward()
            logged.append(float(loss.detach()))
            yield logged[-1]
            optimizer.step()
            schedule.step()
            if (step + 1) % training.log_every == 0 or step + 1 == training.steps:
                mean, rate = sum(logged) / len(logged), float(optimizer.param_groups[0]["lr"])
                self.run.append_metrics([{"step": step + 1, "loss": mean, "rate": rate}])
                self._tell(step + 1, loss=mean, rate=rate)
                logged.clear()

    def _measure(self) -> tuple[list[AnswerPoint], dict[str, Tensor], dict[str, Tensor]]:
        """Every point, the answers at it (NaN where they are no numbers) and the errors."""
        evaluation = self.recipe.evaluation
        points: list[AnswerPoint] = []
        answers, errors = {}, {}
        self.model.model.eval()
        for place, tests in enumerate(self.tests):
            given, right = self._answers(tests)
            point, squared = judge_answers(
                given,
                right,
                relative=evaluation.relative,
                absolute=evaluation.absolute,
                axis=tests.axis,
                value=tests.value,
                in_distribution=tests.in_distribution,
                lengths=tests.lengths,
            )
            points.append(point)
            name = point_name(place, point)
            answers[name], errors[name] = given, squared.float()
            self._tell(self.recipe.training.steps + place + 1)
        return points, answers, errors

    def _answers(self, tests: TestSet) -> tuple[Tensor, Tensor]:
        """The answers to all prompts of a test set, and the right ones."""
        (batch,) = tests.batches
        prompts = write_prompts(self.recipe.task, batch)
        texts: list[str] = []
        with self._precision():
            for first in range(0, len(prompts.texts), AT_ONCE):
                texts += self.model.answer(prompts.texts[first : first + AT_ONCE])
        return torch.tensor([read_answer(text) for text in texts], dtype=torch.float64), prompts.answers

    def _tell(self, step: int, **facts: float) -> None:
        """Progress over all steps and all points."""
        steps = self.recipe.training.steps + len(self.tests)
        self.report(step=step, steps=steps, seconds=time.monotonic() - self.started, **facts)

    def _precision(self) -> torch.autocast:
        low = self.recipe.training.precision == "bfloat16"
        return torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=low)
