"""The playground: a typed or drawn input, answered by one or two models."""

import time
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import torch
from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response
from torch import Tensor

from ordinate.app.web.limits import (
    ATTENTION_TOKENS,
    MODELS,
    SAMPLES,
    SHORT,
    check_length,
    check_text,
    check_tokens,
)
from ordinate.app.web.middleware import Json
from ordinate.app.web.models import LoadedModel, ModelCache, task_facts
from ordinate.app.web.worker import Worker
from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.points import SymbolPoint
from ordinate.lab.evaluation.sweep import Model, measure, run_model, test_set
from ordinate.lab.seeds import generator
from ordinate.lab.tasks import TASKS, Task, make_task
from ordinate.lab.tasks.arithmetic.base import DigitTask
from ordinate.lab.tasks.arithmetic.digits import BLANK, PAD, SYMBOLS
from ordinate.lab.tasks.arithmetic.lines import OPERANDS, answer_field, slots
from ordinate.lab.tasks.batch import Batch

TOLERANCE = 0.1
"""Of numbers, relative and absolute: as accuracy is measured."""

EMPTY = ""
"""A place without a digit."""


@dataclass(frozen=True)
class Written:
    """An answer symbol by symbol in reading order, and the places, counted from the left, that are wrong."""

    symbols: list[str]
    wrong: list[int]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def question(task: Task, batch: Batch) -> list[dict[str, Any]]:
    """The rows above an answer: operands, place under place, where a task has them."""
    if not isinstance(task, DigitTask):
        return []
    places = len(slots(batch.coordinates, answer_field(batch.coordinates)))
    rows = []
    for name in batch.coordinates.fields:
        if name in OPERANDS:
            digits = batch.input[0, slots(batch.coordinates, name)].tolist()
            symbols = [SYMBOLS[d] if d < PAD else EMPTY for d in reversed(digits)]
            rows.append({"name": name, "symbols": ([EMPTY] * places + symbols)[-places:]})
    return rows


def exact(task: Task, batch: Batch) -> Written:
    """The exact answer."""
    return Written(_symbols(task, batch, batch.target), [])


def answered(model: Model, task: Task, batch: Batch) -> Written:
    """The model's answer to the first sample."""
    with torch.no_grad():
        output = run_model(model, batch.input, batch.coordinates)
    right = _symbols(task, batch, batch.target)
    if batch.target.is_floating_point():
        answer = output.to(batch.target.dtype)
        close = torch.isclose(answer, batch.target, rtol=TOLERANCE, atol=TOLERANCE)[0]
        missed = (~close[task.scored(batch.coordinates)]).tolist()
        return Written(_symbols(task, batch, answer), [i for i, wrong in enumerate(missed) if wrong])
    given = _symbols(task, batch, output.argmax(-1))
    pairs = zip(given, right, strict=True)
    return Written(given, [place for place, (one, other) in enumerate(pairs) if one != other])


def measured(model: Model, task: Task, length: int, count: int, seed: int) -> dict[str, Any]:
    """The share of right answers, and of right symbols, among some samples of a length."""
    tests = test_set(task, "length", float(length), count=count, seed=seed)
    point, _ = measure(model, task, tests, relative=TOLERANCE, absolute=TOLERANCE)
    symbols = point.symbol_accuracy if isinstance(point, SymbolPoint) else point.accuracy
    return {"count": point.count, "exact": point.accuracy, "symbols": symbols}


def _symbols(task: Task, batch: Batch, answer: Tensor) -> list[str]:
    """The symbols of an answer to the first sample, as a person reads them."""
    if isinstance(task, DigitTask):
        place = slots(batch.coordinates, answer_field(batch.coordinates)).flip(0)
        return [SYMBOLS[s] if s < PAD or s > BLANK else EMPTY for s in answer[0, place].tolist()]
    if answer.is_floating_point():
        return [f"{value:z.2f}" for value in answer[0][task.scored(batch.coordinates)].tolist()]
    names = task.answer_texts
    return [names[s].strip() for s in answer[0, task.scored(batch.coordinates)[:, 0]].tolist()]


Name = Annotated[str, Field(max_length=300)]


class Question(BaseModel):
    """What is asked: an input as text, or one that is drawn at a length."""

    model_config = ConfigDict(extra="forbid")

    task: Name = "addition"
    models: list[Name] = Field(default_factory=list, max_length=MODELS)
    text: str | None = None
    length: int | None = None
    seed: int = Field(0, ge=0, lt=2**31)
    count: int = Field(0, ge=0, le=SAMPLES)
    """Samples of that length on which the models are measured besides."""

    @property
    def short(self) -> bool:
        """Whether the answer takes but a moment."""
        return not self.count and (self.length or len(self.text or "")) <= SHORT


class AttentionQuestion(BaseModel):
    """Which model's attention to which input."""

    model_config = ConfigDict(extra="forbid")

    model: Name
    text: str


def routes(cache: ModelCache, worker: Worker) -> APIRouter:
    """Everything under /api that computes with models."""
    router = APIRouter(prefix="/api")

    @router.get("/models")
    def models() -> Response:
        tasks = [task_facts(kind()) for kind in TASKS.values()]
        return Json({"models": cache.describe(), "tasks": tasks})

    @router.post("/answer")
    async def answer(asked: Question, request: Request) -> Response:
        return Json(await worker.run(request, lambda: answer_document(cache, asked), short=asked.short))

    @router.post("/attention")
    async def attention(asked: AttentionQuestion, request: Request) -> Response:
        return Json(await worker.run(request, lambda: attention_maps(cache, asked)))

    return router


def answer_document(cache: ModelCache, asked: Question) -> dict[str, Any]:
    """Draw or read the input, and let every model answer it; a model that cannot says why."""
    chosen: list[LoadedModel | str] = []
    for name in asked.models:
        try:
            chosen.append(cache.load(name))
        except OrdinateError as error:
            chosen.append(str(error))
    task = next((loaded.task for loaded in chosen if isinstance(loaded, LoadedModel)), None) or make_task(
        asked.task
    )
    batch = _drawn(task, asked) if asked.text is None else _read(task, asked.text)
    row = task.show(batch)[0]
    return {
        "task": task.name,
        "input": row["input"],
        "right": row["target"],
        "tokens": len(batch.coordinates),
        "rows": question(task, batch),
        "exact": exact(task, batch).symbols,
        "tolerance": TOLERANCE if batch.target.is_floating_point() else None,
        "models": [
            _answer_of(loaded, task, batch, row["input"], asked)
            if isinstance(loaded, LoadedModel)
            else {"id": name, "title": name, "error": loaded}
            for name, loaded in zip(asked.models, chosen, strict=True)
        ],
    }


def _drawn(task: Task, asked: Question) -> Batch:
    if "length" not in task.axes:
        return task.sample(1, generator=generator(asked.seed, "page"))
    length = check_length(task, max(task.lengths()) if asked.length is None else asked.length)
    return task.tested().sample(1, generator=generator(asked.seed, "page", length), length=length)


def _read(task: Task, text: str) -> Batch:
    return task.parse(check_text(task, text))


def _answer_of(loaded: LoadedModel, task: Task, batch: Batch, text: str, asked: Question) -> dict[str, Any]:
    started = time.monotonic()
    facts: dict[str, Any] = {"id": loaded.id, "title": loaded.title}
    try:
        own = batch if loaded.task == task else _read(loaded.task, text)
        facts |= answered(loaded.model, loaded.task, own).to_dict()
        if asked.count and asked.length is not None and "length" in loaded.task.axes:
            facts["measured"] = measured(loaded.model, loaded.task, asked.length, asked.count, asked.seed)
    except OrdinateError as error:
        facts["error"] = str(error)
    return {**facts, "seconds": round(time.monotonic() - started, 3)}


def attention_maps(cache: ModelCache, asked: AttentionQuestion) -> dict[str, Any]:
    """The attention of every layer and head to a typed input."""
    from ordinate.lab.explain import explain

    loaded = cache.load(asked.model)
    batch = _read(loaded.task, asked.text)
    check_tokens(len(batch.coordinates), ATTENTION_TOKENS, "attention")
    return {
        "id": loaded.id,
        "title": loaded.title,
        **explain(loaded.model, loaded.task, asked.text).to_dict(),
    }
