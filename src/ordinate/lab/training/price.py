"""What a recipe costs before it is trained: operations, calls, bytes and seconds of a step, counted on two samples."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from ordinate.lab.evaluation.cost import operations, peak_bytes, seconds_of
from ordinate.lab.runs import environment
from ordinate.lab.seeds import generator
from ordinate.lab.threads import threads
from ordinate.lab.training.data import batch_size
from ordinate.lab.training.member import DTYPES, loss
from ordinate.lab.training.recipe import Recipe
from ordinate.lab.training.shipped import shipped
from ordinate.models import build_model

ENOUGH = 1e10
"""Operations after which a timing no longer depends on what a call costs by itself."""
TIMES = 3
"""Timings of a step; the shortest counts, for what else runs on a machine only makes them longer."""


@dataclass(frozen=True)
class Price:
    """A step of a recipe: forward and backward pass of a batch of the middle length that it trains."""

    parameters: int
    steps: int
    operations: float
    """Of the matrix products of a step."""
    calls: int
    """Operators that a step calls, each a launch on a GPU; the optimizer's are left out."""
    bytes: float
    """Parameters, gradients, two moments, and the most that a forward pass holds for the backward pass."""
    seconds: float
    """Of a step on one thread of this machine."""

    @property
    def hours(self) -> float:
        """Of a whole training on one thread of this machine."""
        return self.steps * self.seconds / 3600

    def hours_at(self, rate: float, share: float, launch: float) -> float:
        """Of a whole training where products run at `share` of `rate` operations a second, and a call takes `launch`.

        >>> Price(10, 3600, operations=2e12, calls=100, bytes=0.0, seconds=9.0).hours_at(1e13, 0.5, 5e-6)
        0.4
        >>> Price(10, 3600, operations=2e6, calls=100_000, bytes=0.0, seconds=9.0).hours_at(1e13, 0.5, 5e-6)
        0.5
        """
        return self.steps * max(self.operations / (rate * share), self.calls * launch) / 3600


def price(recipe: Recipe) -> Price:
    """Count a step of a recipe on one and on two samples, and time it on as many as the timing needs.

    What depends on positions or on weights alone is computed once for a batch: operations(batch) = once + each * batch.

    >>> from ordinate.lab.architectures import Positional
    >>> from ordinate.lab.tasks import make_task
    >>> found = price(Recipe(name="sum", task=make_task("sum", length=4), model=Positional(width=8, hidden=8)))
    >>> found.operations > found.parameters
    True
    """
    with threads(1):  # two threads on small products wait for each other, beside other work for long
        model = build_model(recipe.model, recipe.task, seed=0).to(DTYPES[recipe.training.precision])
        parameters = sum(p.numel() for p in model.parameters())
        one = _step(model, recipe, 1)
        first, calls = operations(one), calls_of(one)
        each = operations(_step(model, recipe, 2)) - first
        batch = batch_size(recipe.task, recipe.training.batch, recipe.training.samples)
        samples = min(batch, max(1, int(ENOUGH / max(each, 1))))
        whole, part = (first + each * (count - 1) for count in (batch, samples))
        timed = _step(model, recipe, samples)
        seconds = min(seconds_of(timed) for _ in range(TIMES))
        held = _held(model, recipe, samples, batch)
    return Price(
        parameters=parameters,
        steps=recipe.training.steps,
        operations=float(whole),
        calls=calls,
        bytes=16.0 * parameters + held,
        seconds=seconds * whole / part,
    )


def measure_times(report: Callable[[int, int], None] = lambda *_: None) -> dict[str, Any]:
    """Hours of every recipe of the package on one thread of this machine, from the time of a step."""
    hours = {}
    for done, (name, path) in enumerate(shipped().items(), 1):
        hours[name] = float(f"{price(Recipe.read(path)).hours:.3g}")
        report(done, len(shipped()))
    return {"command": "ordinate recipes --time --json", "environment": environment(), "hours": hours}


def calls_of(call: Callable[[], object]) -> int:
    """How many operators a call runs, those that only look at a tensor in another way left out.

    >>> x = torch.ones(3)
    >>> calls_of(lambda: (x + 1).view(3, 1) * 2)
    2
    """
    counter = _Counter()
    with counter:
        call()
    return counter.count


class _Counter(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += not func.is_view
        return func(*args, **(kwargs or {}))


def _held(model: torch.nn.Module, recipe: Recipe, samples: int, batch: int) -> float:
    """Bytes that a forward pass of the batch holds, from those of some samples and of twice as many."""
    some = peak_bytes(_forward(model, recipe, samples))
    if samples == batch:
        return float(some)
    each = (peak_bytes(_forward(model, recipe, 2 * samples)) - some) / samples
    return some + each * (batch - samples)


def _step(model: torch.nn.Module, recipe: Recipe, samples: int) -> Callable[[], None]:
    """A forward and a backward pass on samples of the middle length."""
    forward = _forward(model, recipe, samples)

    def step() -> None:
        model.zero_grad(set_to_none=True)
        forward().backward()

    return step


def _forward(model: torch.nn.Module, recipe: Recipe, samples: int) -> Callable[[], Tensor]:
    """The loss on samples of the middle length, with all that its gradient needs."""
    task, lengths = recipe.task, sorted(recipe.task.lengths())
    batch = task.sample(samples, generator=generator(0, "price"), length=lengths[len(lengths) // 2])
    batch = batch.to(torch.device("cpu"), next(model.parameters()).dtype)
    scored = task.scored(batch.coordinates)

    def forward() -> Tensor:
        return loss(model.train()(batch.input, batch.coordinates), batch.target, scored)

    return forward
