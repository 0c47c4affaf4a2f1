"""Text and prices in one input (the mixed-type experiment of arXiv 2410.01686)."""

from typing import Annotated, Any, ClassVar, Literal

import torch
from jaxtyping import Bool, Float, Int
from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator
from torch import Generator, Tensor
from torch.nn.functional import pad
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.kinds import choose
from ordinate.lab.tasks.base import Task, only_first
from ordinate.lab.tasks.batch import Batch, fields_of
from ordinate.lab.tasks.mixed_text import (
    ABSENT,
    PRICE,
    QUERIES,
    SIGNS,
    STYLES,
    SYMBOLS,
    PriceList,
    Spelled,
    Style,
    Text,
    read_line,
    write_line,
)
from ordinate.lab.tasks.presentation import rows
from ordinate.lab.tasks.sampling import (
    LARGEST,
    chances,
    check_count,
    check_scale,
    draw_numbers,
    integers,
    whole,
)

Query = Literal["sum", "min", "max"]


def answer(
    prices: Float[Tensor, "batch category"],
    chosen: Bool[Tensor, "batch category"],
    query: Int[Tensor, " batch"],
) -> Float[Tensor, " batch"]:
    """The sum, the least or the largest of the chosen prices, as the query (0, 1, 2) says.

    >>> prices, chosen = torch.tensor([[4.0, 1.0, 3.0]] * 3), torch.tensor([[True, False, True]] * 3)
    >>> answer(prices, chosen, torch.tensor([0, 1, 2])).tolist()
    [7.0, 3.0, 4.0]
    """
    total = (prices * chosen).sum(-1)
    least = prices.masked_fill(~chosen, torch.inf).amin(-1)
    most = prices.masked_fill(~chosen, -torch.inf).amax(-1)
    return torch.stack([total, least, most], dim=-1).gather(1, query[:, None])[:, 0]


def _queries(value: Any) -> Any:
    if isinstance(value, str):
        return ("min", "max") if value == "both" else (value,)
    return value


class MixedTypes(
    Task,
    name="mixed",
    summary="sum, min or max of the prices of some categories, asked in text",
    family="mixed",
    axes=("scale", "unseen", "beyond"),
    slices=("query",),
):
    """What is asked of the prices of some categories.

    Cata 1.50, Cat+c, Catd 0.25. Find min of categories Cata and Catd. gives 0.25.

    The text comes first, symbols one a token, then the prices of the categories in the order of the list. A token is
    two numbers, a symbol and a price: (symbol, 0) in the text, (`PRICE`, price) behind it. Entries with a sign between
    Cat and a letter have no price; they are there to confuse. Prices are drawn as the numbers of `sampling` are, every
    sample with a range of its own. The one answer is read at token 0.

    Harder along `scale` (prices up to that many times as high), `unseen` (1: names and signs that training never
    shows) and `beyond` (both at once: the published test at that scale). The slice `query`: 0 sum, 1 min, 2 max.
    """

    categories: int = Field(8, ge=1, le=26, description="categories with a price")
    asked: int = Field(4, ge=1, le=26, description="categories asked for, at most `categories`")
    confusing: int = Field(2, ge=0, le=26, description="entries with a sign and no price")
    names: int = Field(
        20, ge=1, le=26, description="names of training, and as many unseen ones; at least `categories`"
    )
    queries: Annotated[tuple[Query, ...], BeforeValidator(_queries)] = Field(
        ("min",), min_length=1, description="what is asked: sum, min, max, both (min and max), or a list"
    )
    text: Annotated[SerializeAsAny[Style], BeforeValidator(lambda v: choose(v, STYLES, "task.text"))] = Field(
        Spelled(), description="how the text is written: spelled or words"
    )
    low: float = Field(0.0, ge=0, le=LARGEST, description="lowest price in training, below `high`")
    high: float = Field(5.0, ge=0, le=LARGEST, description="highest price in training, above `low`")

    features: ClassVar[int] = len(SYMBOLS) + 1
    outputs: ClassVar[int] = 1

    @model_validator(mode="after")
    def _fits(self) -> "MixedTypes":
        if self.names < self.categories:
            raise ValueError(
                f"{self.categories} categories need as many names, got {self.names}: write names={self.categories}"
            )
        if self.asked > self.categories:
            raise ValueError(f"asked must be at most categories, got {self.asked} and {self.categories}")
        if not self.low < self.high:
            raise ValueError(f"low must be below high, got low = {self.low} and high = {self.high}")
        return self

    @property
    def words(self) -> int:
        """Tokens of the text."""
        return self.text.size(self.categories + self.confusing, self.confusing, self.asked)

    @override
    def lengths(self) -> tuple[int, ...]:
        return (self.categories,)

    @override
    def coordinates(self, length: int) -> Coordinates:
        if length != self.categories:
            raise OrdinateError(
                f"this list has {self.categories} categories, not {length}: write categories={length}"
            )
        return fields_of(text=self.words, price=length)

    @override
    def seen(self, axis: str, value: float) -> bool:
        return super().seen(axis, value) or (axis == "unseen" and value == 0)

    @override
    def sample(
        self,
        count: int,
        *,
        generator: Generator,
        length: int | None = None,
        scale: float = 1.0,
        unseen: int | float = 0,
        beyond: float | None = None,
    ) -> Batch:
        if beyond is not None:
            scale, unseen = beyond, 1
        check_count(count)
        check_scale(scale, self.low, self.high)
        coordinates = self.coordinates(self.categories if length is None else length)
        text = self.draw_text(count, bool(whole("unseen", unseen, 0, 1)), generator)
        prices = draw_numbers(
            count, self.categories, low=self.low, high=self.high, scale=scale, generator=generator
        )
        return self.compose(text, prices, coordinates)

    def draw_text(self, count: int, unseen: bool, generator: Generator) -> Text:
        """Draw names in order, entries without a price at random places, and a question."""

        def subsets(of: int, size: int) -> Int[Tensor, "count size"]:
            drawn = chances((count, of), generator)
            return drawn.argsort(-1)[:, :size].sort(-1).values

        def below(most: int, *shape: int) -> Int[Tensor, "..."]:
            return integers(0, most, shape, generator)

        entries = self.categories + self.confusing
        first = self.names if unseen else 0
        named = subsets(self.names, self.categories) + first
        letter = torch.empty(count, entries, dtype=torch.long, device=generator.device)
        sign = torch.full_like(letter, ABSENT)
        confusing = torch.zeros_like(letter, dtype=torch.bool)
        confusing.scatter_(1, subsets(entries, self.confusing), True)
        letter[~confusing] = named.flatten()
        letter[confusing] = below(self.names, count * self.confusing) + first
        sign[confusing] = below(len(SIGNS), count * self.confusing) + (len(SIGNS) if unseen else 0)
        query = torch.tensor([QUERIES.index(q) for q in self.queries], device=generator.device)
        asked = named.gather(1, subsets(self.categories, self.asked))
        return Text(letter, sign, query[below(len(self.queries), count)], asked)

    def compose(self, text: Text, prices: Float[Tensor, "batch category"], coordinates: Coordinates) -> Batch:
        """Write text and prices into one input, and answer it."""
        symbols = pad(self.text.write(text), (0, self.categories), value=PRICE)
        numbers = pad(prices, (self.words, 0))
        inputs = torch.stack([symbols.to(prices.dtype), numbers], dim=-1)
        return Batch(inputs, self.reference(inputs), coordinates)

    def read(self, inputs: Float[Tensor, "batch token 2"]) -> tuple[Text, Float[Tensor, "batch category"]]:
        """The text and the prices of an input."""
        symbols, prices = inputs[:, : self.words, 0].long(), inputs[:, self.words :, 1]
        return self.text.read(symbols, self.categories + self.confusing, self.confusing, self.asked), prices

    @override
    def reference(
        self, inputs: Float[Tensor, "batch token 2"], coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token 1"]:
        text, prices = self.read(inputs)
        chosen = (text.named[:, :, None] == text.asked[:, None]).any(-1)
        answers = torch.zeros_like(inputs[..., :1])
        answers[:, 0, 0] = answer(prices, chosen, text.query)
        return answers

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token out"]:
        return only_first(coordinates)

    @override
    def slice(self, name: str, batch: Batch) -> Int[Tensor, " batch"]:
        if name not in self.slices:
            return super().slice(name, batch)
        return self.read(batch.input)[0].query

    @override
    def free(self, coordinates: Coordinates, length: int) -> tuple[int, ...]:
        """The prices; letters of a text make sense only together."""
        return tuple(range(self.words, len(coordinates)))

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Float[Tensor, "batch token 2"]:
        inputs = batch.input.clone()
        inputs[:, token, 1] = torch.empty_like(inputs[:, token, 1]).uniform_(
            self.low, self.high, generator=generator
        )
        return inputs

    @override
    def token_texts(self, inputs: Float[Tensor, "batch token 2"]) -> list[str]:
        return [
            f"{price:.2f}" if int(symbol) == PRICE else SYMBOLS[int(symbol)]
            for symbol, price in inputs[0].tolist()
        ]

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        answers = batch.target[:, 0, 0].tolist()
        return rows(map(write_line, self.lines(batch.input)), (f"{y:.2f}" for y in answers))

    def lines(self, inputs: Float[Tensor, "batch token 2"]) -> list[PriceList]:
        """What every input says, to be written."""
        text, prices = self.read(inputs)
        return [PriceList(*row) for row in zip(*(part.tolist() for part in (*text, prices)), strict=True)]

    @override
    def parse(self, text: str) -> Batch:
        """Read a list with its prices and a question, as `show` writes them."""
        line = read_line(text)
        sizes = (len(line.prices), len(line.letters) - len(line.prices), len(line.asked))
        if sizes != (self.categories, self.confusing, self.asked):
            raise OrdinateError(
                f"this line has {sizes[0]} prices, {sizes[1]} entries without and {sizes[2]} names asked for: "
                f"write categories={sizes[0]}, confusing={sizes[1]}, asked={sizes[2]}"
            )
        said = Text(*(torch.tensor([part]) for part in line[:4]))
        return self.compose(said, torch.tensor([line.prices]), self.coordinates(self.categories))
