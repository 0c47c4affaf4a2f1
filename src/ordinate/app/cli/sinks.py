"""Sinks that `ordinate train` was asked for, opened and closed around a training."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ordinate.app.cli.output import note
from ordinate.lab.runs.store import flatten, recipe_key
from ordinate.lab.training import Recipe
from ordinate.lab.training.sinks import Feed, Sink, Subject


@contextmanager
def told(
    recipe: Recipe, seeds: Iterable[int], tensorboard: Path | None, mlflow: str | None
) -> Iterator[Feed]:
    """A feed to the sinks that were named, closed however the training ends."""
    document = recipe.to_dict()
    key = f"{recipe.name}-{recipe_key(document)}"
    subject = Subject(recipe.name, flatten(document), {seed: f"{key}/seed-{seed}" for seed in seeds})
    sinks: list[Sink] = []
    if tensorboard is not None:
        from ordinate.lab.training.sinks.tensorboard import TensorBoard

        sinks.append(TensorBoard(tensorboard, subject))
    if mlflow is not None:
        from ordinate.lab.training.sinks.mlflow import MLflow

        sinks.append(MLflow(mlflow, subject))
    feed = Feed(sinks, warn=lambda line: note(f"warning: {line}"))
    try:
        yield feed
    finally:
        feed.end(dict.fromkeys(subject.ids, "running"))
