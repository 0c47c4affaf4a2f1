"""Models that the playground asks: those that come with the package, and those of runs."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ordinate.app.web.limits import longest
from ordinate.app.web.store import Listing, inside, run_folder
from ordinate.errors import OrdinateError, nearest
from ordinate.lab.evaluation.points import metric_of_task
from ordinate.lab.runs import Run
from ordinate.lab.tasks import Task
from ordinate.lab.training import Recipe, load_model
from ordinate.lab.zoo import cards, load_card, open_model
from ordinate.models import Model

KEPT = 6
"""Models that stay loaded."""

PACKAGED, OF_RUN = "package:", "run:"


@dataclass(frozen=True)
class LoadedModel:
    """A model, the task it was trained on, and its name."""

    id: str
    title: str
    task: Task
    model: Model


class ModelCache:
    """Loads models when they are asked for, and keeps the last ones; used by the worker's thread only."""

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        self._kept: OrderedDict[tuple[str, int], LoadedModel] = OrderedDict()

    def describe(self) -> list[dict[str, Any]]:
        """All models that can be asked for: those of the package first, then runs that are done."""
        found = [
            {
                "id": PACKAGED + card.name,
                "title": card.title,
                "summary": card.summary,
                "task": card.recipe["task"]["name"],
                "parameters": card.parameters,
                "metric": metric_of_task(card.recipe["task"]["name"]),
                "tested": card.recipe["evaluation"]["count"],
                "scores": card.scores,
                "command": card.command,
            }
            for card in cards()
            if card.recipe is not None  # compiled models are shown by `ordinate report`
        ]
        for study in self.listing.read()[0]["studies"]:
            found += [
                {
                    "id": OF_RUN + run["id"],
                    "title": f"{study['name']}, seed {run['seed']}",
                    "summary": f"run {run['id']}",
                    "task": run["task"],
                    "parameters": run["parameters"],
                    "metric": run["metric"],
                    "tested": run["tested"],
                    "scores": run["scores"],
                    "command": None,
                }
                for run in study["runs"]
                if run["status"] == "done"
            ]
        return found

    def load(self, name: str) -> LoadedModel:
        """The model of this id."""
        if name.startswith(PACKAGED):
            card = load_card(name.removeprefix(PACKAGED))
            if card.recipe is None:
                raise OrdinateError(
                    f"{card.name} is compiled, and the page asks trained models: {card.command}"
                )
            return self._keep(
                (name, 0), lambda: LoadedModel(name, card.title, card.task, open_model(card.name))
            )
        if not name.startswith(OF_RUN):
            known = [PACKAGED + card.name for card in cards()]
            raise OrdinateError(f"there is no model {name[:200]!r}: {nearest(name[:200], known)}")
        folder = run_folder(self.listing.store, name.removeprefix(OF_RUN))
        run = Run(folder)
        steps = run.checkpoints()
        if not steps:
            raise OrdinateError(f"run {run.id} has no checkpoint yet: wait for its end")
        file = inside(folder, "checkpoints", f"step-{steps[-1]:08d}.safetensors")
        title = f"{folder.parent.name.rsplit('-', 1)[0]}, seed {run.seed}"
        key = (name, file.stat().st_mtime_ns)
        return self._keep(
            key, lambda: LoadedModel(name, title, Recipe.parse(run.recipe).task, load_model(file))
        )

    def _keep(self, key: tuple[str, int], make: Callable[[], LoadedModel]) -> LoadedModel:
        if key not in self._kept:
            self._kept[key] = make()
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]


def task_facts(task: Task) -> dict[str, Any]:
    """What the page can ask of a task: which lengths were trained, and how far it goes."""
    trained = task.lengths()
    return {
        "name": task.name,
        "family": task.family,
        "summary": task.summary,
        "lengths": "length" in task.axes,
        "trained": max(trained),
        "longest": longest(task),
        "fields": list(task.coordinates(max(trained)).fields),
    }
