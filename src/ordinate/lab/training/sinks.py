"""Sinks: other places that are told of a training, beside the run's own folder: TensorBoard files and MLflow.

The feed hands on what a training reports. A sink that fails is left out; training goes on.
"""

import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from typing_extensions import override

from ordinate.errors import OrdinateError
from ordinate.lab.runs.store import flatten, recipe_key
from ordinate.lab.training.recipe import Recipe

Warn = Callable[[str], None]


@dataclass(frozen=True)
class Subject:
    """What is trained: the name of the recipe, its settings under dotted keys, and the id of every seed's run."""

    name: str
    settings: Mapping[str, object] = field(default_factory=dict)
    ids: Mapping[int, str] = field(default_factory=dict)


class Sink(ABC):
    """A place that is told of a training. A seed is opened by its first numbers, so that nothing leaves no trace."""

    name: ClassVar[str]
    """What a person calls it."""

    @abstractmethod
    def log(self, seed: int, step: int, values: Mapping[str, float]) -> None:
        """Take the numbers of a seed at a step; names are `loss`, `rate` and `scores/POINT`."""

    @abstractmethod
    def end(self, seed: int, status: str) -> None:
        """Close a seed: done, failed, or running where training was stopped."""


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
        sinks.append(TensorBoard(tensorboard, subject))
    if mlflow is not None:
        sinks.append(MLflow(mlflow, subject))
    feed = Feed(sinks, warn)
    try:
        yield feed
    finally:
        feed.end(dict.fromkeys(subject.ids, "running"))


class TensorBoard(Sink):
    """Scalars in event files below `folder`, a folder a run: `tensorboard --logdir DIR` shows them side by side.

    A run that goes on hides what it had written too far.
    """

    name: ClassVar[str] = "TensorBoard"

    def __init__(self, folder: Path, subject: Subject) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise OrdinateError(
                "--tensorboard needs the package tensorboard: write pip install 'ordinate[track]'"
            ) from None
        self.folder, self.subject, self._open = folder, subject, SummaryWriter
        self._writers: dict[int, Any] = {}

    @override
    def log(self, seed: int, step: int, values: Mapping[str, float]) -> None:
        if seed not in self._writers:
            writer = self._open(str(self.folder / self.subject.ids[seed]), purge_step=step)
            table = "\n".join(f"| {key} | {value} |" for key, value in self.subject.settings.items())
            writer.add_text("settings", f"| setting | value |\n|---|---|\n{table}", step)
            self._writers[seed] = writer
        for name, value in values.items():
            self._writers[seed].add_scalar(name, value, step)

    @override
    def end(self, seed: int, status: str) -> None:
        if seed in self._writers:
            self._writers.pop(seed).close()


TAG = "ordinate.run"
"""The tag that holds the id of the run here: training that goes on finds its run there again."""
ENDS = {"done": "FINISHED", "failed": "FAILED"}
"""How MLflow calls what a run here calls its status; anything else was killed."""
LONGEST = 500
"""Letters of a setting that every store takes."""

# A server that is not there must not hold training up for minutes, and nobody else is told of the training.
_QUIET = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}


class MLflow(Sink):
    """Parameters and metrics of every run, in the experiment that is called as the recipe.

    https://mlflow.org/docs/latest/ml/tracking: a server, or a file such as sqlite:///runs.db.
    """

    name: ClassVar[str] = "MLflow"

    def __init__(self, uri: str, subject: Subject) -> None:
        for key, value in _QUIET.items():
            os.environ.setdefault(key, value)
        try:
            import mlflow
        except ImportError:
            raise OrdinateError(
                "--mlflow needs the package mlflow: write pip install 'ordinate[mlflow]'"
            ) from None
        self.uri, self.subject, self._mlflow = uri, subject, mlflow
        self._client: Any = None
        self._runs: dict[int, str] = {}

    @override
    def log(self, seed: int, step: int, values: Mapping[str, float]) -> None:
        entities = self._mlflow.entities
        now = int(1000 * time.time())
        metrics = [
            entities.Metric(name.replace("=", ":"), float(value), now, step)  # = is not allowed in a name
            for name, value in values.items()
            if math.isfinite(value)
        ]
        run = self._opened(seed)
        self._client.log_batch(run, metrics=metrics)

    @override
    def end(self, seed: int, status: str) -> None:
        if seed in self._runs:
            self._client.set_terminated(self._runs.pop(seed), ENDS.get(status, "KILLED"))

    def _opened(self, seed: int) -> str:
        """The run of a seed, made or found again at its first numbers."""
        if seed in self._runs:
            return self._runs[seed]
        if self._client is None:
            self._client = self._mlflow.MlflowClient(tracking_uri=self.uri)
        client, name, own = self._client, self.subject.name, self.subject.ids[seed]
        experiment = client.get_experiment_by_name(name)
        number = experiment.experiment_id if experiment else client.create_experiment(name)
        known = client.search_runs([number], filter_string=f"tags.`{TAG}` = '{own}'", max_results=1)
        if known:
            self._runs[seed] = known[0].info.run_id
            client.update_run(self._runs[seed], status="RUNNING")
            return self._runs[seed]
        run = client.create_run(number, run_name=own, tags={TAG: own, "ordinate.seed": str(seed)})
        param = self._mlflow.entities.Param
        settings = {**self.subject.settings, "seed": seed}
        client.log_batch(run.info.run_id, params=[param(k, str(v)[:LONGEST]) for k, v in settings.items()])
        self._runs[seed] = run.info.run_id
        return self._runs[seed]
