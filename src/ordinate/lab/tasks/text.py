"""Language modelling: the next character of a text.

A corpus is the text files of a folder, or the docstrings of Python's standard library, as indices of characters. The
last tenth of every text is held out, so that both parts have all authors and subjects.
"""

import ast
import re
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Int
from pydantic import Field
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.batch import Batch, Symbols, fields_of
from ordinate.lab.tasks.presentation import rows
from ordinate.lab.tasks.sampling import LONGEST, check_length, integers
from ordinate.lab.tasks.strings import Strings

CHARACTERS = "\n" + "".join(map(chr, range(32, 127))) + "\N{REPLACEMENT CHARACTER}"
"""A new line, what ASCII prints, and one character for all others."""
NEW_LINE = "\N{RETURN SYMBOL}"
"""How a new line is shown."""
MOST_CHARACTERS = 10**8
"""Characters that are read of a folder; more are ignored."""
HELD_OUT = 0.1
LARGEST_SOURCE = 2**16
"""Bytes of a module up to which its docstrings are read: half a million characters, within a second."""

_OTHERS = re.compile(r"[^\n -~]")
_INDEX = np.full(128, len(CHARACTERS) - 1, dtype=np.int64)
_INDEX[[ord(character) for character in CHARACTERS[:-1]]] = range(len(CHARACTERS) - 1)


@dataclass(frozen=True, eq=False)
class Corpus:
    """Text to train on and text to test on, and what a report calls it."""

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
def load_corpus(folder: str) -> Corpus:
    """The corpus of a folder; without one, the docstrings."""
    if not folder:
        return corpus_of(docstrings(), "docstrings of Python's standard library (PSF licence)")
    return corpus_of(_files(Path(folder)), f"text files of the folder {Path(folder).name}")


def _files(folder: Path) -> Iterator[str]:
    """All files `*.txt` below a folder, in the order of their names."""
    if not folder.is_dir():
        raise OrdinateError(f"there is no folder {str(folder)!r}: write a folder that holds *.txt files")
    paths = sorted(folder.rglob("*.txt"))
    if not paths:
        raise OrdinateError(f"{str(folder)!r} has no file *.txt: write the folder of a corpus of such files")
    room = MOST_CHARACTERS
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


class NextCharacter(
    Strings,
    name="next-character",
    summary="the next character of a text, for causal models",
    family="text",
):
    """The character that follows, at every place of a text: of `the c` the answers are `he c` and one more.

    The answer of a token is the next token, so that only causal models have anything to learn; the last token has no
    answer, and is not scored. Characters are a new line, those that ASCII prints, and one for all others.

    Training draws windows of a corpus; tests draw them from the tenth of every text that training never sees. The
    corpus is a folder of files `*.txt`, or, where none is given, the docstrings of Python's standard library.

    Harder along `length`.
    """

    length: int = Field(64, ge=2, le=LONGEST, description=f"characters of a window, 2 to {LONGEST}")
    corpus: str = Field("", description="a folder of files *.txt; default docstrings of Python")
    held_out: bool = Field(False, description="draw from what training does not see, as tests do")

    features: ClassVar[int] = len(CHARACTERS)

    @override
    def coordinates(self, length: int) -> Coordinates:
        check_length(length, shortest=2)
        return fields_of(token=length)

    @override
    def tested(self) -> "NextCharacter":
        return self.model_copy(update={"held_out": True})

    @override
    def draw(self, count: int, length: int, generator: Generator) -> Symbols:
        """Draw windows, each with its start anywhere in the text."""
        corpus = load_corpus(self.corpus)
        text = corpus.held_out if self.held_out else corpus.trained
        if len(text) < length:
            raise OrdinateError(
                f"this part of the corpus has {len(text)} characters, fewer than a window of {length}: "
                f"write a larger corpus, or length={max(2, len(text))} or less"
            )
        starts = integers(0, len(text) - length + 1, (count, 1), generator)
        return text.to(generator.device)[starts + torch.arange(length, device=generator.device)]

    @override
    def reference(self, inputs: Symbols, coordinates: Coordinates | None = None) -> Symbols:
        """The tokens, one place on; a new line at the end, which nobody scores."""
        return torch.nn.functional.pad(inputs[:, 1:], (0, 1))

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token 1"]:
        return torch.arange(len(coordinates))[:, None] < len(coordinates) - 1

    @property
    @override
    def vocabulary(self) -> tuple[str, ...]:
        return (NEW_LINE, *CHARACTERS[1:])

    @override
    def read(self, text: str) -> list[int]:
        """New lines as they are or as they are shown; characters that are not known are all the same one."""
        known = {symbol: index for index, symbol in enumerate(self.vocabulary)} | {"\n": 0}
        return [known.get(character, len(CHARACTERS) - 1) for character in text]

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        return rows(map(self.write, batch.input.tolist()), map(self.write, batch.target[:, :-1].tolist()))
