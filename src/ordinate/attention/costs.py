"""What the paths of attention cost beside each other: the numbers that `plan` chooses by, and how they are measured.

The unit is a column: the time that dense attention takes for the scores of one key, for every query of a row (a head of
a sample). All of it is in columns for each query, forward and backward in float32:

    dense      tokens
    sparse     token + slot * slots of a query + run * runs / tokens
    blocked    score * keys that are read for a query + block * blocks / tokens

`measured` of tune.py finds these five numbers on this machine in about ten seconds, and `keep` writes them into the
user's cache folder, where every later process reads them once. Nothing measures by itself: paths differ in their last
bits, so a choice that changed from process to process would change the numbers of a training. Runs record what was in
force, and go on with it after a stop.
"""

import json
import os
import platform
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from math import isfinite
from pathlib import Path
from typing import Any

import torch


@dataclass(frozen=True)
class Costs:
    """Columns of dense scores that the parts of the other paths take."""

    sparse_token: float
    sparse_slot: float
    sparse_run: float
    blocked_score: float
    blocked_block: float

    @classmethod
    def of(cls, found: Any) -> "Costs":
        """From what a file holds; a ValueError says what is wrong with it."""
        names = [field.name for field in fields(cls)]
        if not isinstance(found, Mapping) or sorted(found) != sorted(names):
            raise ValueError(f"it must have the numbers {', '.join(names)}")
        for name in names:
            number = found[name]
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise ValueError(f"{name} is {number!r}, not a number")
            if not isfinite(number) or number < 0:
                raise ValueError(f"{name} is {number!r}: it must be 0 or more")
        return cls(**{name: float(found[name]) for name in names})


DEFAULT = Costs(24.107, 3.231, 303.676, 0.972, 3723.802)
"""Measured by `ordinate bench --tune` on one core of an AMD EPYC with AVX-512 and PyTorch 2.13."""

_IN_FORCE: list[Costs] = []


def costs() -> Costs:
    """Those in force: what was kept on this machine, read once by a process, or the default."""
    if not _IN_FORCE:
        _IN_FORCE.append(_kept() or DEFAULT)
    return _IN_FORCE[-1]


@contextmanager
def in_force(other: Costs) -> Iterator[None]:
    """Inside, paths are chosen by these."""
    costs()  # at the bottom of the list is what the process has
    _IN_FORCE.append(other)
    try:
        yield
    finally:
        _IN_FORCE.pop()


def kept_in() -> Path:
    """The file of what was measured: `ordinate/attention.json` in the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ordinate" / "attention.json"


def keep(found: Costs) -> Path:
    """Write what was measured beside what other machines and versions measured; the next process reads it."""
    path = kept_in()
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = {**_read(path), _here(): asdict(found)}
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(json.dumps(kept, indent=1))
    part.replace(path)
    return path


def _kept() -> Costs | None:
    path = kept_in()
    try:
        found = _read(path).get(_here())
        return None if found is None else Costs.of(found)
    except ValueError as error:
        _ignore(path, str(error))
        return None


def _read(path: Path) -> dict[str, Any]:
    """Nothing where the file is missing or broken."""
    try:
        found = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:  # a file that is not text, or not JSON
        _ignore(path, str(error))
        return {}
    if not isinstance(found, dict):
        _ignore(path, "it must be an object")
        return {}
    return found


def _ignore(path: Path, why: str) -> None:
    warnings.warn(
        f"{path} is ignored: {why}; remove it, or measure again with `ordinate bench --tune`", stacklevel=3
    )


def _here() -> str:
    """What measurements belong to."""
    return f"{platform.node()}, torch {torch.__version__}"
