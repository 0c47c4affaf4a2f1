"""The relation editor: fields, a window, uniform parts; back come the classes, their matrix and their cost."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from ordinate.app.web.limits import LENGTH, MATRIX_TOKENS, check_tokens, longest
from ordinate.app.web.middleware import Json
from ordinate.app.web.worker import Worker
from ordinate.attention import ContentClass
from ordinate.encodings import Pairwise
from ordinate.errors import OrdinateError
from ordinate.lab.tasks import Task, make_task
from ordinate.models import ResidualEncoder, build_model
from ordinate.relations import (
    BoundRelation,
    Relation,
    aligned,
    everywhere,
    itself,
    relative,
    uniform,
    window,
)

FURTHER = 50
"""The length at which it is said whether the classes are still known."""

Fields = list[Annotated[str, Field(max_length=80)]]


class Design(BaseModel):
    """A relation as the editor's controls give it."""

    model_config = ConfigDict(extra="forbid")

    task: Annotated[str, Field(max_length=80)] = "addition"
    length: int = Field(5, ge=1, le=LENGTH)
    fields: Fields = Field(default_factory=list, max_length=16)
    """Fields whose tokens are related by the difference of their ordinates."""
    back: int | None = Field(None, ge=0, le=LENGTH)
    """Places back of the window; without, there is none."""
    ahead: int = Field(0, ge=0, le=LENGTH)
    uniform: Fields = Field(default_factory=list, max_length=16)
    """Fields whose keys have a class of their own, whatever the query."""
    rest: Literal["nothing", "itself", "everywhere", "relative"] = "itself"
    """What becomes of all other pairs."""


def routes(worker: Worker) -> APIRouter:
    """The one question of the editor."""
    router = APIRouter(prefix="/api")

    @router.post("/relation")
    async def relation(asked: Design, request: Request) -> Response:
        return Json(await worker.run(request, lambda: drawn(asked)))

    return router


def designed(asked: Design) -> Relation:
    """The relation that the controls describe: uniform parts first, then related fields, then the rest.

    >>> designed(Design(fields=["first", "second"], back=4, rest="nothing"))
    aligned('first', 'second') * window(back=4)
    >>> designed(Design(uniform=["multiplier"], fields=["multiplicand"], rest="itself"))
    uniform('multiplier') | aligned('multiplicand') | itself()
    """
    parts: list[Relation] = []
    if asked.uniform:
        parts.append(uniform(*asked.uniform))
    if asked.fields:
        related = aligned(*asked.fields)
        parts.append(related if asked.back is None else related * window(asked.back, asked.ahead))
    rest: dict[str, Relation] = {"itself": itself(), "everywhere": everywhere(), "relative": relative()}
    if asked.rest in rest:
        parts.append(rest[asked.rest])
    if not parts:
        raise OrdinateError("nothing is related: choose a field, a uniform part or what becomes of the rest")
    whole = parts[0]
    for part in parts[1:]:
        whole = whole | part
    return whole


def drawn(asked: Design) -> dict[str, Any]:
    """Classes, matrix and parameters of a design at the tokens of a task."""
    task = make_task(asked.task)
    relation = designed(asked)
    coordinates = task.coordinates(asked.length)
    check_tokens(len(coordinates), MATRIX_TOKENS, "the class matrix")
    bound = BoundRelation(relation, [coordinates])
    pattern = bound.pattern(coordinates)
    model = ResidualEncoder(hidden=128, encoding=(Pairwise(relation=(relation,)),), attention=ContentClass())
    parameters = sum(p.numel() for p in build_model(model, task, seed=0).parameters())
    table = bound.parameters(model.width // model.heads, model.heads, model.layers or 0)
    return {
        "text": str(relation),
        "recipe": relation.model_dump(mode="json", exclude_defaults=True),
        "tokens": [coordinates.label(token) for token in range(len(coordinates))],
        "fields": list(coordinates.fields),
        "classes": bound.names,
        "matrix": pattern.dense.tolist(),
        "attended": len(pattern.query),
        "table": table,
        "parameters": parameters,
        "model": f"{model.layers} layers, {model.heads} heads, width {model.width}",
        "beyond": _beyond(bound, task, asked.length),
    }


def _beyond(bound: BoundRelation, task: Task, length: int) -> str:
    """Whether the relation has only known classes further on, too."""
    further = min(max(2 * length, FURTHER), longest(task))
    return f"length {further}, {bound.beyond(task.coordinates(further))}"
