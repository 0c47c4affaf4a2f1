"""The card of any model file: hash, parameters, scores on the suite of its task; for compiled ones the proofs too.

Nothing that is read is run: weights are safetensors, settings are validated JSON. A file is refused that is too large,
of another kind, a pickle, changed since it was written, or not what the card beside it says.
"""

import hashlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.points import metric_of_task
from ordinate.lab.programs.collection import find_program
from ordinate.lab.programs.files import MODEL
from ordinate.lab.programs.files import restore as restore_compiled
from ordinate.lab.programs.task import task_of
from ordinate.lab.programs.verify import verify as compare
from ordinate.lab.runs import Run, read_json
from ordinate.lab.runs.files import LENGTH, has_seal, parse_tensors
from ordinate.lab.tasks import Task
from ordinate.lab.training import Recipe
from ordinate.lab.training.weights import restore
from ordinate.lab.zoo.suite import COUNT, SEED, differences, score
from ordinate.models import Model

LARGEST = 2**30
"""Bytes of a file."""
PICKLES = (b"PK\x03\x04", b"\x80")
"""How files of `torch.save` and of `pickle` begin."""
PROOFS = 200
"""Random inputs on which reference, machine and weights of a program are compared."""
SMALL, LARGER = 10**8, 1000
"""Parameters that any settings may have, and how many times as many as its file a model may be thought to have."""
CARD = "card.json"


@dataclass(frozen=True)
class Verified:
    """What was found about a model file."""

    document: dict[str, Any]

    @property
    def holds(self) -> bool:
        """Whether the scores are those of the card beside the file, and the proofs of a compiled model hold."""
        return not self.document["apart"] and self.document.get("proved", True)


def verify_file(path: Path) -> Verified:
    """Hash, check, count and score the model in a file, in the folder of a run or of a compiled program."""
    file = model_file(path)
    data = read_model(file)
    sha256 = hashlib.sha256(data).hexdigest()
    card = read_card(file, sha256)
    tensors, meta = parse_tensors(data, file)
    facts: dict[str, Any] = {
        "file": str(file),
        "bytes": len(data),
        "sha256": sha256,
        "sealed": has_seal(data),
        "card": None if card is None else card["name"],
        "numbers": sum(tensor.numel() for tensor in tensors.values()),
    }
    model, task, told = (_compiled if "program" in meta else _trained)(file, tensors, meta)
    points = score(model, task)
    known = (card or {}).get("suite")
    return Verified(
        {
            **facts,
            **told,
            "task": task.name,
            "parameters": sum(p.numel() for p in model.parameters()),
            "metric": metric_of_task(task),
            "suite": {"count": COUNT, "seed": SEED, "points": points},
            "apart": [] if known is None else differences(points, known),
        }
    )


def model_file(path: Path) -> Path:
    """The file that a path stands for: itself, the last checkpoint of a run, the model of a folder."""
    if not path.is_dir():
        if not path.is_file():
            raise OrdinateError(f"there is no file {str(path)!r}: write the path of a model or of a run")
        return path
    if (path / MODEL).is_file():
        return path / MODEL
    steps = Run(path).checkpoints()
    if not steps:
        raise OrdinateError(f"{path} holds no model: write the folder of a run, such as NAME-KEY/seed-0")
    return path / "checkpoints" / f"step-{steps[-1]:08d}.safetensors"


def read_model(file: Path) -> bytes:
    """The content of a file that may be a model."""
    try:
        with file.open("rb") as opened:
            size, first = file.stat().st_size, opened.read(LENGTH + 1)
            if size > LARGEST:
                raise OrdinateError(f"{file} has {size} bytes: a model file has at most {LARGEST}")
            if (
                first.startswith(PICKLES) and first[LENGTH:] != b"{"
            ):  # with which headers of safetensors begin
                raise OrdinateError(
                    f"{file} is a pickle, which can run anything when it is opened: write safetensors"
                )
            return first + opened.read()
    except OSError as error:
        raise OrdinateError(f"cannot read {file}: {(error.strerror or str(error)).lower()}") from error


def read_card(file: Path, sha256: str) -> dict[str, Any] | None:
    """The card beside a file, where there is one; a file that is not the card's is refused."""
    path = file.with_name(CARD)
    if not path.is_file():
        return None
    card = read_json(path)
    if not isinstance(card, dict) or not {"name", "sha256"} <= card.keys():
        raise OrdinateError(f"{path} is no card of a model: move it away, or make the model again")
    known = {MODEL: card["sha256"], **card.get("checkpoints", {})}.get(file.name)
    if known is None:
        return None
    if known != sha256:
        raise OrdinateError(
            f"{file} is not the file of its card: its SHA-256 begins {sha256[:16]}, not {known[:16]}"
        )
    return card if file.name == MODEL else {**card, "suite": None}


Found = tuple[Model, Task, dict[str, Any]]


def _trained(file: Path, tensors: dict[str, torch.Tensor], meta: dict[str, Any]) -> Found:
    """The model of a training, and what is known of that."""
    if not isinstance(meta.get("recipe"), dict):
        raise OrdinateError(f"{file} holds no model: write a checkpoint of a run, or a compiled program")
    recipe = Recipe.parse(meta["recipe"])
    tokens = len(recipe.task.coordinates(max(recipe.task.lengths())))
    _check_size(file, tensors, recipe.model.sizes(tokens)[0])
    told = {key: meta.get(key) for key in ("seed", "step", "averaged")}
    facts = {"kind": "trained", "recipe": recipe.name, "model": recipe.model.name, **told}
    return restore(tensors, meta, str(file)), recipe.task, facts


def _compiled(file: Path, tensors: dict[str, torch.Tensor], meta: dict[str, Any]) -> Found:
    """The model of a program: compiled again, compared weight by weight, and proved on hard inputs."""
    sizes = [meta.get(key) for key in ("layers", "width", "hidden")]
    _check_size(file, tensors, math.prod(size for size in sizes if isinstance(size, int)))
    model = restore_compiled(tensors, meta, file)
    program, n = find_program(str(meta["program"])), meta["n"]
    whole = all(known["whole"] for known in meta["inputs"])
    proved = compare(
        program if whole else program.on_reals(), n, count=PROOFS, dtype=model.encode.weight.dtype
    )
    same = bool(meta["dense"]) or _same(tensors, proved.compiled.model.state_dict())
    told = {
        "kind": "compiled",
        "program": program.name,
        "n": n,
        "weights_as_compiled": None if meta["dense"] else same,
        "error_bound": proved.bound,
        "worst": proved.worst,
        "proved": proved.holds and same,
    }
    return model, task_of(program.name, n, whole=whole), told


def _check_size(file: Path, tensors: dict[str, torch.Tensor], parameters: int) -> None:
    """Refuse settings of a model that is far larger than its file, before it is built."""
    numbers = sum(tensor.numel() for tensor in tensors.values())
    if parameters > SMALL + LARGER * numbers:
        raise OrdinateError(
            f"{file} has {numbers} numbers, and settings of a model with about {parameters}: it is not that model"
        )


def _same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)
