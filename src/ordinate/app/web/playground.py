"""The playground: a typed or drawn input, answered by one or two models."""

import time
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from ordinate.app.web.answers import TOLERANCE, answered, exact, measured, question
from ordinate.app.web.limits import (
    ATTENTION_TOKENS,
    MODELS,
    SAMPLES,
    SHORT,
    check_length,
    check_text,
    check_tokens,
)
from ordinate.app.web.models import Player, Players, reach
from ordinate.app.web.replies import Json
from ordinate.app.web.worker import Worker
from ordinate.errors import OrdinateError
from ordinate.lab.seeds import generator
from ordinate.lab.tasks import TASKS, Task, make_task
from ordinate.lab.tasks.batch import Batch

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


class Look(BaseModel):
    """Which model's attention to which input."""

    model_config = ConfigDict(extra="forbid")

    model: Name
    text: str


def routes(players: Players, worker: Worker) -> APIRouter:
    """Everything under /api that computes with models."""
    router = APIRouter(prefix="/api")

    @router.get("/models")
    def models() -> Response:
        tasks = [reach(kind()) for kind in TASKS.values()]
        return Json({"models": players.describe(), "tasks": tasks})

    @router.post("/answer")
    async def answer(asked: Question, request: Request) -> Response:
        return Json(await worker.run(request, lambda: play(players, asked), short=asked.short))

    @router.post("/attention")
    async def attention(asked: Look, request: Request) -> Response:
        return Json(await worker.run(request, lambda: look(players, asked)))

    return router


def play(players: Players, asked: Question) -> dict[str, Any]:
    """Draw or read the input, and let every model answer it; a model that cannot says why."""
    chosen: list[Player | str] = []
    for name in asked.models:
        try:
            chosen.append(players.load(name))
        except OrdinateError as error:
            chosen.append(str(error))
    task = next((player.task for player in chosen if isinstance(player, Player)), None) or make_task(
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
            _played(player, task, batch, row["input"], asked)
            if isinstance(player, Player)
            else {"id": name, "title": name, "error": player}
            for name, player in zip(asked.models, chosen, strict=True)
        ],
    }


def _drawn(task: Task, asked: Question) -> Batch:
    if "length" not in task.axes:
        return task.sample(1, generator=generator(asked.seed, "page"))
    length = check_length(task, max(task.lengths()) if asked.length is None else asked.length)
    return task.tested().sample(1, generator=generator(asked.seed, "page", length), length=length)


def _read(task: Task, text: str) -> Batch:
    return task.parse(check_text(task, text))


def _played(player: Player, task: Task, batch: Batch, text: str, asked: Question) -> dict[str, Any]:
    started = time.monotonic()
    facts: dict[str, Any] = {"id": player.id, "title": player.title}
    try:
        own = batch if player.task == task else _read(player.task, text)
        facts |= answered(player.model, player.task, own).to_dict()
        if asked.count and asked.length is not None and "length" in player.task.axes:
            facts["measured"] = measured(player.model, player.task, asked.length, asked.count, asked.seed)
    except OrdinateError as error:
        facts["error"] = str(error)
    return {**facts, "seconds": round(time.monotonic() - started, 3)}


def look(players: Players, asked: Look) -> dict[str, Any]:
    """The attention of every layer and head to a typed input."""
    from ordinate.lab.explain import explain

    player = players.load(asked.model)
    batch = _read(player.task, asked.text)
    check_tokens(len(batch.coordinates), ATTENTION_TOKENS, "attention")
    return {
        "id": player.id,
        "title": player.title,
        **explain(player.model, player.task, asked.text).to_dict(),
    }
