"""`prove`: right at every length, or the shortest word that a model gets wrong, or why neither could be decided.

>>> import ordinate as od
>>> od.prove("runs/proven-addition-1a2b3c4d5e/seed-0").verdict                     # doctest: +SKIP
'proven'
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.architectures import Scan
from ordinate.lab.proofs.certificate import ASSUMED, certificate
from ordinate.lab.proofs.finite import Finite
from ordinate.lab.proofs.search import Found, Search
from ordinate.lab.runs import Run, Store
from ordinate.lab.tasks import Task
from ordinate.lab.tasks.automata.machine import Machine
from ordinate.lab.zoo import find_model
from ordinate.lab.zoo.verify import model_file
from ordinate.models import Model

LONGEST_RUN = 2**20
"""Tokens of a word on which a model is run to see that it is wrong."""
FILE = "proof.json"
"""Where the certificate of a run is kept, in the folder of the run."""


@dataclass(frozen=True)
class Proof:
    """What became of an attempt to prove a model."""

    verdict: str
    """proven, counterexample or undecided."""
    reason: str
    states: int
    """How many states occur."""
    levels: int
    """Loops until the sets of pairs repeat."""
    pairs: tuple[int, int]
    """Windows and prefixes at the last level."""
    distance: float
    """The smallest distance of any number to a border at which a state or an answer changes."""
    error: float
    """The largest bound of the error of any of these numbers in float32."""
    word: tuple[str, ...] = ()
    """The shortest word that is answered wrongly at its last token."""
    expected: str = ""
    answered: str = ""
    certificate: Path | None = None
    """The file that was written."""
    found: Found | None = field(default=None, repr=False)
    search: Search | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        facts = ("verdict", "reason", "states", "levels", "pairs", "distance", "error")
        shown = {name: getattr(self, name) for name in facts} | {"assumed": list(ASSUMED)}
        file = None if self.certificate is None else str(self.certificate)
        wrong = {"word": list(self.word), "expected": self.expected, "answered": self.answered}
        return {**shown, "counterexample": wrong if self.word else None, "certificate": file}


def prove_model(model: Model, letters: Float[Tensor, "letter feature"], machine: Machine) -> Proof:
    """Compare a model with an exact machine on words of every length; `letters` are the features of its symbols."""
    if not isinstance(model, Scan):
        raise OrdinateError(
            f"a {type(model).__name__} passes on numbers of which there is no end, so there is nothing to enumerate: "
            'train a model of kind = "scan" to prove it'
        )
    search = Search(Finite(model), letters, machine)
    with torch.no_grad():
        found = search.go()
        margins = search.margins
        wrong: dict[str, Any] = {}
        verdict, reason = "proven", "right at every length"
        if found.wrong is not None:
            verdict, reason, wrong = _counterexample(model.eval(), letters, machine, found.wrong)
        elif margins.unsure:
            verdict, reason = (
                "undecided",
                (
                    f"{margins.unsure} numbers are nearer to a border than the bound of their error, "
                    f"the nearest {margins.distance:.3g}"
                ),
            )
        elif found.stopped:
            verdict, reason = "undecided", found.stopped
    last = found.levels[-1] if found.levels else None
    return Proof(
        verdict=verdict,
        reason=reason,
        states=len(search.codes),
        levels=len(found.levels),
        pairs=(0, 0) if last is None else (len(last.windows), len(last.prefixes)),
        distance=margins.distance,
        error=margins.error,
        **wrong,
        found=found,
        search=search,
    )


def _counterexample(
    model: Scan, letters: Tensor, machine: Machine, word: tuple[int, ...]
) -> tuple[str, str, dict[str, Any]]:
    """Run the model on a word that the table says it gets wrong."""
    if len(word) > LONGEST_RUN:
        return "undecided", f"the table is wrong at a word of {len(word)} tokens, too long to run", {}
    symbols = torch.tensor([word])
    weight = model.encode.weight
    scores = model(letters[symbols].to(weight), Coordinates.of(token=range(len(word))))[0, -1]
    answered, expected = int(scores.argmax()), int(machine.run(symbols)[0, -1])
    if answered == expected:
        return "undecided", f"the table is wrong at a word of {len(word)} tokens, the model is not", {}
    told = {
        "word": tuple(machine.symbols[symbol] for symbol in word),
        "expected": machine.outputs[expected],
        "answered": machine.outputs[answered],
    }
    return "counterexample", f"wrong at a word of {len(word)} tokens, and at none that is shorter", told


def prove(
    run: str | Run, store: Store | str = "runs", step: int | None = None, out: Path | None = None
) -> Proof:
    """Prove the model of a run, given as such or by name, and keep the certificate beside it (or in `out`)."""
    store = Store(store) if isinstance(store, str) else store
    opened = find_model(str(run.path) if isinstance(run, Run) else run, store, step)
    machine, letters = exact(opened.task)
    proof = prove_model(opened.load(), letters, machine)
    if proof.verdict != "proven":
        return proof
    assert proof.search is not None
    assert proof.found is not None
    file = model_file(opened.path)
    if opened.step is not None and file.parent.name == "checkpoints":
        file = file.with_name(f"step-{opened.step:08d}.safetensors")
    out = out or opened.path / FILE
    certificate(proof.search, proof.found, file).write(out)
    return replace(proof, certificate=out)


def exact(task: Task) -> tuple[Machine, Float[Tensor, "letter feature"]]:
    """The exact machine of a task, and the features of its symbols."""
    machine, letters = getattr(task, "machine", None), getattr(task, "letters", None)
    if not isinstance(machine, Machine) or not isinstance(letters, Tensor):
        raise OrdinateError(
            f"task {task.name!r} is not given as an exact machine, so there is nothing to compare with: "
            "`ordinate tasks` lists those of the family automata"
        )
    return machine, letters
