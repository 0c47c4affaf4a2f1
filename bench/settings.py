"""How much is measured: the full benchmark, and a quick one that proves the path in seconds."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor


@dataclass(frozen=True)
class Mode:
    """A way to train many seeds: the precision, and how many seeds one process trains at once."""

    precision: Literal["float32", "bfloat16"]
    members: int = 1

    @property
    def name(self) -> str:
        """What a reader calls it.

        >>> Mode("float32", 4).name, Mode("bfloat16").name
        ('float32, 4 seeds at once', 'bfloat16')
        """
        return self.precision + (f", {self.members} seeds at once" if self.members > 1 else "")


@dataclass(frozen=True)
class Shape:
    """A batch of sequences for attention."""

    batch: int
    tokens: int
    width: int
    heads: int

    @property
    def dim(self) -> int:
        """Width of a head."""
        return self.width // self.heads

    def draw(self) -> Tensor:
        """Random queries, keys or values [batch, head, token, dim], laid out as a projection leaves them."""
        parts = torch.randn(self.batch, self.tokens, self.heads, self.dim)
        return parts.transpose(1, 2).requires_grad_()


@dataclass(frozen=True)
class Layer:
    """One sample for attention over the last `keys` tokens: heads of `dim` numbers, short vectors of `looked`."""

    tokens: int
    keys: int
    heads: int = 8
    dim: int = 64
    looked: int = 16

    def __str__(self) -> str:
        return f"{self.tokens} tokens, window of {self.keys}"


@dataclass(frozen=True)
class Settings:
    """Sizes of all sections."""

    repeats: int
    """Slices of each side; sides take turns, and the median of the slices counts."""
    steps: int
    """Training steps in a slice, after as many to warm up."""
    batch: int
    samples: int
    """Size of the fixed training set."""
    tests: int
    """Size of the validation set and of each test set."""
    drawn: int
    """Sequences that ours draws in a slice of data generation."""
    made: int
    """Samples that the textbook makes in such a slice."""
    numeric_steps: int
    numeric_seeds: int
    matmul: int
    """Side of the square matrices whose product measures the machine's peak."""
    window: float
    """Seconds in which all processes count their steps."""
    threads: int | None
    """Threads of the textbook, and of ours where both run in one process; one for each core where None."""
    workers: int | None
    """Processes of the best mode; one for each core where None."""
    modes: tuple[Mode, ...]
    """Candidates for the best mode; those in bfloat16 are tried where it is faster."""
    seeds: int
    quality_steps: int
    laptop_steps: int | None
    """Steps of the `laptop` recipe; its own number where None."""
    validation: int
    """Size of the set on which both sides are scored in `time-to-quality`."""
    patience: float
    """How many times our time the textbook gets to reach our loss."""
    growth_repeats: int
    growth_steps: int
    growth_batch: int
    lengths: tuple[int, ...]
    batches: tuple[int, ...]
    depths: tuple[int, ...]
    layer: Shape
    """A layer of attention with classes of pairs."""
    shaw_short: Shape
    shaw_long: Shape
    window_long: Shape
    window_lengths: tuple[int, ...]
    window_keys: int
    """How many tokens a query of the window looks at."""
    choices: tuple[Shape, ...]
    """Where the choice between dense and sparse is checked."""
    relation_slice: float
    """Seconds that short calls are repeated for."""
    attention_threads: tuple[int, ...]
    inkling: tuple[Layer, ...]
    gathered: int
    """Numbers of vectors laid out for all pairs up to which that side takes part."""
    biased: tuple[Layer, ...]
    grown: tuple[int, ...]
    """Tokens along which the time of attention in a window grows."""
    grown_keys: int
    kernels_equal: Shape
    """Where heads of fixed kernels by FFT are compared with pairs laid out; their growth has its width and heads."""
    kernel_lengths: tuple[int, ...]
    kernel_choices: tuple[Shape, ...]
    """Where the choice between FFT and pairs is checked; width and heads are independent there."""
    rows: int
    wide: tuple[int, ...]
    """Rows and columns of matrices whose orthogonal parts are found."""
    dropped: Shape
    """Tokens that some numbers are dropped of."""


FULL = Settings(
    repeats=5,
    steps=30,
    batch=1000,
    samples=30_000,
    tests=1000,
    drawn=30_000,
    made=1000,
    numeric_steps=100,
    numeric_seeds=3,
    matmul=2048,
    window=5.0,
    threads=None,
    workers=None,
    modes=tuple(Mode(precision, k) for precision in ("float32", "bfloat16") for k in (1, 2, 4)),
    seeds=5,
    quality_steps=1500,
    laptop_steps=None,
    validation=10_000,
    patience=5.0,
    growth_repeats=3,
    growth_steps=10,
    growth_batch=256,
    lengths=(4, 8, 16, 32, 64),
    batches=(64, 128, 256, 512, 1024, 2048, 4096),
    depths=(2, 3, 4, 5, 6, 7, 8),
    layer=Shape(batch=64, tokens=101, width=768, heads=8),
    shaw_short=Shape(batch=8, tokens=101, width=256, heads=4),
    shaw_long=Shape(batch=8, tokens=512, width=256, heads=4),
    window_long=Shape(batch=8, tokens=2048, width=64, heads=4),
    window_lengths=(256, 1024, 4096, 16384),
    window_keys=10,
    choices=(Shape(batch=128, tokens=17, width=64, heads=4), Shape(batch=8, tokens=2001, width=64, heads=4)),
    relation_slice=0.2,
    attention_threads=(1, 2),
    inkling=(Layer(1024, 128), Layer(2048, 64), Layer(2048, 512), Layer(4096, 512)),
    gathered=2**26,
    biased=tuple(Layer(n, keys) for n in (256, 512, 1024) for keys in (64, n)),
    grown=(1024, 4096, 16384, 65536),
    grown_keys=64,
    kernels_equal=Shape(batch=2, tokens=512, width=4, heads=8),
    kernel_lengths=(1024, 2048, 4096, 8192, 16384, 32768, 65536),
    kernel_choices=(
        Shape(batch=64, tokens=32, width=4, heads=4),
        Shape(batch=8, tokens=1024, width=4, heads=4),
    ),
    rows=128,
    wide=(192, 256, 384, 512),
    dropped=Shape(batch=64, tokens=19, width=128, heads=8),
)

QUICK = Settings(
    repeats=2,
    steps=2,
    batch=50,
    samples=100,
    tests=20,
    drawn=200,
    made=5,
    numeric_steps=30,
    numeric_seeds=1,
    matmul=64,
    window=0.2,
    threads=1,
    workers=1,
    modes=(Mode("float32"), Mode("bfloat16", 2)),
    seeds=3,
    quality_steps=8,
    laptop_steps=4,
    validation=100,
    patience=1.0,
    growth_repeats=1,
    growth_steps=1,
    growth_batch=16,
    lengths=(4, 8),
    batches=(16, 32),
    depths=(1, 2),
    layer=Shape(batch=2, tokens=9, width=8, heads=2),
    shaw_short=Shape(batch=2, tokens=9, width=8, heads=2),
    shaw_long=Shape(batch=2, tokens=64, width=32, heads=2),
    window_long=Shape(batch=2, tokens=64, width=8, heads=2),
    window_lengths=(16, 32),
    window_keys=3,
    choices=(Shape(batch=2, tokens=9, width=8, heads=2), Shape(batch=2, tokens=200, width=8, heads=2)),
    relation_slice=0.0,
    attention_threads=(1,),
    inkling=(Layer(40, 8, heads=2, dim=8, looked=4),),
    gathered=2**26,
    biased=(Layer(40, 8, heads=2, dim=8),),
    grown=(32, 64),
    grown_keys=8,
    kernels_equal=Shape(batch=2, tokens=40, width=2, heads=2),
    kernel_lengths=(64, 128, 256),
    kernel_choices=(
        Shape(batch=8, tokens=16, width=2, heads=2),
        Shape(batch=1, tokens=256, width=2, heads=2),
    ),
    rows=8,
    wide=(16, 32),
    dropped=Shape(batch=2, tokens=9, width=8, heads=2),
)
