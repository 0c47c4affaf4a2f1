"""A run: one recipe with one seed, as a folder.

```
sum-positional-1a2b3c4d5e/seed-0/
  recipe.toml      what was asked for
  run.json         what is known: status, step, scores, environment, times
  metrics.jsonl    one row a report
  resume/          the latest two states to go on from
  checkpoints/     the model along training
  results/ arrays/ what was measured afterwards
  lock             held by the process that trains
```
"""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from torch import Tensor

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.runs.files import (
    clear_run,
    is_complete,
    read_bytes,
    read_json,
    read_tensors,
    write_json,
    write_tensors,
    write_text,
)
from ordinate.lab.runs.lock import exclusive, in_turn
from ordinate.lab.runs.plain import from_json, to_json
from ordinate.lab.runs.record import (
    NAME,
    STATUSES,
    VERSION,
    fault_of,
    parse_metrics,
    parse_row,
    read_facts,
    read_recipe,
    run_id,
)

_STEP_FILE = re.compile(r"step-([0-9]{8,})\.safetensors")
_STATES_KEPT = 2


class Run:
    """The folder of one run.

    >>> run = Store("runs").open(recipe, seed=0)                                # doctest: +SKIP
    >>> with run.lock():                                                        # doctest: +SKIP
    ...     run.update(status="running", steps=1000)
    ...     run.append_metrics([{"step": 10, "loss": 0.5}])
    ...     run.save_state(200, tensors, {"rng": 7})
    ...     run.update(status="done", step=1000, scores={"exact": 0.97})
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"Run({self.id!r})"

    @property
    def id(self) -> str:
        """`<name>-<key>/seed-<k>`."""
        return run_id(self.path)

    @property
    def seed(self) -> int:
        """The seed, from the folder's name."""
        return int(self.path.name.removeprefix("seed-"))

    @property
    def recipe(self) -> dict[str, Any]:
        """The recipe, read from `recipe.toml`."""
        return read_recipe(self.path)

    @property
    def status(self) -> str:
        """One of new, running, done, failed. A run that was killed still says running, see `status_now`."""
        return str(self.record().get("status", "new"))

    def record(self) -> dict[str, Any]:
        """Return `run.json`: status, step, steps, parameters, scores, error, times, environment."""
        return read_facts(self.path)

    def facts(self) -> dict[str, Any]:
        """What is known of the run, for JSON; the keys are stable."""
        record, evaluation = self.record(), self._named("results", "evaluation", ".json")
        kept = ("status", "step", "steps", "parameters", "samples_seen", "seconds", "averaged", "error")
        return {
            "id": self.id,
            "seed": self.seed,
            "path": str(self.path),
            **{key: record.get(key) for key in kept},
            "scores": record.get("scores") or {},
            "evaluation": read_json(evaluation) if evaluation.exists() else [],
        }

    def update(self, **facts: Any) -> None:
        """Change facts in `run.json`; `scores` are added to those there, others replace."""
        status = facts.get("status")
        if status is not None and status not in STATUSES:
            raise OrdinateError(f"a run cannot have status {status!r}: write one of {', '.join(STATUSES)}")
        with in_turn(self.path):
            record = self.record()
            if facts.get("scores") is not None:
                facts["scores"] = {**(record.get("scores") or {}), **facts["scores"]}
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            first = {"id": self.id, "version": VERSION, "status": "new", "step": 0, "created": now}
            record = from_json(to_json({**first, **record, **facts, "updated": now}))
            if fault := fault_of(record):
                raise OrdinateError(f"run {self.id} cannot be recorded, {fault}")
            write_json(self.path / "run.json", record)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Train alone: a second process that asks gets an error. Released by the system if the holder dies."""
        with exclusive(self.path / "lock"):
            clear_run(self.path)
            yield

    # Metrics

    def append_metrics(self, rows: Iterable[dict[str, Any]]) -> None:
        """Append rows to `metrics.jsonl`, cutting off a line that an earlier kill has torn."""
        text = "".join(to_json(row) + "\n" for row in rows)
        if text:
            with self._metrics("ab+") as file:
                _mend(file)
                file.write(text.encode())

    def metrics(self) -> list[dict[str, Any]]:
        """Return all rows, without a torn last line."""
        path = self.path / "metrics.jsonl"
        return parse_metrics(read_bytes(path), path) if path.exists() else []

    def truncate_metrics(self, step: int) -> None:
        """Forget the rows after `step`, before going on from the state of that step; rows without one stay."""
        if (self.path / "metrics.jsonl").exists():
            kept = [row for row in self.metrics() if row.get("step", step) <= step]
            write_text(self.path / "metrics.jsonl", "".join(to_json(row) + "\n" for row in kept))

    @contextlib.contextmanager
    def _metrics(self, mode: str) -> Iterator[IO[bytes]]:
        path = self.path / "metrics.jsonl"
        try:
            with path.open(mode) as file:
                yield file
        except OSError as error:
            raise OrdinateError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from error

    # Resume states

    def save_state(self, step: int, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
        """Store all that training needs to go on from `step`; the latest two states are kept.

        States of later steps belong to a course that was given up, and are removed.
        """
        if (self.path / "metrics.jsonl").exists():
            with self._metrics("rb+") as file:
                os.fsync(file.fileno())  # the rows so far last through a power cut, as the state does
        write_tensors(_step_file(self.path / "resume", step), tensors, meta)
        kept = [known for known in self.state_steps() if known <= step][-_STATES_KEPT:]
        _drop(self.path / "resume", keep=kept)

    def state_steps(self) -> list[int]:
        """Return the steps that have a whole state, in order."""
        folder = self.path / "resume"
        return [step for step in _steps(folder) if is_complete(_step_file(folder, step))]

    def load_state(self, step: int) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the tensors and the meta of the state at `step`."""
        return _load(self, "resume", "state", step, self.state_steps())

    def drop_states(self) -> None:
        """Remove all states, once a run is done."""
        _drop(self.path / "resume", keep=[])

    # Checkpoints of the model

    def save_checkpoint(self, step: int, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
        """Store the model at `step`; all checkpoints are kept."""
        write_tensors(_step_file(self.path / "checkpoints", step), tensors, meta)

    def checkpoints(self) -> list[int]:
        """Return the steps that have a checkpoint, in order."""
        return _steps(self.path / "checkpoints")

    def load_checkpoint(self, step: int | None = None) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the tensors and the meta of the checkpoint at `step`, the last one when None."""
        return _load(self, "checkpoints", "checkpoint", step, self.checkpoints())

    # Results

    def write_result(self, name: str, value: Any) -> None:
        """Store a JSON document, e.g. an evaluation, under `name`."""
        write_json(self._named("results", name, ".json"), value)

    def read_result(self, name: str) -> Any:
        """Return the JSON document `name`."""
        return read_json(self._existing("results", name, ".json"))

    def results(self) -> list[str]:
        """Return the names of the stored documents."""
        return sorted(path.stem for path in (self.path / "results").glob("[!.]*.json"))

    def save_arrays(self, name: str, tensors: dict[str, Tensor]) -> None:
        """Store named tensors, e.g. attention maps, under `name`."""
        write_tensors(self._named("arrays", name, ".safetensors"), tensors, {})

    def load_arrays(self, name: str) -> dict[str, Tensor]:
        """Return the tensors stored under `name`."""
        return read_tensors(self._existing("arrays", name, ".safetensors"))[0]

    def _named(self, folder: str, name: str, suffix: str) -> Path:
        if not NAME.fullmatch(name):
            raise OrdinateError(f"{name!r} cannot name a file: use letters, digits, '.', '_' and '-'")
        return self.path / folder / (name + suffix)

    def _existing(self, folder: str, name: str, suffix: str) -> Path:
        path = self._named(folder, name, suffix)
        if not path.exists():
            known = [p.name.removesuffix(suffix) for p in path.parent.glob(f"[!.]*{suffix}")]
            hint = nearest(name, known) if known else "there are none yet"
            raise OrdinateError(f"run {self.id} has no {folder} named {name!r}: {hint}")
        return path


def _mend(file: IO[bytes]) -> None:
    """End the file with a whole line: close the last one, or cut it off when it is torn."""
    end = file.seek(0, os.SEEK_END)
    if end == 0:
        return
    file.seek(end - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    start = file.read().rfind(b"\n") + 1
    file.seek(start)
    if parse_row(file.read()) is None:
        file.truncate(start)
    else:
        file.write(b"\n")


def _step_file(folder: Path, step: int) -> Path:
    if step < 0:
        raise OrdinateError(f"a step cannot be {step}: count from 0")
    return folder / f"step-{step:08d}.safetensors"


def _steps(folder: Path) -> list[int]:
    matches = (_STEP_FILE.fullmatch(path.name) for path in folder.glob("step-*.safetensors"))
    return sorted(int(match[1]) for match in matches if match)


def _drop(folder: Path, keep: list[int]) -> None:
    for step in _steps(folder):
        if step not in keep:
            _step_file(folder, step).unlink(missing_ok=True)


def _load(
    run: Run, folder: str, what: str, step: int | None, known: list[int]
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    if not known:
        light = ": it was packed without its weights, pack it --whole"
        hint = light if run.status == "done" else " yet: train it first"
        raise OrdinateError(f"run {run.id} has no {what}{hint}")
    step = known[-1] if step is None else step
    if step not in known:
        listed = ", ".join(map(str, known))
        raise OrdinateError(f"run {run.id} has no {what} at step {step}: choose one of {listed}")
    return read_tensors(_step_file(run.path / folder, step))
