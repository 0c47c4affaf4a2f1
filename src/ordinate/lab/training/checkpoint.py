"""Models from files: what a run has stored, as a model that can be called."""

from pathlib import Path
from typing import Any

from torch import Tensor

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Run, read_tensors
from ordinate.lab.training.recipe import Recipe
from ordinate.models import Model, build_model


def load_model(run: Run | str | Path, step: int | None = None) -> Model:
    """Return the model of a run at a step (the last one by default), or of a checkpoint file.

    >>> model = load_model("runs/sum-1a2b3c4d5e/seed-0")                    # doctest: +SKIP
    """
    if isinstance(run, str | Path):
        path = Path(run)
        if path.is_file():
            return restore(*read_tensors(path), where=str(path))
        run = Run(path)
    return restore(*run.load_checkpoint(step), where=run.id)


def restore(tensors: dict[str, Tensor], meta: dict[str, Any], where: str) -> Model:
    """The model whose weights these are, built from the recipe in the meta of a checkpoint."""
    try:
        recipe = Recipe.parse(meta["recipe"])
        model = build_model(recipe.model, recipe.task, seed=0)
        model.to(next(iter(tensors.values())).dtype)
        model.load_state_dict(tensors)
    except (KeyError, RuntimeError, StopIteration) as error:
        first = str(error).strip().splitlines()[0]
        raise OrdinateError(f"{where} does not hold a model of this library: {first}") from None
    return model.eval()
