"""Names of what is not finished yet, and clearing away what killed writers left under them.

A name tells which process of which machine writes, so that what is still being written stays.
"""

import contextlib
import hashlib
import os
import platform
import re
import secrets
import shutil
from pathlib import Path

_MACHINE = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
_UNFINISHED = re.compile(
    r"\..+[.-](?P<process>[0-9]+)-(?P<machine>[0-9a-f]{8}(?=[0-9a-f]{8}))?[0-9a-f]+(\.tmp)?"
)


def unfinished_file(path: Path) -> Path:
    """Return a name of its own, beside `path`, for a file that will be renamed to it.

    >>> unfinished_file(Path("run.json")).name     # doctest: +SKIP
    '.run.json.4711-0b7c19a49f2b1c4d.tmp'
    """
    return path.with_name(f".{path.name}.{_own()}.tmp")


def unfinished_folder(root: Path) -> Path:
    """Return a name of its own for runs that are unpacked under `root` before they are moved into place."""
    return root / f".unpacked-{_own()}"


def clear_run(folder: Path) -> None:
    """Remove what killed writers left in the folder of a run, and in its store beside the runs."""
    store = folder.parent.parent
    inner = (folder / name for name in ("results", "arrays", "resume", "checkpoints"))
    for place in (folder, *inner, store / "initial"):
        _clear(place, ".*.tmp")
    clear_store(store)


def clear_store(root: Path) -> None:
    """Remove what killed processes left half unpacked."""
    _clear(root, ".unpacked-*")


def _own() -> str:
    return f"{os.getpid()}-{_MACHINE}{secrets.token_hex(4)}"


def _clear(folder: Path, names: str) -> None:
    for path in folder.glob(names):
        found = _UNFINISHED.fullmatch(path.name)
        if found is None or found["machine"] not in (None, _MACHINE) or _is_alive(int(found["process"])):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    """Whether there is a process of this number; where the system does not tell, there may be."""
    if os.name != "posix":  # pragma: no cover (on Windows the question would interrupt the process)
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
