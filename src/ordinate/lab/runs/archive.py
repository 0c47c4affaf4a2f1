"""Runs that travel: the runs of a store as one file, and from there into a store on another machine.

The file is a ZIP of the runs' folders, so that a person can look into it. Light files hold what was asked for and what
was measured; whole ones also the weights, and the states to go on from. On the way back only files that a run has are
taken, a folder must carry the key of its recipe, and a run appears in the store whole or not at all.
"""

import os
import re
import secrets
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ordinate.errors import OrdinateError
from ordinate.lab.runs.facts import read_facts, read_recipe
from ordinate.lab.runs.files import Pathish
from ordinate.lab.runs.lock import held
from ordinate.lab.runs.record import is_run_folder
from ordinate.lab.runs.store import Store, recipe_key

_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_LIGHT = re.compile(
    rf"recipe\.toml|run\.json|metrics\.jsonl|results/{_NAME}\.json|arrays/{_NAME}\.safetensors"
)
_HEAVY = re.compile(r"(?:checkpoints|resume)/step-[0-9]{8,}\.safetensors")
_ENDED = ("done", "failed")
_TIME = (1980, 1, 1, 0, 0, 0)
LARGEST = 1 << 34
"""Bytes that a file of runs may have when it is unpacked."""


class Unpacked(NamedTuple):
    """Ids of the runs that came in, and of those that stayed as they were in the store."""

    added: list[str]
    kept: list[str]


def pack(store: Store, file: Pathish, ids: Iterable[str], *, whole: bool = False) -> list[str]:
    """Write runs of a store to one file and return their ids: those that ended or, `whole`, all with their weights.

    Equal runs give equal bytes.

    >>> pack(Store("runs"), "sums.zip", ["sum-9f2b1c4d5e/seed-0"])     # doctest: +SKIP
    ['sum-9f2b1c4d5e/seed-0']
    """
    file = Path(file)
    chosen = [id_ for id_ in ids if whole or read_facts(store.root / id_).get("status") in _ENDED]
    if not chosen:
        raise OrdinateError(f"no run of {store.root} has ended: train some, or pack them whole")
    temporary = file.with_name(f".{file.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with zipfile.ZipFile(temporary, "x", zipfile.ZIP_DEFLATED) as packed:
                for id_ in chosen:
                    for path in _files(store.root / id_, whole):
                        name = f"{id_}/{path.relative_to(store.root / id_).as_posix()}"
                        entry = zipfile.ZipInfo(name, _TIME)
                        entry.compress_type = zipfile.ZIP_DEFLATED
                        packed.writestr(entry, path.read_bytes())
            temporary.replace(file)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OrdinateError(f"cannot write {file}: {(error.strerror or str(error)).lower()}") from error
    return chosen


def unpack(file: Pathish, store: Store) -> Unpacked:
    """Bring the runs of a file into a store; a run that has ended there, or is trained, stays as it is.

    >>> unpack("sums.zip", Store("runs")).added     # doctest: +SKIP
    ['sum-9f2b1c4d5e/seed-0']
    """
    aside = store.root / f".unpacked-{os.getpid()}-{secrets.token_hex(4)}"
    found = Unpacked([], [])
    try:
        with zipfile.ZipFile(file) as packed:
            _check(packed, file)
            for id_, entries in groupby(sorted(packed.infolist(), key=lambda e: e.filename), _run_of):
                for entry in entries:
                    target = aside / entry.filename
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with packed.open(entry) as source, target.open("xb") as copy:
                        shutil.copyfileobj(source, copy)
                (found.added if _settle(aside / id_, store.root / id_, file) else found.kept).append(id_)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise OrdinateError(f"{file} is not a file of runs: write one with ordinate runs --pack") from error
    except OSError as error:
        raise OrdinateError(f"cannot unpack {file}: {(error.strerror or str(error)).lower()}") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return found


def _files(folder: Path, whole: bool) -> Iterator[Path]:
    """The files of a run that travel, in order."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and (_LIGHT.fullmatch(name) or (whole and _HEAVY.fullmatch(name))):
            yield path


def _run_of(entry: zipfile.ZipInfo) -> str:
    return "/".join(PurePosixPath(entry.filename).parts[:2])


def _check(packed: zipfile.ZipFile, file: Pathish) -> None:
    """Refuse what no run has, before anything is written."""
    total = sum(entry.file_size for entry in packed.infolist())
    if total > LARGEST:
        raise OrdinateError(
            f"{file} would unpack to {total / 2**30:.0f} GiB: at most {LARGEST >> 30} are taken"
        )
    names = packed.namelist()
    if not names or len(set(names)) < len(names):
        raise OrdinateError(f"{file} holds no runs, or files twice: write one with ordinate runs --pack")
    for name in names:
        inner = "/".join(name.split("/")[2:])
        if not re.fullmatch(rf"{_NAME}-[0-9a-f]{{10}}/seed-(0|[1-9][0-9]*)/.+", name) or not (
            _LIGHT.fullmatch(inner) or _HEAVY.fullmatch(inner)
        ):
            raise OrdinateError(f"{file} holds {name!r}, which is no file of a run: nothing was unpacked")


def _settle(source: Path, target: Path, file: Pathish) -> bool:
    """Move a run into the store; False where one is there that ended, is trained, or has come as far."""
    broken = not is_run_folder(source) or not (source / "run.json").is_file()
    if broken or not source.parent.name.endswith(f"-{recipe_key(read_recipe(source))}"):
        raise OrdinateError(
            f"{file}: {source.parent.name}/{source.name} does not hold the recipe it is named by"
        )
    status = read_facts(source).get("status")
    if target.exists():
        there = read_facts(target).get("status", "new")
        if there in _ENDED or held(target / "lock") or (there != "new" and status not in _ENDED):
            return False
        target.rename(source.with_name(f"{source.name}.old"))
    target.parent.mkdir(parents=True, exist_ok=True)
    source.rename(target)
    return True
