"""The feed: what a training reports, handed on to sinks. A sink that fails is left out; training goes on."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ordinate.lab.runs.store import flatten, recipe_key
from ordinate.lab.training.recipe import Recipe
from ordinate.lab.training.sinks.sink import Sink, Subject

Warn = Callable[[str], None]


class Feed:
    """Hands the reports of `ordinate.lab.training.train` on to sinks.

    >>> feed = Feed([], warn=print)
    >>> feed.report(step=10, steps=100, losses={0: 0.5}, rate=0.001)
    """

    def __init__(self, sinks: Sequence[Sink], warn: Warn) -> None:
        self.sinks, self.warn = list(sinks), warn

    def report(self, **facts: Any) -> None:
        """Take the facts of one report: losses by seed, or scores by seed and point."""
        step = int(facts["step"])
        for seed, loss in facts.get("losses", {}).items():
            self._log(seed, step, {"loss": loss, "rate": facts["rate"]})
        for seed, scores in facts.get("scores", {}).items():
            self._log(seed, step, {f"scores/{point}": score for point, score in scores.items()})

    def end(self, statuses: Mapping[int, str]) -> None:
        """Close every seed with its status."""
        for seed, status in statuses.items():
            for sink in list(self.sinks):
                with self._kept(sink):
                    sink.end(seed, status)

    def _log(self, seed: int, step: int, values: Mapping[str, float]) -> None:
        for sink in list(self.sinks):
            with self._kept(sink):
                sink.log(seed, step, values)

    @contextmanager
    def _kept(self, sink: Sink) -> Iterator[None]:
        """Leave the sink out from now on if it fails."""
        try:
            yield
        except Exception as error:
            self.sinks.remove(sink)
            cause = (str(error).strip().splitlines() or [type(error).__name__])[0]
            self.warn(f"{sink.name} is told no more, training goes on: {cause}")


@contextmanager
def open_feed(
    recipe: Recipe,
    seeds: Iterable[int],
    warn: Warn,
    tensorboard: Path | None = None,
    mlflow: str | None = None,
) -> Iterator[Feed]:
    """A feed to the sinks that are named, closed however the training ends.

    >>> with open_feed(recipe, [0, 1], print, tensorboard=Path("tb")) as feed:              # doctest: +SKIP
    ...     train(recipe, [0, 1], store=store, report=feed.report)
    """
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
    feed = Feed(sinks, warn)
    try:
        yield feed
    finally:
        feed.end(dict.fromkeys(subject.ids, "running"))
