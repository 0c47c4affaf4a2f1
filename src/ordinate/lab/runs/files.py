"""Files that are either whole or not there.

Every write goes to a temporary name in the same folder, is flushed to the disk, and is then renamed over the
target: whoever reads sees the old file or the new one, never half of one, also after a kill or a power cut.
Tensors are stored as safetensors, everything else as text or JSON; nothing here runs code on reading.

A file of tensors is sealed: it carries the SHA-256 of what is in it, so that a changed byte is noticed.

    seal = SHA-256(tensors' names, types, shapes and places | meta | numbers)

It stays one that any reader of safetensors opens. The meta says that the file is sealed, so that a seal which was taken
off, as tools do that copy the metadata they know, is missed. Files that say nothing of it, from another hand, are read
without one. This notices accidents and partial changes. It does not stop a forger, who can seal a file anew as anybody
can, or write metadata that tell of no seal: what must be trusted is compared by the SHA-256 of `ordinate verify`.
"""

import contextlib
import hashlib
import json
import os
import platform
import re
import secrets
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_safetensors
from safetensors.torch import save as save_safetensors

from ordinate.errors import OrdinateError
from ordinate.lab.runs.plain import from_json, to_json

Pathish = str | os.PathLike[str]

META_KEY = "ordinate"
SEAL_KEY = "sha256"
IS_SEALED = "__sealed__"
"""Key in the meta of a file that was written with a seal."""
METADATA = "__metadata__"
LENGTH = 8
"""Bytes in front that hold the length of the header, to a multiple of which the header is filled up."""


def write_bytes(path: Pathish, data: bytes) -> None:
    """Write `data` to `path` atomically, making the folders on the way."""
    path = Path(path)
    temporary = unfinished_file(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)  # noqa: PTH105 (the name that the docstring promises)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OrdinateError(f"cannot write {path}: {_cause(error)}") from error
    _sync_folder(path.parent)


def write_text(path: Pathish, text: str) -> None:
    """Write `text` as UTF-8 to `path` atomically."""
    write_bytes(path, text.encode())


def write_json(path: Pathish, value: Any) -> None:
    """Write `value` as indented strict JSON to `path` atomically."""
    write_text(path, to_json(value, indent=2) + "\n")


def write_tensors(path: Pathish, tensors: dict[str, torch.Tensor], meta: dict[str, Any]) -> None:
    """Write named tensors and their `meta` (any JSON value) as one safetensors file, atomically.

    Tensors may share storage or be views; each is stored on its own. `meta` becomes one JSON string under the
    metadata key `ordinate`. The file is sealed: `read_tensors` refuses one of which a byte was changed, or of which the
    seal was taken off.

    >>> write_tensors("model.safetensors", {"weight": torch.zeros(2)}, {"step": 10})     # doctest: +SKIP
    """
    text = to_json({**meta, IS_SEALED: True})
    try:
        data = sealed(save_safetensors(_separate(tensors), metadata={META_KEY: text}))
    except (SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise OrdinateError(f"cannot write {os.fspath(path)}: {one_line(error)}") from error
    write_bytes(path, data)


def read_bytes(path: Pathish) -> bytes:
    """Return the content of `path`, or say in one line why it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise OrdinateError(f"cannot read {os.fspath(path)}: {_cause(error)}") from error


def read_json(path: Pathish) -> Any:
    """Return the value in the JSON file `path`."""
    return parse_json(read_bytes(path), path)


def parse_json(data: bytes, path: Pathish) -> Any:
    """Return the value in the content of the file `path`."""
    try:
        return from_json(data)
    except ValueError as error:
        raise OrdinateError(f"{os.fspath(path)} is not readable JSON: {one_line(error)}") from error


def read_tensors(path: Pathish) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return the tensors (on the CPU) and the meta that `write_tensors` stored.

    >>> tensors, meta = read_tensors("model.safetensors")     # doctest: +SKIP
    >>> meta["step"]                                          # doctest: +SKIP
    10
    """
    return parse_tensors(read_bytes(path), path)


def parse_tensors(data: bytes, path: Pathish) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return the tensors and the meta in the content of the file `path`."""
    try:
        tensors = load_safetensors(data)
        metadata = header_of(data)[0].get(METADATA, {})
        meta = from_json(metadata[META_KEY])
        if is_broken(data) or metadata.keys() - {META_KEY, SEAL_KEY}:  # a seal under another name is none
            raise _unreadable(path, "it was changed after it was written")
    except KeyError as error:
        cause = "it holds tensors but was not written by ordinate" if error.args == (META_KEY,) else error
        raise _unreadable(path, cause) from error
    except (SafetensorError, ValueError, TypeError, RuntimeError) as error:
        raise _unreadable(path, error) from error
    if not isinstance(meta, dict):
        raise _unreadable(path, "its metadata is not a table")
    if meta.pop(IS_SEALED, False) and not has_seal(data):
        raise _unreadable(path, "its seal was taken off: it was changed after it was written")
    return tensors, meta


def header_of(data: bytes) -> tuple[dict[str, Any], int]:
    """The header of a safetensors file, and where its numbers begin."""
    start = LENGTH + int.from_bytes(data[:LENGTH], "little")
    header = json.loads(data[LENGTH:start])
    if not isinstance(header, dict) or not isinstance(header.get(METADATA, {}), dict):
        raise ValueError("its header is not a table")
    return header, start


def seal(data: bytes) -> str:
    """The hash of what a file holds, whether or not it carries it."""
    header, start = header_of(data)
    metadata = dict(header.get(METADATA, {}))
    metadata.pop(SEAL_KEY, None)
    known = json.dumps({**header, METADATA: metadata}, sort_keys=True).encode()
    found = hashlib.sha256(known)
    found.update(memoryview(data)[start:])
    return found.hexdigest()


def sealed(data: bytes) -> bytes:
    """The same file with its seal.

    >>> from safetensors.numpy import save
    >>> import numpy
    >>> data = sealed(save({"weight": numpy.zeros(3)}, metadata={"step": "10"}))
    >>> is_broken(data), is_broken(data[:-1] + b"1"), is_broken(save({"weight": numpy.zeros(3)}))
    (False, True, False)
    """
    header, start = header_of(data)
    header[METADATA] = {**header.get(METADATA, {}), SEAL_KEY: seal(data)}
    written = json.dumps(header, separators=(",", ":")).encode()
    written += b" " * (-len(written) % LENGTH)
    return len(written).to_bytes(LENGTH, "little") + written + data[start:]


def has_seal(data: bytes) -> bool:
    """Whether a file carries a seal."""
    return SEAL_KEY in header_of(data)[0].get(METADATA, {})


def is_broken(data: bytes) -> bool:
    """Whether a file carries a seal that is not that of what it holds."""
    return has_seal(data) and header_of(data)[0][METADATA][SEAL_KEY] != seal(data)


def is_complete(path: Pathish) -> bool:
    """Tell from its size and header alone whether `path` is a whole safetensors file."""
    try:
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            length = int.from_bytes(file.read(8), "little")
            if length > size - 8:
                return False
            header = json.loads(file.read(length))
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
        return bool(size == 8 + length + max(ends, default=0))
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return False


def _separate(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Give each tensor a contiguous storage of its own: safetensors refuses views and tied weights."""
    seen: set[int] = set()
    result = {}
    for name, given in tensors.items():
        tensor = given.detach().cpu().contiguous()
        storage = tensor.untyped_storage()
        if storage.data_ptr() in seen or storage.nbytes() != tensor.nbytes:
            tensor = tensor.clone()
        seen.add(tensor.untyped_storage().data_ptr())
        result[name] = tensor
    return result


def _sync_folder(folder: Path) -> None:
    """Make a rename last through a power cut, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _unreadable(path: Pathish, cause: object) -> OrdinateError:
    return OrdinateError(f"{os.fspath(path)} is not a readable checkpoint: {one_line(cause)}")


def _cause(error: OSError) -> str:
    return (error.strerror or one_line(error)).lower()


def one_line(cause: object) -> str:
    """Return the text of an error on one line, the kind of error where it says nothing."""
    return " ".join(str(cause).split()) or type(cause).__name__


_MACHINE = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
_UNFINISHED = re.compile(
    r"\..+[.-](?P<process>[0-9]+)-(?P<machine>[0-9a-f]{8}(?=[0-9a-f]{8}))?[0-9a-f]+(\.tmp)?"
)


def unfinished_file(path: Path) -> Path:
    """Return a name of its own, beside `path`, for a file that will be renamed to it.

    >>> unfinished_file(Path("run.json")).name     # doctest: +SKIP
    '.run.json.4711-0b7c19a49f2b1c4d.tmp'
    """
    if not path.name:
        raise OrdinateError(f"cannot write {str(path)!r}, which is a folder: add the name of a file")
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
