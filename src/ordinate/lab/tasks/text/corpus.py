"""Corpora: files of a folder, or the docstrings of Python's standard library, as indices of characters.

The last tenth of every text is held out, so that both parts have all authors and subjects.
"""

import ast
import re
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from ordinate.errors import OrdinateError

CHARACTERS = "\n" + "".join(map(chr, range(32, 127))) + "\N{REPLACEMENT CHARACTER}"
"""A new line, what ASCII prints, and one character for all others."""
MOST = 10**8
"""Characters that are read of a folder; more are left where they are."""
HELD_OUT = 0.1
LARGEST_SOURCE = 2**16
"""Bytes of a module up to which its docstrings are read: half a million characters, within a second."""

_OTHERS = re.compile(r"[^\n -~]")
_INDEX = np.full(128, len(CHARACTERS) - 1, dtype=np.int64)
_INDEX[[ord(character) for character in CHARACTERS[:-1]]] = range(len(CHARACTERS) - 1)


@dataclass(frozen=True, eq=False)
class Corpus:
    """What there is to read, and what it is called in a report."""

    name: str
    trained: Int[Tensor, " trained"]
    held_out: Int[Tensor, " held_out"]

    @property
    def fingerprint(self) -> str:
        """Tells one corpus from another."""
        both = torch.cat([self.trained, self.held_out]).to(torch.uint8)
        return sha256(both.numpy().tobytes()).hexdigest()[:12]


def indices(text: str) -> Int[Tensor, " character"]:
    """The characters of a text by index.

    >>> indices("a b\\n\\u00e9").tolist()
    [66, 1, 67, 0, 96]
    """
    plain = _OTHERS.sub("\x7f", text)
    return torch.from_numpy(_INDEX[np.frombuffer(plain.encode("ascii"), dtype=np.uint8)])


def corpus_of(texts: Iterable[str], name: str) -> Corpus:
    """Nine tenths of every text to train on, the last tenth to test.

    >>> corpus = corpus_of(["abcdefghij" * 10, "k" * 50], "letters")
    >>> len(corpus.trained), len(corpus.held_out)
    (137, 17)
    """
    trained, held_out = [], []
    for text in texts:
        edge = round(len(text) * (1 - HELD_OUT))
        trained.append(text[:edge])
        held_out.append(text[edge:])
    return Corpus(
        name, *(indices("".join(f"{part}\n" for part in parts if part)) for parts in (trained, held_out))
    )


@lru_cache(maxsize=2)
def load(folder: str) -> Corpus:
    """The corpus of a folder; without one, the docstrings."""
    if not folder:
        return corpus_of(docstrings(), "docstrings of Python's standard library (PSF licence)")
    return corpus_of(_files(Path(folder)), f"text files of the folder {Path(folder).name}")


def _files(folder: Path) -> Iterator[str]:
    """All files `*.txt` below a folder, in the order of their names."""
    if not folder.is_dir():
        raise OrdinateError(f"there is no folder {str(folder)!r}: write that of a corpus of *.txt files")
    paths = sorted(folder.rglob("*.txt"))
    if not paths:
        raise OrdinateError(f"{str(folder)!r} has no file *.txt: write the folder of a corpus of such files")
    room = MOST
    for path in paths:
        if room <= 0:
            return
        text = path.read_text(encoding="utf-8", errors="replace").expandtabs()[:room]
        room -= len(text)
        yield text


def docstrings() -> Iterator[str]:
    """Those of every module of the standard library that has its source here, one text a module."""
    paths = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    small = [path for path in paths if path.stat().st_size <= LARGEST_SOURCE]
    if not small:
        raise OrdinateError("this Python has no source of its standard library: write corpus=FOLDER")
    for path in small:
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, OSError):  # a file that is no module of this Python
            continue
        yield "\n\n".join(_docs(tree)).expandtabs()


def _docs(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """The docstring of a definition, and those of the definitions in it."""
    if text := ast.get_docstring(node):
        yield text
    for inner in node.body:
        if isinstance(inner, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _docs(inner)
