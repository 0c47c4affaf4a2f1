"""The checks behind `ordinate doctor`. Together they take about a second."""

import importlib.metadata
import os
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import torch

from ordinate.attention.costs import DEFAULT, costs, kept_in
from ordinate.lab.runs import environment
from ordinate.lab.threads import threads

GIB = 2**30
NEWEST_TORCH = (2, 15)
OLDEST_PYTHON = (3, 11)
SECONDS = 0.25
"""Time for one measurement of products."""

Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Check:
    """One line of the report: the thing that was checked, its status, what was found, what to do."""

    name: str
    status: Status
    found: str
    advice: str = ""


def checks(store: Path) -> list[Check]:
    """Look at everything that a training needs; `store` is the folder that runs go to."""
    facts = environment()
    return [
        _python(),
        _torch(),
        _packages(),
        _revision(facts["revision"], facts["dirty"]),
        Check("processor", "ok", f"{facts['cpu']}, {facts['platform']}"),
        _cores(facts["cores"]),
        _memory(),
        _device(),
        *_products(),
        _paths(),
        _writable(store),
        _disk(store),
    ]


def _python() -> Check:
    found = tuple(sys.version_info[:3])
    version = ".".join(map(str, found))
    if found < OLDEST_PYTHON:
        return Check("python", "fail", version, "install Python 3.11 or later")
    return Check("python", "ok", version)


def _torch() -> Check:
    version = str(torch.__version__)
    major, minor = (int(part) for part in version.split(".")[:2])
    if not (2, 6) <= (major, minor) <= NEWEST_TORCH:
        newest = ".".join(map(str, NEWEST_TORCH))
        return Check(
            "torch",
            "warn",
            version,
            f"never tried: tests ran with 2.6 to {newest}",
        )
    return Check("torch", "ok", version)


def _packages() -> Check:
    found, missing = [], []
    for name in ("numpy", "safetensors", "pydantic", "typer", "rich", "matplotlib"):
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        return Check("packages", "fail", f"missing: {', '.join(missing)}", f"pip install {' '.join(missing)}")
    return Check("packages", "ok", ", ".join(found))


def _revision(revision: str | None, dirty: bool | None) -> Check:
    if revision is None:
        return Check("revision", "ok", "an installed copy, not a git checkout")
    if dirty:
        advice = "commit before measuring: results name the revision that made them"
        return Check("revision", "warn", f"{revision[:12]} with changes", advice)
    return Check("revision", "ok", revision[:12])


def _cores(cores: int) -> Check:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    found = f"{cores}, load {load:.1f}"
    if load > cores:
        return Check("cores", "warn", found, "others are busy here: keep --threads 1, and trust no timing")
    return Check("cores", "ok", found)


def _memory() -> Check:
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        total, free = (os.sysconf(name) * page for name in ("SC_PHYS_PAGES", "SC_AVPHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return Check("memory", "ok", "not known on this system")
    found = f"{free / GIB:.1f} GiB free of {total / GIB:.1f}"
    if free < GIB:
        return Check("memory", "warn", found, "train fewer seeds at once, or with a smaller training.batch")
    return Check("memory", "ok", found)


def _device() -> Check:
    if torch.cuda.is_available():
        return Check("device", "ok", f"cuda: {torch.cuda.get_device_name()}")
    if torch.backends.mps.is_available():
        return Check("device", "ok", "mps")
    return Check("device", "ok", "cpu")


def _products() -> list[Check]:
    """Measure matrix products with one thread, and say which precision to train in."""
    single, half = speed(torch.float32), speed(torch.bfloat16)
    found = [
        Check("float32 products", "ok", f"{single:.1f} GFLOP/s on one thread"),
        Check("bfloat16 products", "ok", f"{half:.1f} GFLOP/s on one thread"),
    ]
    if half > 1.3 * single:
        words = f'bfloat16 is {half / single:.1f} times as fast: training.precision = "bfloat16" may pay'
    else:
        words = f'training.precision = "float32": bfloat16 is {single / half:.1f} times slower on this CPU'
    return [*found, Check("precision", "ok", words)]


def _paths() -> Check:
    """What the paths of attention are chosen by."""
    found = costs()
    numbers = ", ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in asdict(found).items())
    if found == DEFAULT:
        return Check("paths of attention", "ok", f"{numbers} (columns of dense scores, the default)")
    return Check(
        "paths of attention", "ok", f"{numbers} (columns of dense scores, measured here: {kept_in()})"
    )


def speed(dtype: torch.dtype, size: int = 192, seconds: float = SECONDS) -> float:
    """Return 10^9 operations a second of square products with one thread, the best of what fits into the time.

    >>> speed(torch.float32, size=32, seconds=0.01) > 0
    True
    """
    with threads(1):
        a = torch.ones(size, size, dtype=dtype)
        best, end = float("inf"), time.perf_counter() + seconds
        torch.mm(a[:16], a)
        while True:
            begun = time.perf_counter()
            torch.mm(a, a)
            now = time.perf_counter()
            best = min(best, now - begun)
            if now >= end:
                return 2 * size**3 / best / 1e9


def _existing(folder: Path) -> Path:
    """The folder itself, or the nearest one above it that is there."""
    whole = folder.absolute()
    return next((path for path in (whole, *whole.parents) if path.exists()), Path("/"))


def _writable(store: Path) -> Check:
    there = _existing(store)
    advice = "make it writable, or write runs elsewhere with --out"
    try:
        with tempfile.NamedTemporaryFile(dir=there, prefix=".ordinate-"):
            pass
    except OSError as error:
        return Check("store", "fail", f"{store}: {(error.strerror or str(error)).lower()}", advice)
    state = "writable" if there == store.absolute() else "not there yet, can be made"
    return Check("store", "ok", f"{store}: {state}")


def _disk(store: Path) -> Check:
    free = shutil.disk_usage(_existing(store)).free
    found = f"{free / GIB:.1f} GiB free"
    if free < 0.1 * GIB:
        return Check("disk", "fail", found, "make room, or write runs elsewhere with --out")
    if free < GIB:
        return Check("disk", "warn", found, "make room soon: a run takes a few MiB")
    return Check("disk", "ok", found)
