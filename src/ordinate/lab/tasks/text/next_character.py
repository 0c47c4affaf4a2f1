"""Language modelling: the next character of a text."""

import torch
from jaxtyping import Bool, Int
from pydantic import Field
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.memories.base import token_coordinates
from ordinate.lab.tasks.numbers.sampling import LONGEST, check_count, check_length
from ordinate.lab.tasks.task import Batch, Task
from ordinate.lab.tasks.text.corpus import CHARACTERS, load

NEW_LINE = "\N{RETURN SYMBOL}"
Characters = Int[Tensor, "batch token"]


class NextCharacter(
    Task,
    name="next-character",
    summary="the next character of a text, for causal models",
    family="text",
    axes=("length",),
):
    """The character that follows, at every place of a text: of `the c` the answers are `he c` and one more.

    The answer of a token is the next token, so that only causal models have anything to learn; the last token has no
    answer, and is not scored. Characters are a new line, those that ASCII prints, and one for all others.

    Training draws windows of a corpus; tests draw them from the tenth of every text that training never sees. The
    corpus is a folder of files `*.txt`, or, where none is given, the docstrings of Python's standard library.

    Harder along `length`.
    """

    length: int = Field(64, ge=2, le=LONGEST, description=f"characters of a window, 2 to {LONGEST}")
    corpus: str = Field("", description="a folder of files *.txt; docstrings of Python without")
    held_out: bool = Field(False, description="draw from what training does not see, as tests do")

    @property
    @override
    def features(self) -> int:
        return len(CHARACTERS)

    @property
    @override
    def outputs(self) -> int:
        return len(CHARACTERS)

    @override
    def lengths(self) -> tuple[int, ...]:
        return (self.length,)

    @override
    def coordinates(self, length: int) -> Coordinates:
        check_length(length, shortest=2)
        return token_coordinates(length)

    @override
    def tested(self) -> "NextCharacter":
        return self.model_copy(update={"held_out": True})

    @override
    def sample(self, count: int, *, generator: Generator, length: int | None = None) -> Batch:
        """Draw windows, each with its start anywhere in the text."""
        check_count(count)
        length = self.length if length is None else length
        coordinates = self.coordinates(length)
        corpus = load(self.corpus)
        text = corpus.held_out if self.held_out else corpus.trained
        if len(text) < length:
            raise OrdinateError(
                f"this part of the corpus has {len(text)} characters, fewer than a window of {length}: "
                f"write a larger corpus, or length={max(2, len(text))} or less"
            )
        starts = torch.randint(
            len(text) - length + 1, (count, 1), generator=generator, device=generator.device
        )
        inputs = text.to(generator.device)[starts + torch.arange(length, device=generator.device)]
        return Batch(inputs, self.reference(inputs), coordinates)

    @override
    def reference(self, inputs: Characters, coordinates: Coordinates | None = None) -> Characters:
        """The tokens, one place on; a new line at the end, which nobody scores."""
        return torch.nn.functional.pad(inputs[:, 1:], (0, 1))

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token 1"]:
        return torch.arange(len(coordinates))[:, None] < len(coordinates) - 1

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Characters:
        inputs, many = batch.input.clone(), len(CHARACTERS)
        on = torch.randint(1, many, (len(inputs),), generator=generator, device=generator.device)
        inputs[:, token] = (inputs[:, token] + on) % many
        return inputs

    @property
    @override
    def vocabulary(self) -> tuple[str, ...]:
        return (NEW_LINE, *CHARACTERS[1:])

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        symbols = self.vocabulary
        return [
            {"input": "".join(symbols[i] for i in x), "target": "".join(symbols[i] for i in y[:-1])}
            for x, y in zip(batch.input.tolist(), batch.target.tolist(), strict=True)
        ]

    @override
    def parse(self, text: str) -> Batch:
        """Read a text, with new lines as they are or as they are shown."""
        known = {symbol: index for index, symbol in enumerate(self.vocabulary)} | {"\n": 0}
        inputs = torch.tensor([[known.get(character, len(CHARACTERS) - 1) for character in text]])
        coordinates = self.coordinates(len(text))
        return Batch(inputs, self.reference(inputs), coordinates)
