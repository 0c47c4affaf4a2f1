"""Paths that cannot leave a folder: plain names only, and no links on the way."""

import re
from pathlib import Path

from ordinate.errors import OrdinateError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def inside(root: Path, *names: str) -> Path:
    """Return the path of these names under `root`; anything that would lead elsewhere is refused.

    >>> inside(Path("runs"), "sum-1a2b3c4d5e", "seed-0").as_posix()
    'runs/sum-1a2b3c4d5e/seed-0'
    >>> inside(Path("runs"), "..", "secret")
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: '../secret' is not a name in this folder
    """
    path = root
    for name in names:
        if not _NAME.fullmatch(name):
            raise OrdinateError(f"{'/'.join(names)[:200]!r} is not a name in this folder")
        path = path / name
        if path.is_symlink():
            raise OrdinateError(f"{'/'.join(names)!r} is a link: this page reads no links")
    return path
