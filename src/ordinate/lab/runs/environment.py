"""What a run was made with: versions, machine, revision of the code."""

import os
import platform
import subprocess
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import torch

from ordinate.attention.costs import costs

PACKAGE = Path(__file__).resolve().parents[2]


def environment() -> dict[str, Any]:
    """Return the facts that a stored number needs beside it to be understood later.

    `revision` and `dirty` describe the package's source tree, and are None where it is not a git checkout; `paths` are
    the costs that the paths of attention are chosen by.

    >>> sorted(environment())    # doctest: +NORMALIZE_WHITESPACE
    ['cores', 'cpu', 'dirty', 'numpy', 'ordinate', 'paths', 'platform', 'python', 'revision', 'threads', 'torch']
    """
    import ordinate

    revision, dirty = _revision(PACKAGE)
    return {
        "ordinate": ordinate.__version__,
        "revision": revision,
        "dirty": dirty,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": numpy.__version__,
        "platform": platform.platform(),
        "cpu": _cpu(),
        "cores": cores(),
        "threads": torch.get_num_threads(),
        "paths": asdict(costs()),
    }


def cores() -> int:
    """Return how many cores this process may use.

    >>> cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _cpu() -> str:
    """Return the processor's name as its maker spells it, where the system tells."""
    try:
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name" and value.strip():
                return value.strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown"


@cache
def _revision(package: Path) -> tuple[str | None, bool | None]:
    """Return the commit of the package's own tree and whether the package differs from it.

    An installed copy may lie inside somebody else's checkout (a virtual environment in a project's folder):
    only a tree that tracks the package's files counts.
    """
    if not _git(package, "ls-files", "__init__.py"):
        return None, None
    revision = _git(package, "rev-parse", "HEAD")
    changes = _git(package, "status", "--porcelain", "--", ".")
    return (revision, None if changes is None else bool(changes)) if revision else (None, None)


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what git says, or None when it is missing, slow or not a checkout."""
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return answer.stdout.strip()
