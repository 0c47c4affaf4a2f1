"""MLflow: one run a seed, in the experiment that is called as the recipe; a server or a file such as sqlite:///runs.db.

https://mlflow.org/docs/latest/ml/tracking
"""

import math
import os
import time
from collections.abc import Mapping
from typing import Any, ClassVar

from ordinate.errors import OrdinateError
from ordinate.lab.training.sinks.sink import Sink, Subject

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
    """Parameters and metrics of every run."""

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

    def log(self, seed: int, step: int, values: Mapping[str, float]) -> None:
        """Send metrics; = is not allowed in their names and becomes a colon."""
        entities = self._mlflow.entities
        now = int(1000 * time.time())
        metrics = [
            entities.Metric(name.replace("=", ":"), float(value), now, step)
            for name, value in values.items()
            if math.isfinite(value)
        ]
        run = self._opened(seed)
        self._client.log_batch(run, metrics=metrics)

    def end(self, seed: int, status: str) -> None:
        """Say how the run ended."""
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
