"""Runs that travel: the runs of a store as one file, and from there into a store on another machine.

The file is a ZIP of the runs' folders, so that a person can look into it. Light files hold what was asked for and what
was measured; whole ones also the weights, and the states to go on from. On the way back everything is checked before
anything is written: only files that a run has are taken, a folder must carry the key of its recipe, and what a run says
must be readable. A run that cannot be read is not packed either.
"""

import re
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from ordinate.errors import OrdinateError
from ordinate.lab.runs.files import Pathish, clear_store, parse_json, unfinished_file, unfinished_folder
from ordinate.lab.runs.lock import held
from ordinate.lab.runs.record import NAME, check_seed, parse_facts, parse_metrics, parse_recipe, read_facts
from ordinate.lab.runs.store import Store, recipe_key

_NAME = NAME.pattern
_TEXT = re.compile(rf"recipe\.toml|run\.json|metrics\.jsonl|results/{_NAME}\.json")
_ARRAYS = re.compile(rf"arrays/{_NAME}\.safetensors")
_WEIGHTS = re.compile(r"(?:checkpoints|resume)/step-[0-9]{8,}\.safetensors")
_ENDED = ("done", "failed")
_TIME = (1980, 1, 1, 0, 0, 0)

LARGEST = 1 << 34
"""Bytes that a file of runs may have when it is unpacked."""
LARGEST_TEXT, LARGEST_TENSORS = 1 << 26, 1 << 32
"""Bytes of one file in it: texts are read as a whole."""
MOST_FILES = 50_000
"""Of ten thousand runs; more are packed in parts."""
TIGHTEST, SMALL = 200, 1 << 16
"""How many times its packed size a file may have unpacked, from this size on; tighter ones are packed as they are."""


class Unpacked(NamedTuple):
    """Ids of the runs that came in, and of those that stayed as they were in the store."""

    added: list[str]
    kept: list[str]


def pack(store: Store, file: Pathish, ids: Iterable[str], *, whole: bool = False) -> list[str]:
    """Write runs of a store to one file and return their ids: those that ended or, `whole`, all with their weights.

    Equal runs give equal bytes.
    """
    file = Path(file)
    chosen = [id_ for id_ in ids if _travels(store.root / id_, id_, whole)]
    if not chosen:
        raise OrdinateError(f"no run of {store.root} has ended: train some, or pack them whole")
    temporary = unfinished_file(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with zipfile.ZipFile(temporary, "x") as packed:
                for id_ in chosen:
                    for name, path in _files(store.root / id_, whole):
                        data = path.read_bytes()
                        entry = zipfile.ZipInfo(f"{id_}/{name}", _TIME)
                        entry.compress_type = zipfile.ZIP_STORED if _is_tight(data) else zipfile.ZIP_DEFLATED
                        packed.writestr(entry, data)
            with zipfile.ZipFile(temporary) as packed:
                _check_sizes(packed, temporary.stat().st_size, file)
            temporary.replace(file)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OrdinateError(f"cannot write {file}: {(error.strerror or str(error)).lower()}") from error
    return chosen


def unpack(file: Pathish, store: Store) -> Unpacked:
    """Bring the runs of a file into a store; a run that has ended there, or is trained, stays as it is."""
    found = Unpacked([], [])
    aside = unfinished_folder(store.root)
    try:
        with zipfile.ZipFile(file) as packed:
            statuses = _check(packed, file, store)
            clear_store(store.root)
            for entry in packed.infolist():
                target = aside / entry.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                with packed.open(entry) as source, target.open("xb") as copy:
                    shutil.copyfileobj(source, copy)
        for id_, status in statuses.items():
            (found.added if _settle(aside / id_, store.root / id_, status) else found.kept).append(id_)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise _no_runs(file) from error
    except OSError as error:
        raise OrdinateError(f"cannot unpack {file}: {(error.strerror or str(error)).lower()}") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return found


def _travels(folder: Path, id_: str, whole: bool) -> bool:
    """Whether a run is packed: it can be read and, unless it goes as a whole, has ended."""
    try:
        texts = {name: path.read_bytes() for name, path in _files(folder, whole) if _TEXT.fullmatch(name)}
        status = _check_run(id_, texts, str(folder))
    except (OrdinateError, OSError):
        return False
    return whole or status in _ENDED


def _files(folder: Path, whole: bool) -> Iterator[tuple[str, Path]]:
    """The files of a run that travel, in order, by their names in it."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and _is_of_a_run(name) and (whole or not _WEIGHTS.fullmatch(name)):
            yield name, path


def _is_of_a_run(name: str) -> bool:
    return any(kind.fullmatch(name) for kind in (_TEXT, _ARRAYS, _WEIGHTS))


def _is_tight(data: bytes) -> bool:
    """Whether so little is left of a file when it is packed that it would be taken for a bomb."""
    if len(data) <= SMALL:
        return False
    packer, left = zlib.compressobj(wbits=-zlib.MAX_WBITS), 0
    for start in range(0, len(data), SMALL):
        left += len(packer.compress(data[start : start + SMALL]))
        if left * TIGHTEST >= len(data):
            return False
    return len(data) > TIGHTEST * (left + len(packer.flush()))


def _check(packed: zipfile.ZipFile, file: Pathish, store: Store) -> dict[str, str]:
    """Refuse what no run has, before anything is written; return the status of every run."""
    _check_sizes(packed, Path(file).stat().st_size, file)
    names = packed.namelist()
    if not names or len(set(names)) < len(names):
        raise OrdinateError(f"{file} holds no runs, or files twice: write one with ordinate runs --pack")
    for name in names:
        if not re.fullmatch(rf"{_NAME}-[0-9a-f]{{10}}/seed-(0|[1-9][0-9]*)/.+", name) or not _is_of_a_run(
            _inner(name)
        ):
            raise OrdinateError(f"{file} holds {name!r}, which is no file of a run: nothing was unpacked")
    statuses = {}
    for id_, group in groupby(sorted(names), _run_of):
        for place in (store.root / id_, (store.root / id_).parent):
            if place.is_symlink():
                raise OrdinateError(f"{place} is a link, through which nothing is unpacked: move it away")
        texts = {_inner(name): packed.read(name) for name in group if _TEXT.fullmatch(_inner(name))}
        statuses[id_] = _check_run(id_, texts, f"{file}: {id_}")
    return statuses


def _check_sizes(packed: zipfile.ZipFile, size: int, file: Pathish) -> None:
    """Refuse a file that is too large when it is unpacked, or packed more tightly than runs are."""
    entries = packed.infolist()
    kinds = {entry.compress_type for entry in entries} - {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
    if kinds or sum(entry.compress_size for entry in entries) > size:
        raise _no_runs(file)
    if len(entries) > MOST_FILES:
        raise OrdinateError(
            f"{file} holds {len(entries)} files: at most {MOST_FILES} are taken, pack fewer runs at a time"
        )
    total = sum(entry.file_size for entry in entries)
    if total > LARGEST:
        raise OrdinateError(
            f"{file} would unpack to {total / 2**30:.0f} GiB: at most {LARGEST >> 30} GiB are taken"
        )
    for entry in entries:
        most = LARGEST_TENSORS if entry.filename.endswith(".safetensors") else LARGEST_TEXT
        if entry.file_size > most:
            raise OrdinateError(
                f"{file}: {entry.filename!r} would have {entry.file_size} bytes: at most {most} are taken"
            )
        if entry.file_size > max(SMALL, TIGHTEST * entry.compress_size):
            raise OrdinateError(
                f"{file}: {entry.filename!r} would unpack to more than {TIGHTEST} times its size: "
                "write the file with ordinate runs --pack"
            )


def _check_run(id_: str, texts: dict[str, bytes], where: str) -> str:
    """Refuse a run that could not be read in a store, by the texts in its folder; return its status."""
    check_seed(int(id_.rsplit("-", 1)[1]))
    if not {"recipe.toml", "run.json"} <= texts.keys():
        raise _other_recipe(where)
    if not id_.split("/")[0].endswith(
        f"-{recipe_key(parse_recipe(texts['recipe.toml'], f'{where}/recipe.toml'))}"
    ):
        raise _other_recipe(where)
    for name, data in texts.items():
        if name == "metrics.jsonl":
            parse_metrics(data, f"{where}/{name}")
        elif name.startswith("results/"):
            parse_json(data, f"{where}/{name}")
    return str(parse_facts(texts["run.json"], f"{where}/run.json").get("status", "new"))


def _settle(source: Path, target: Path, status: str) -> bool:
    """Move a run into the store; False where one is there that ended, is trained, or has come as far."""
    if target.exists():
        if _stays(target, status):
            return False
        target.rename(source.with_name(f"{source.name}.old"))
    target.parent.mkdir(parents=True, exist_ok=True)
    source.rename(target)
    return True


def _stays(folder: Path, status: str) -> bool:
    """Whether a run of the store stays where one with a status would come; what cannot be read is not replaced."""
    try:
        there = read_facts(folder).get("status", "new")
    except OrdinateError:
        return True
    return there in _ENDED or held(folder / "lock") or (there != "new" and status not in _ENDED)


def _run_of(name: str) -> str:
    return "/".join(name.split("/")[:2])


def _inner(name: str) -> str:
    """The name of a file in its run."""
    return "/".join(name.split("/")[2:])


def _no_runs(file: Pathish) -> OrdinateError:
    return OrdinateError(f"{file} is not a file of runs: write one with ordinate runs --pack")


def _other_recipe(where: str) -> OrdinateError:
    return OrdinateError(f"{where} does not hold the recipe it is named by: nothing was unpacked")
