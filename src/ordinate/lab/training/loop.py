"""The loop: trains the seeds of a recipe together, logs, evaluates, saves, and goes on where it was stopped."""

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from ordinate.attention.costs import Costs, costs, in_force
from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.points import Point
from ordinate.lab.runs import Run, Store, status_now
from ordinate.lab.runs.lock import held
from ordinate.lab.seeds import derive
from ordinate.lab.training.data import check_samples
from ordinate.lab.training.machine import Stopped, StopRequest, World, check_memory, resolve_device
from ordinate.lab.training.measured import Picked, check_measured
from ordinate.lab.training.member import DTYPES, Member, ensemble_losses
from ordinate.lab.training.recipe import Recipe
from ordinate.lab.training.weights import untrained_model
from ordinate.models import Model

Report = Callable[..., None]

KEPT_LAYOUTS = 4096
"""Layouts of tokens whose scored outputs are remembered."""


def train(
    recipe: Recipe,
    seeds: Iterable[int] = (0,),
    *,
    store: Store | str = "runs",
    resume: bool = False,
    report: Report | None = None,
) -> list[Run]:
    """Train a recipe with each of the seeds, all in one vectorised pass, and return their runs.

    Runs that ended, done or failed, are left as they are. One that was stopped goes on with `resume`, and ends
    bit-equal to one never stopped. Matrix products of several seeds round otherwise than those of one, so a seed
    that began beside others goes on beside them, also where `seeds` names it alone. A seed whose loss is not a
    number is recorded as failed and the others go on. Ctrl-C and SIGTERM are answered after the step under way,
    with its state saved. `report` is called with facts (step, steps, loss, rate, seconds, losses by seed) as
    training proceeds, and with scores by seed where it measures.
    """
    store = Store(store) if isinstance(store, str) else store
    seeds = list(dict.fromkeys(seeds))
    world = World.here()
    world.check(len(seeds))
    device = world.device(resolve_device(recipe.training.device))
    check_memory(recipe, len(seeds))
    check_samples(recipe.task, recipe.training.samples)
    check_measured(recipe, untrained_model(recipe, seeds[0], store))
    document = recipe.to_dict()
    with world.joined(device, store) as written:
        runs = [written.open(document, seed) for seed in seeds]
        todo = [run for run in runs if run.status != "done"]
        if not resume:
            for run in todo:
                _refuse_started(run)
        known = {run.seed: run for run in runs}
        for beside in world.broadcast_from_rank0(_passes(todo)):
            world.check(len(beside))
            together = [known.get(seed) or written.open(document, seed) for seed in beside]
            with contextlib.ExitStack() as locks:
                locks.enter_context(in_force(_costs(together[0])))
                members = [run for run in together if run.status != "done"]
                for run in members:
                    locks.enter_context(run.lock())
                if any(run.status != "failed" for run in members):
                    _Training(recipe, members, store, device, world, report or (lambda **facts: None)).go()
        for run in runs:
            if run.status == "done" and not held(run.path / "lock"):
                run.drop_states()  # left by a kill just after the end
    return runs


def _costs(run: Run) -> Costs:
    """What the run chose the paths of attention by when it began, so that it goes on along the same ones."""
    recorded = (run.record().get("environment") or {}).get("paths")
    try:
        return costs() if recorded is None else Costs.of(recorded)
    except ValueError as error:
        raise OrdinateError(f"{run.path / 'run.json'}: environment.paths cannot be read: {error}") from error


def _refuse_started(run: Run) -> None:
    record, status = run.record(), status_now(run.path, run.status)
    if status == "failed":
        raise OrdinateError(
            f"run {run.id} failed, {record.get('error')}: delete its folder to train it again, or write to another "
            "folder with --out"
        )
    if status in ("running", "stopped"):
        raise OrdinateError(
            f"run {run.id} was started before and is {status} at step {record.get('step', 0)} of "
            f"{record.get('steps')}: add --resume to go on, or write to another folder with --out"
        )


def _passes(runs: Sequence[Run]) -> list[list[int]]:
    """The seeds of each pass: those that began together go on together, and all that are new begin together."""
    passes: list[list[int]] = []
    for run in runs:
        began: list[int] = run.record().get("together") or []
        if began and not any(run.seed in seeds for seeds in passes):
            passes.append(began)
    new = [run.seed for run in runs if not any(run.seed in seeds for seeds in passes)]
    return [*passes, new] if new else passes


class _Training:
    def __init__(
        self,
        recipe: Recipe,
        runs: Sequence[Run],
        store: Store,
        device: torch.device,
        world: World,
        report: Report,
    ) -> None:
        self.recipe, self.device, self.world, self.report = recipe, device, world, report
        self.members = [Member.start(recipe, run.seed, run, store, device) for run in runs]
        self.scored: dict[Coordinates, Tensor] = {}
        if recipe.training.compile:
            for member in self.members:
                member.model.compile()
        self.step, self.seconds = self._resume()
        if world.size > 1:
            self._meet()
        self.models = {member.seed: world.together(member.model) for member in self.members}
        self.active = [m for m in self.members if m.failed_at is None]

    def _resume(self) -> tuple[int, float]:
        """Bring all members to the latest step that every one of them has a state of."""
        for member in self.members:
            if member.run.status == "failed":
                member.failed_at = int(member.run.record()["step"])
        alive = [m for m in self.members if m.failed_at is None]
        common = set.intersection(*({0, *m.run.state_steps()} for m in alive)) if alive else {0}
        step, seconds = max(common), 0.0
        for member in self.members:
            if member.failed_at is not None and member.failed_at <= step:
                continue
            # One that failed later than this step takes part again, so that the course is the same.
            member.failed_at = None
            if step:
                seconds = member.unpack(*member.run.load_state(step))
            member.run.truncate_metrics(step)
            member.run.update(
                status="running",
                step=step,
                steps=self.recipe.training.steps,
                parameters=member.parameters,
                together=[m.seed for m in self.members] if self._can_map() else [member.seed],
                error=None,
            )
        return step, seconds

    def _meet(self) -> None:
        """All processes go on from what the first one has."""
        self.step, failed, states = self.world.broadcast_from_rank0(
            (
                self.step,
                [member.failed_at for member in self.members],
                [member.pack(self.seconds) for member in self.members],
            )
        )
        if self.world.first:
            return
        for member, at, (tensors, meta) in zip(self.members, failed, states, strict=True):
            member.failed_at = at
            self.seconds = member.unpack(tensors, meta)

    def go(self) -> None:
        """Train to the end. The noise of a step (dropout, random positions) depends on the seed and the step alone."""
        with torch.random.fork_rng(devices=[]):
            with StopRequest() as stop:
                self._take_steps(stop)
            # From these states nothing is trained: the seeds that a kill leaves unfinished end with the same numbers.
            self._save()
            for member in self.active:
                self._finish(member)
            for member in self.members:
                member.run.drop_states()

    def _take_steps(self, stop: StopRequest) -> None:
        training, evaluation = self.recipe.training, self.recipe.evaluation
        started, saved = time.monotonic() - self.seconds, time.monotonic()
        while self.step < training.steps and self.active:
            losses = self._advance()
            self.seconds = time.monotonic() - started
            if self.step % training.log_every == 0 or self.step == training.steps:
                self._log(losses)
            if evaluation.every and self.step % evaluation.every == 0 and self.step < training.steps:
                self._evaluate()
            if training.pick and (self.step % training.pick.every == 0 or self.step == training.steps):
                self._pick()
            if training.checkpoint_every and self.step % training.checkpoint_every == 0:
                for member in self.active:
                    _checkpoint(member, member.best, self.step)
            asked = self.world.any(stop.asked, self.device)
            if asked or (time.monotonic() - saved >= training.save_seconds and self.step < training.steps):
                self._save()
                saved = time.monotonic()
            if asked:
                raise Stopped(f"stopped at step {self.step} of {training.steps}")

    def _save(self) -> None:
        """Save the states of this step, to go on from."""
        for member in self.active:
            member.run.save_state(self.step, *member.pack(self.seconds))
            member.run.update(step=self.step)

    def _advance(self) -> list[float]:
        """One step of all active members."""
        training, process = self.recipe.training, (() if self.world.first else (self.world.rank,))
        dtype = DTYPES[training.precision]
        shares = [
            self.world.share(member.data.at(self.step).to(self.device, dtype)) for member in self.active
        ]
        batches, weights = [batch for batch, _ in shares], torch.tensor([w for _, w in shares])
        for member in self.active:
            member.optimizer.zero_grad(set_to_none=True)
            member.model.progress(self.step / self.recipe.training.steps)
        low = training.precision == "bfloat16" and self.step < (1 - training.finish) * training.steps
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=low):
            losses = ensemble_losses(
                [self.models[member.seed] for member in self.active],
                batches,
                [self._scored(batch.coordinates) for batch in batches],
                vectorised=self._can_map(),
                noise=[derive(member.seed, "noise", self.step, *process) for member in self.active],
            )
        losses = losses * weights.to(losses)
        losses.sum().backward()
        self.step += 1
        values: list[float] = self.world.mean(losses).tolist()
        for member, value in zip(self.active, values, strict=True):
            member.learn(value, self.step)
            if member.failed_at is not None:
                member.run.update(
                    status="failed", step=self.step, error=f"the loss is {value} at step {self.step}"
                )
        self.active = [m for m in self.active if m.failed_at is None]
        return values

    def _can_map(self) -> bool:
        """Whether the members can be computed in one pass; what draws random numbers cannot."""
        model = self.members[0].model
        return model.vectorised and not model.encoding.random and not self.recipe.training.compile

    def _scored(self, coordinates: Coordinates) -> Tensor:
        """Which outputs count, worked out once for every layout."""
        if coordinates not in self.scored:
            if len(self.scored) >= KEPT_LAYOUTS:
                self.scored.clear()
            self.scored[coordinates] = self.recipe.task.scored(coordinates).to(self.device)
        return self.scored[coordinates]

    def _log(self, losses: list[float]) -> None:
        since = (self.step - 1) % self.recipe.training.log_every + 1
        means = {}
        for member in self.active:
            means[member.seed] = loss = member.logged / since
            rate, seconds = member.learning_rate, round(self.seconds, 3)
            member.run.append_metrics([{"step": self.step, "loss": loss, "rate": rate, "seconds": seconds}])
            member.logged = 0.0
        self.report(
            step=self.step,
            steps=self.recipe.training.steps,
            loss=sorted(losses)[len(losses) // 2],
            rate=self.active[0].learning_rate if self.active else 0.0,
            seconds=self.seconds,
            failed=len(self.members) - len(self.active),
            losses=means,
        )

    def _tell(self, scores: dict[int, dict[str, float]]) -> None:
        """Report what was measured, by seed and point."""
        self.report(step=self.step, steps=self.recipe.training.steps, seconds=self.seconds, scores=scores)

    def _evaluate(self) -> None:
        scores = {}
        for member in self.active:
            scores[member.seed] = _scores(member.evaluate(member.best))
            member.run.append_metrics([{"step": self.step, **scores[member.seed]}])
        self._tell(scores)

    def _pick(self) -> None:
        for member in self.active:
            if member.picked is not None:
                score = member.picked.compare(member.best, self.recipe.task, self.step)
                member.run.append_metrics([{"step": self.step, "pick": score}])

    def _finish(self, member: Member) -> None:
        _checkpoint(member, member.best, self.step)
        scores = _measure(member, member.best)
        member.run.update(
            status="done",
            step=self.step,
            seconds=round(self.seconds, 3),
            samples_seen=self.step * member.data.batch,
            scores=scores,
            averaged=member.average is not None,
            picked=self._finish_picked(member, member.picked) if member.picked else None,
        )
        self._tell({member.seed: scores})

    def _finish_picked(self, member: Member, picked: Picked) -> dict[str, Any] | None:
        """Keep and measure the picked weights, beside the last ones."""
        if picked.model is None:
            return None
        if picked.step != self.step:
            _checkpoint(member, picked.model, picked.step)
        return {
            "step": picked.step,
            "score": picked.score,
            "scores": _measure(member, picked.model, "-picked"),
        }


def _measure(member: Member, model: Model, suffix: str = "") -> dict[str, float]:
    """Store the points of a model and the error of every sample; return the scores by point."""
    measured = member.evaluate(model)
    member.run.save_arrays(f"errors{suffix}", {name: errors.float() for name, _, errors in measured})
    member.run.write_result(f"evaluation{suffix}", [point.to_dict() for _, point, _ in measured])
    return _scores(measured)


def _scores(measured: list[tuple[str, Point, Tensor]]) -> dict[str, float]:
    return {name: point.score for name, point, _ in measured}


def _checkpoint(member: Member, model: Model, step: int) -> None:
    tensors: dict[str, Tensor] = model.state_dict()
    meta: dict[str, Any] = {
        "recipe": member.recipe.to_dict(),
        "seed": member.seed,
        "step": step,
        "averaged": member.average is not None,
    }
    member.run.save_checkpoint(step, tensors, meta)
