"""Recipes: everything that decides what a run computes, as one validated document (TOML)."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    SerializeAsAny,
    ValidationError,
    field_validator,
)

from ordinate.errors import OrdinateError, explain, nearest
from ordinate.kinds import choose
from ordinate.lab.architectures import MODELS
from ordinate.lab.evaluation.sweep import MOST_POINTS
from ordinate.lab.tasks import TASKS, Task
from ordinate.lab.toml import DEEPEST, parse_toml
from ordinate.lab.training.optimizer import OPTIMIZERS, SCHEDULES, Adam, Cosine, Optimizer, Schedule
from ordinate.lab.training.shipped import find_recipe
from ordinate.models import ModelSettings

VERSION = 1
"""Of the recipe's format; a recipe of a later one is refused."""

R = TypeVar("R", bound="Recipe")


class Part(BaseModel):
    """A table of a recipe: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Pick(Part):
    """Keep, of the weights seen along a training, those with the best score at one point; the last are kept too."""

    axis: str = Field("length", description="axis of the task")
    value: FiniteFloat = Field(description="value on that axis, such as a length beyond those of training")
    count: int = Field(200, ge=1, le=10_000_000, description="samples, other ones than those of any test")
    every: int = Field(250, ge=1, description="steps between comparisons")


class Initial(Part):
    """Weights to start from instead of random ones; `ordinate train --init FOLDER` writes this."""

    weights: str = Field(
        pattern=r"^[0-9a-f]{16}$", description="their hash, under which the store keeps them"
    )
    noise: float = Field(
        0.0, ge=0, description="standard deviation of noise, in units of the mean size of a unit's weights"
    )


class Training(Part):
    """How a model is trained."""

    steps: int = Field(4000, ge=1, le=100_000_000)
    batch: int = Field(256, ge=1, le=10_000_000)
    samples: int | None = Field(None, ge=1, description="size of a fixed training set; fresh data without")
    optimizer: Annotated[
        SerializeAsAny[Optimizer],
        BeforeValidator(lambda v: choose(v, OPTIMIZERS, "training.optimizer", default="adam")),
    ] = Adam()
    schedule: Annotated[
        SerializeAsAny[Schedule],
        BeforeValidator(lambda v: choose(v, SCHEDULES, "training.schedule", default="cosine")),
    ] = Cosine()
    clip: float | None = Field(None, gt=0, description="largest gradient norm")
    average: float | None = Field(
        None, gt=0, lt=1, description="decay of averaged weights, which are then measured and kept"
    )
    pick: Pick | None = Field(None, description="choose a checkpoint by its score at one point")
    initial: Initial | None = Field(None, description="weights to start from; random ones without")
    precision: Literal["float32", "bfloat16", "float64"] = "float32"
    finish: float = Field(0.25, ge=0, le=1, description="share of a bfloat16 training that ends in float32")
    compile: bool = Field(False, description="use torch.compile: slow to start, pays on large models")
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    log_every: int = Field(50, ge=1)
    checkpoint_every: int | None = Field(None, ge=1, description="steps between kept models")
    save_seconds: float = Field(20.0, ge=0, description="time between states that a killed run resumes from")

    @property
    def steps_by(self) -> str:
        """What makes the steps, for people.

        >>> Training().steps_by
        'adam, rate 0.002, cosine'
        """
        optimizer = self.optimizer
        decay = f", weight decay {optimizer.weight_decay:g}" if optimizer.weight_decay else ""
        return f"{optimizer.name}, rate {optimizer.learning_rate:g}{decay}, {self.schedule.name}"


class Evaluation(Part):
    """What is measured: the validation error, and errors along axes of the task."""

    count: int = Field(1000, ge=1, le=10_000_000, description="samples at every point")
    every: int | None = Field(None, ge=1, description="steps between evaluations; at the end only without")
    axes: dict[str, Annotated[tuple[FiniteFloat, ...], Field(max_length=MOST_POINTS)]] = Field(
        default_factory=dict
    )
    length: int | None = Field(
        None, ge=1, description="length at which axes other than the length are measured; as trained without"
    )
    relative: float = Field(0.1, ge=0, description="relative tolerance of accuracy")
    absolute: float = Field(0.1, ge=0, description="absolute tolerance of accuracy")

    @classmethod
    def parse(cls, document: dict[str, Any], task: Task) -> "Evaluation":
        """Validate a document for a model of a task that no recipe tells of."""
        try:
            evaluation = cls.model_validate(document)
        except ValidationError as error:
            raise explain(error, "evaluation", cls) from None
        evaluation.check_axes(task)
        return evaluation

    def check_axes(self, task: Task) -> None:
        """Refuse an axis that a task does not have."""
        for axis in self.axes:
            check_axis(f"evaluation.axes.{axis}", axis, task)


def check_axis(where: str, axis: str, task: Task) -> None:
    """Refuse an axis that a task does not have, at a place of a recipe."""
    if axis not in task.axes:
        raise OrdinateError(f"{where}: task {task.name!r} has no axis {axis!r}; {nearest(axis, task.axes)}")


class Recipe(Part):
    """Task + model + training + evaluation. Recipe and seed decide every number of a run."""

    version: int = Field(VERSION, ge=1)
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)
    task: Annotated[SerializeAsAny[Task], BeforeValidator(lambda v: choose(v, TASKS, "task", "name"))]
    model: Annotated[SerializeAsAny[ModelSettings], BeforeValidator(lambda v: choose(v, MODELS, "model"))]
    training: Training = Training()
    evaluation: Evaluation = Evaluation()

    @field_validator("version")
    @classmethod
    def _known(cls, version: int) -> int:
        if version > VERSION:
            raise OrdinateError(
                f"this recipe has version {version}, but this ordinate reads up to {VERSION}: upgrade ordinate"
            )
        return version

    @classmethod
    def parse(cls: type[R], document: dict[str, Any]) -> R:
        """Validate a document; what is wrong is said in one line."""
        try:
            recipe = cls.model_validate(document)
        except ValidationError as error:
            raise explain(error, "", cls) from None
        recipe.evaluation.check_axes(recipe.task)
        if recipe.training.pick is not None:
            check_axis("training.pick.axis", recipe.training.pick.axis, recipe.task)
        return recipe

    @classmethod
    def read(cls: type[R], path: Path | str, changes: Iterable[str] = ()) -> R:
        """Read a TOML file, or a recipe of the package by its name, and apply changes such as `training.steps=100`."""
        document = read_toml(find_recipe(path), "the recipe")
        for change in changes:
            apply_change(document, change)
        return cls.parse(document)

    def to_dict(self) -> dict[str, Any]:
        """The whole recipe, defaults included, as plain data without empty values."""
        return self.model_dump(mode="json", exclude_none=True)


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """Read a TOML document; one that cannot be read is refused in one line."""
    try:
        return parse_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OrdinateError(f"cannot read {what} {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise OrdinateError(
            f"{path} is not a TOML document, which is text in UTF-8: save it as that"
        ) from None
    except (ValueError, OrdinateError) as error:
        raise OrdinateError(f"{path} is not a TOML document: {error}") from None


def apply_change(document: dict[str, Any], change: str) -> None:
    """Apply `a.b=value` to a document; the value is read as TOML, and as text where that fails.

    >>> document = {"training": {"steps": 5}}
    >>> apply_change(document, "training.steps=100"); apply_change(document, "model.kind=standard")
    >>> document
    {'training': {'steps': 100}, 'model': {'kind': 'standard'}}
    """
    key, equals, text = change.partition("=")
    if not equals or not all(key.strip().split(".")) or key.count(".") >= DEEPEST:
        raise OrdinateError(f"--set {change!r} is not understood: write --set training.steps=100")
    try:
        value = parse_toml(f"value = {text}")["value"]
    except ValueError:
        value = text.strip()
    set_dotted(document, key.strip(), value)


def set_dotted(document: dict[str, Any], key: str, value: Any) -> None:
    """Set a dotted key; a bare name on the way, such as `encoding = "rope"`, becomes a table of that kind.

    >>> document = {"model": {"encoding": "rope"}}
    >>> set_dotted(document, "model.encoding.base", 500); document
    {'model': {'encoding': {'kind': 'rope', 'base': 500}}}
    """
    *tables, last = key.split(".")
    for part in tables:
        inner = document.setdefault(part, {})
        if not isinstance(inner, dict):
            inner = document[part] = {"name" if part == "task" else "kind": inner}
        document = inner
    document[last] = value
