"""The other side: `bench/textbook.py` of the source checkout, loaded and driven in slices."""

import importlib.util
import sys
from functools import cache
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.cost import seconds_of
from ordinate.lab.tasks import Batch

SOURCE = Path(__file__).resolve().with_name("textbook.py")

_NAMES = {
    "attention.value.": "attention.to_values.",
    "attention.output.": "attention.to_output.",
    "mlp.0.": "up.",
    "mlp.2.": "down.",
}
"""Parameters that the textbook calls otherwise; all others have the same names and layouts."""


def load_textbook(source: Path = SOURCE) -> ModuleType:
    """Import the textbook implementation from the source checkout."""
    if not source.is_file():
        raise OrdinateError(
            "the benchmarks need the source checkout, with bench/textbook.py in it: "
            "clone the repository and install it with `pip install -e .`"
        )
    return _import(source)


@cache
def _import(source: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("ordinate_textbook", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def copy_weights(source: nn.Module, target: nn.Module) -> None:
    """Give our model the weights of a textbook model."""
    state: dict[str, Tensor] = {}
    for name, value in source.state_dict().items():
        for theirs, ours in _NAMES.items():
            name = name.replace(theirs, ours)
        state[name] = value.clone()
    target.load_state_dict(state)


def with_dummy(batch: Batch) -> tuple[Tensor, Tensor]:
    """Our batch as the textbook wants it: with a row of zeros for the dummy node."""
    return F.pad(batch.input, (0, 0, 0, 1)), F.pad(batch.target, (0, 0, 0, 1))


class TextbookTraining:
    """A textbook training that can be run slice by slice."""

    def __init__(self, task: str, kind: str, *, samples: int, tests: int, batch: int, seed: int = 0) -> None:
        self.textbook: Any = load_textbook()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.loader, self.tests = self.textbook.make_loaders(task, 8, samples, tests, batch)
            self.model: nn.Module = self.textbook.make_model(kind, 8)
        self.optimizer, self.scheduler = self.textbook.make_optimizer(self.model)

    def advance(self, steps: int) -> None:
        """Train that many steps, in epochs as the loader gives them."""
        while steps > 0:
            taken = min(steps, len(self.loader))
            loss = self.textbook.train_epoch(self.model, islice(self.loader, taken), self.optimizer)
            self.scheduler.step(loss)
            steps -= taken

    def step_seconds(self, steps: int) -> float:
        """Seconds of a step, after as many steps to warm up."""
        self.advance(steps)
        return seconds_of(lambda: self.advance(steps)) / steps

    def evaluate(self) -> list[float]:
        """The losses on the validation set and on the ten test sets."""
        losses: list[float] = self.textbook.evaluate(self.model, self.tests)
        return losses
