"""Seals: a safetensors file that carries the SHA-256 of what is in it, so that a changed byte is noticed.

    seal = SHA-256(tensors' names, types, shapes and places | meta | numbers)

The file stays one that any reader of safetensors opens. The meta says that the file is sealed, so that a seal which was
taken off, as tools do that copy the metadata they know, is missed. Files that say nothing of it, from another hand, are
read without one.

This notices accidents and partial changes. It does not stop a forger, who can seal a file anew as anybody can, or write
metadata that tell of no seal: what must be trusted is compared by the SHA-256 that `ordinate verify` shows.
"""

import hashlib
import json
from typing import Any

SEAL_KEY = "sha256"
IS_SEALED = "__sealed__"
"""Key in the meta of a file that was written with a seal."""
METADATA = "__metadata__"
LENGTH = 8
"""Bytes in front that hold the length of the header, to a multiple of which the header is filled up."""


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
    metadata = {key: value for key, value in header.get(METADATA, {}).items() if key != SEAL_KEY}
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
