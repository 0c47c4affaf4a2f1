"""k-hop induction heads (Sanford, Hsu and Telgarsky 2024, arXiv 2402.09268; data as in arXiv 2410.01686)."""

import string

import torch
from jaxtyping import Bool, Int
from pydantic import Field, model_validator
from torch import Generator, Tensor
from torch.nn.functional import pad
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.batch import Batch, Changes, fields_of
from ordinate.lab.tasks.presentation import rows
from ordinate.lab.tasks.sampling import LONGEST, another, check_count, check_length, integers, whole
from ordinate.lab.tasks.strings import Strings

NOWHERE = -1
"""The place of a hop that finds nothing; hops from there stay there."""

LETTERS = string.ascii_letters
BLANK, NO_MATCH, FIRST_COUNT = 0, 1, 2
"""Indices of the first symbols: the answer to the hop count, the answer where nothing is found, the count 0."""


def find(symbols: Int[Tensor, "batch place"], vocabulary: int) -> Int[Tensor, "batch place"]:
    """find(i) = max{j <= i : x_{j-1} = x_i}: the place behind the last earlier x_i, or `NOWHERE`.

    One running maximum a symbol: the cost is batch x place x vocabulary.

    >>> find(torch.tensor([[0, 1, 2, 0, 1]]), vocabulary=3)
    tensor([[-1, -1, -1,  1,  2]])
    """
    places = torch.arange(symbols.shape[1], device=symbols.device)
    here = symbols[..., None] == torch.arange(vocabulary, device=symbols.device)
    last = torch.where(here, places[:, None] + 1, NOWHERE).cummax(1).values
    before = torch.cat([torch.full_like(last[:, :1], NOWHERE), last[:, :-1]], dim=1)
    return before.gather(2, symbols[..., None])[..., 0]


def hop(
    symbols: Int[Tensor, "batch place"], hops: Int[Tensor, " batch"], vocabulary: int
) -> Int[Tensor, "batch place"]:
    """The place find^k(i), k times find from every place i, each sample with its own k; `NOWHERE` absorbs.

    >>> hop(torch.tensor([[0, 1, 0, 1, 0]] * 3), torch.tensor([0, 1, 2]), vocabulary=2)
    tensor([[ 0,  1,  2,  3,  4],
            [-1, -1,  1,  2,  3],
            [-1, -1, -1,  1,  2]])
    """
    table = pad(find(symbols, vocabulary), (0, 1), value=NOWHERE)
    place = torch.arange(symbols.shape[1], device=symbols.device).repeat(len(symbols), 1)
    for step in range(int(hops.max())):
        # A place of -1 reads the padded column, which says -1 again.
        further = table.gather(1, place % table.shape[1])
        place = torch.where((step < hops)[:, None], further, place)
    return place


class KHop(
    Strings,
    name="k-hop",
    summary="the letter k hops back, each hop to behind the last same letter",
    family="hops",
    axes=("length", "hops", "unseen"),
    slices=("hops",),
):
    """The letter k hops back: in abcab, one hop from the last b leads behind the b before it, to c.

    A hop goes from a letter to the place behind its last earlier occurrence, and the answer at place i is the letter
    found there:

        hop_k(x)_i = x_{find^k(i)},     find(i) = max{j <= i : x_{j-1} = x_i}

    0 hops give the letter itself; `~` stands where a hop finds nothing. The first token says k, and is answered with a
    blank. Neighbouring letters differ. Training draws k from 0 to `hops`, and letters from the first `alphabet` ones.

    Harder along `length` (letters), `hops` (all samples with that k) and `unseen` (that many letters of the
    alphabet are replaced by ones that training never shows; all of them as published). The slice `hops` sorts samples
    by k.
    """

    length: int = Field(98, ge=2, le=LONGEST, description=f"letters in training, 2 to {LONGEST}")
    hops: int = Field(3, ge=0, le=LONGEST, description="most hops, at most length - 2")
    alphabet: int = Field(
        5,
        ge=2,
        le=len(LETTERS) // 2,
        description="letters of training, and as many unseen ones; neighbours differ, so 2 or more",
    )

    @model_validator(mode="after")
    def _hops_fit(self) -> "KHop":
        check_hops(self.hops, self.length)
        return self

    @property
    @override
    def features(self) -> int:
        """Blank, no match, hop counts, both alphabets: 16 as published."""
        return self.first_letter + 2 * self.alphabet

    @property
    def first_letter(self) -> int:
        """The index of the letter a."""
        return FIRST_COUNT + self.hops + 1

    @override
    def coordinates(self, length: int) -> Coordinates:
        check_length(length, shortest=2)
        return fields_of(hops=1, letter=length)

    @override
    def seen(self, axis: str, value: float) -> bool:
        return super().seen(axis, value) or axis == "hops" or (axis == "unseen" and value == 0)

    @override
    def sample(
        self,
        count: int,
        *,
        generator: Generator,
        length: int | None = None,
        hops: int | float | None = None,
        unseen: int | float = 0,
    ) -> Batch:
        """Draw `count` sequences; with `hops`, all with that k, and with `unseen`, that many letters never trained."""
        check_count(count)
        length = self.length if length is None else length
        coordinates = self.coordinates(length)
        if hops is None:
            check_hops(self.hops, length)
            counts = integers(0, self.hops + 1, (count,), generator)
        else:
            k = whole("hops", hops, 0, self.hops)
            check_hops(k, length)
            counts = torch.full((count,), k, device=generator.device)
        letters = draw_letters(count, length, self.alphabet, generator)
        letters = letters + self.alphabet * (letters < whole("unseen", unseen, 0, self.alphabet))
        inputs = torch.cat([counts[:, None] + FIRST_COUNT, letters + self.first_letter], dim=1)
        return Batch(inputs, self.reference(inputs), coordinates)

    @override
    def reference(
        self, inputs: Int[Tensor, "batch token"], coordinates: Coordinates | None = None
    ) -> Int[Tensor, "batch token"]:
        letters = inputs[:, 1:]
        place = hop(letters - self.first_letter, inputs[:, 0] - FIRST_COUNT, 2 * self.alphabet)
        found = letters.gather(1, place.clamp(min=0)).masked_fill(place == NOWHERE, NO_MATCH)
        return pad(found, (1, 0), value=BLANK)

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token 1"]:
        """All of them, the blank included, as published."""
        return torch.ones(len(coordinates), 1, dtype=torch.bool)

    @override
    def slice(self, name: str, batch: Batch) -> Int[Tensor, " batch"]:
        if name not in self.slices:
            return super().slice(name, batch)
        return batch.input[:, 0] - FIRST_COUNT

    @override
    def free(self, coordinates: Coordinates, length: int) -> tuple[int, ...]:
        return tuple(range(0 if self.hops else 1, len(coordinates)))

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Int[Tensor, "batch token"]:
        """Put another hop count, or another letter of training, which may be that of a neighbour."""
        first, many = (self.first_letter, self.alphabet) if token else (FIRST_COUNT, self.hops + 1)
        # Unseen letters follow those of training and are as many: modulo, each stands for one of them.
        return batch.replaced(token, first + another(batch.input[:, token] - first, many, generator))

    @override
    def changes(self, batch: Batch, generator: Generator) -> Changes:
        length = len(batch.coordinates) - 1
        counts = torch.arange(self.hops + 1) + FIRST_COUNT
        letters = torch.arange(self.alphabet) + self.first_letter
        token = torch.cat(
            [torch.zeros_like(counts), torch.arange(1, length + 1).repeat_interleave(self.alphabet)]
        )
        inputs = batch.input[:1].cpu().repeat(len(token), 1)
        inputs[torch.arange(len(token)), token] = torch.cat([counts, letters.repeat(length)])
        fits = inputs[:, 0] - FIRST_COUNT <= max(0, length - 2)
        return Changes.of(batch, inputs[fits].to(batch.input.device), token[fits])

    @property
    @override
    def vocabulary(self) -> tuple[str, ...]:
        return (" ", "~", *map(str, range(self.hops + 1)), *LETTERS[: 2 * self.alphabet])

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        symbols = self.vocabulary
        inputs = (f"{symbols[k]} {''.join(symbols[i] for i in x)}" for k, *x in batch.input.tolist())
        return rows(inputs, ("".join(symbols[i] for i in y) for y in batch.target[:, 1:].tolist()))

    @override
    def parse(self, text: str) -> Batch:
        """Read a number of hops and letters: 2 abcab."""
        count, _, letters = text.strip().partition(" ")
        if not (count.isdecimal() and len(count) < 5 and letters.isascii() and letters.isalpha()):
            raise OrdinateError(f"{text!r} is not understood: write hops and letters, such as 2 abcab")
        k = whole("hops", int(count), 0, self.hops)
        check_length(len(letters), shortest=2)
        check_hops(k, len(letters))
        places = [LETTERS.index(letter) for letter in letters]
        if max(places) >= 2 * self.alphabet:
            raise OrdinateError(
                f"letter {LETTERS[max(places)]!r} is not among the {2 * self.alphabet} of this alphabet: "
                f"write alphabet={max(places) // 2 + 1}"
            )
        inputs = torch.tensor([[k + FIRST_COUNT, *(place + self.first_letter for place in places)]])
        return Batch(inputs, self.reference(inputs), self.coordinates(len(letters)))


def check_hops(hops: int, length: int) -> None:
    """Refuse more hops than a sequence can hold: each goes back at least one letter, and never to the first.

    >>> check_hops(3, 4)
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: 3 hops need at least 5 letters, got 4: write hops=2, or length=5
    """
    if hops > max(0, length - 2):
        fewer = max(0, length - 2)
        raise OrdinateError(
            f"{hops} hops need at least {hops + 2} letters, got {length}: "
            f"write hops={fewer}, or length={hops + 2}"
        )


def draw_letters(count: int, length: int, alphabet: int, generator: Generator) -> Int[Tensor, "count length"]:
    """Draw letters below `alphabet`, uniformly among the sequences whose neighbours differ.

    >>> letters = draw_letters(100, 9, 2, torch.Generator())
    >>> bool((letters.diff(dim=1) != 0).all())
    True
    """
    first = integers(0, alphabet, (count, 1), generator)
    steps = integers(1, alphabet, (count, length - 1), generator)
    return torch.cat([first, steps], dim=1).cumsum(1) % alphabet
