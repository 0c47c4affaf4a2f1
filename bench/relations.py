"""Section `relations`: attention over classes of pairs, forward and backward in float32 on one thread.

Sides take turns. The other side of Shaw's keys is the form that gathers a vector for every pair into [query, key, dim]
and contracts it with the queries. Memory is the largest sum of live allocations of PyTorch's CPU allocator during one
pass, as its profiler records every one of them: it counts what a pass allocates, temporary tensors inside operations
included, and not what the process held before or keeps for later.
"""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from bench.growth import slope
from bench.rows import Progress, Row, at_least, at_most
from bench.settings import Settings, Shape
from ordinate.attention import dense_attention, sparse_attention
from ordinate.attention.classes import is_sparse
from ordinate.lab.evaluation.cost import Call, alternate, peak_bytes, seconds_of
from ordinate.lab.runs import keep_freed_memory
from ordinate.lab.threads import threads
from ordinate.relations.pattern import Pattern

SUMMARY = "attention over classes of pairs: time and memory against gathered vectors, sparse against dense"

Core = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Queries, keys and values [batch, head, token, dim] to what they mix."""


def run(settings: Settings, progress: Progress) -> list[Row]:
    """A layer with and without classes, the two forms of Shaw's keys, sparse against dense, growth, the choice."""
    with threads(1):
        progress("a layer with and without classes")
        rows = layer_rows(settings)
        for shape, least in ((settings.shaw_short, 1.0), (settings.shaw_long, 1.5)):
            progress(f"Shaw's keys, {shape.tokens} tokens")
            rows += shaw_rows(shape, least, settings)
        progress("the same in a process that keeps freed memory")
        rows += kept_rows(settings.shaw_long, settings)
        progress("memory")
        rows += memory_rows(settings.shaw_long)
        progress("sparse and dense")
        rows += sparse_rows(settings)
        progress("growth")
        rows += growth_rows(settings)
        progress("the choice")
        for shape in settings.choices:
            rows += choice_rows(shape, settings)
    return rows


def layer_rows(settings: Settings) -> list[Row]:
    """A whole layer; the one without classes takes the faster of our dense attention and PyTorch's own."""
    shape = settings.layer
    pattern, scale = relative_pattern(shape.tokens), shape.dim**-0.5
    vectors = nn.Parameter(torch.randn(1, pattern.classes, shape.dim))
    x = torch.randn(shape.batch, shape.tokens, shape.width, requires_grad=True)
    maps = [nn.Linear(shape.width, shape.width) for _ in range(4)]

    def layer(core: Core) -> Call:
        def forward() -> Tensor:
            parts = [m(x).unflatten(-1, (shape.heads, shape.dim)).transpose(1, 2) for m in maps[:3]]
            return maps[3](core(parts[0], parts[1], parts[2]).transpose(1, 2).flatten(2))  # type: ignore[no-any-return]

        return both_ways(forward, x, vectors, *(p for m in maps for p in m.parameters()))

    with_classes, ours, torchs = times(
        settings,
        layer(lambda q, k, v: dense_attention(q, k, v, pattern, vectors=vectors, scale=scale)),
        layer(lambda q, k, v: dense_attention(q, k, v, pattern, scale=scale)),
        layer(F.scaled_dot_product_attention),
    )
    return [
        Row(f"layer at {shape.tokens} tokens, relative classes", with_classes, "s"),
        Row(f"layer at {shape.tokens} tokens, no classes", ours, "s"),
        Row(f"layer at {shape.tokens} tokens, no classes, PyTorch's attention", torchs, "s"),
        at_most("layer: relative classes / none", with_classes / min(ours, torchs), "x", 1.5),
    ]


def shaw_rows(shape: Shape, least: float, settings: Settings) -> list[Row]:
    """Relative classes on keys against gathered vectors."""
    ours, theirs = times(settings, *shaw_sides(shape))
    name = f"Shaw's keys at {shape.tokens} tokens"
    return [
        Row(f"{name}, ours", ours, "s"),
        Row(f"{name}, gathered", theirs, "s"),
        at_least(f"{name}: gathered / ours", theirs / ours, "x", least),
    ]


def kept_rows(shape: Shape, settings: Settings) -> list[Row]:
    """The same in a process that keeps freed memory, as those that train do: what is gathered is the larger block."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        ours, theirs = pool.submit(_kept_times, shape, settings).result()
    name = f"Shaw's keys at {shape.tokens} tokens, freed memory kept"
    return [
        Row(f"{name}, ours", ours, "s"),
        Row(f"{name}, gathered", theirs, "s"),
        at_least(f"{name}: gathered / ours", theirs / ours, "x", 1.5),
    ]


def _kept_times(shape: Shape, settings: Settings) -> list[float]:
    keep_freed_memory()
    with threads(1):
        return times(settings, *shaw_sides(shape))


def memory_rows(shape: Shape) -> list[Row]:
    """What one pass of each side allocates at most."""
    ours, theirs = (peak_bytes(side) for side in shaw_sides(shape))
    name = f"Shaw's keys at {shape.tokens} tokens"
    return [
        Row(f"{name}: memory, ours", ours / 2**20, "MiB"),
        Row(f"{name}: memory, gathered", theirs / 2**20, "MiB"),
        at_most(f"{name}: memory, ours / gathered", ours / theirs, "x", 0.25),
    ]


def sparse_rows(settings: Settings) -> list[Row]:
    """content x class in a window."""
    shape = settings.window_long
    dense, sparse = times(settings, *window_sides(shape, settings.window_keys))
    name = f"window at {shape.tokens} tokens"
    return [
        Row(f"{name}, dense", dense, "s"),
        Row(f"{name}, sparse", sparse, "s"),
        at_least(f"{name}: dense / sparse", dense / sparse, "x", 10.0),
    ]


def growth_rows(settings: Settings) -> list[Row]:
    """Sparse attention along the number of tokens, one sample."""
    lengths = settings.window_lengths
    shapes = [Shape(1, n, settings.window_long.width, settings.window_long.heads) for n in lengths]
    seconds = times(settings, *(window_sides(shape, settings.window_keys)[1] for shape in shapes))
    rows = [Row(f"sparse at {n} tokens", s, "s") for n, s in zip(lengths, seconds, strict=True)]
    return [*rows, at_most("sparse: slope over tokens", slope(lengths, seconds), "log s / log size", 1.15)]


def choice_rows(shape: Shape, settings: Settings) -> list[Row]:
    """What `attend` chooses against what it does not."""
    dense, sparse = times(settings, *window_sides(shape, settings.window_keys))
    chosen = is_sparse(window_pattern(shape.tokens, settings.window_keys))
    ratio = dense / sparse if chosen else sparse / dense
    name = f"choice at {shape.tokens} tokens, {'sparse' if chosen else 'dense'}"
    return [at_least(f"{name}: other / chosen", ratio, "x", 1.0)]


def shaw_sides(shape: Shape) -> tuple[Call, Call]:
    """Ours, and the gathered form."""
    pattern, scale = relative_pattern(shape.tokens), shape.dim**-0.5
    vectors = torch.randn(1, pattern.classes, shape.dim, requires_grad=True)
    query, key, value = (shape.draw() for _ in range(3))
    leaves = query, key, value, vectors
    classes = pattern.dense
    return (
        both_ways(lambda: dense_attention(query, key, value, pattern, vectors=vectors, scale=scale), *leaves),
        both_ways(lambda: gathered_attention(query, key, value, classes, vectors[0], scale), *leaves),
    )


def window_sides(shape: Shape, keys: int) -> tuple[Call, Call]:
    """Dense and sparse, content x class."""
    pattern = window_pattern(shape.tokens, keys)
    vectors = torch.randn(1, keys, shape.dim, requires_grad=True)
    query, value = shape.draw(), shape.draw()

    def side(function: Callable[..., Tensor]) -> Call:
        return both_ways(
            lambda: function(query, None, value, pattern, vectors=vectors, scale=shape.dim**-0.5),
            *(query, value, vectors),
        )

    return side(dense_attention), side(sparse_attention)


def gathered_attention(
    query: Float[Tensor, "batch head token dim"],
    key: Float[Tensor, "batch head token dim"],
    value: Float[Tensor, "batch head token dim"],
    classes: Int[Tensor, "token token"],
    vectors: Float[Tensor, "cls dim"],
    scale: float,
) -> Float[Tensor, "batch head token dim"]:
    """The other side: score[i, j] = q_i . k_j + q_i . a[i, j] with the vectors a of all pairs laid out."""
    gathered = F.embedding(classes, vectors)
    scores = query @ key.transpose(-1, -2) + torch.einsum("bhld,lrd->bhlr", query, gathered)
    return torch.softmax(scores * scale, -1) @ value


def relative_pattern(tokens: int) -> Pattern:
    """A class for every offset from query to key."""
    place = torch.arange(tokens)
    query, key = place.repeat_interleave(tokens), place.repeat(tokens)
    return Pattern(tokens, 2 * tokens - 1, query, key, key - query + tokens - 1, (0, tokens))


def window_pattern(tokens: int, keys: int) -> Pattern:
    """Each query looks at itself and at the tokens before it, `keys` in all, a class for each."""
    query, back = torch.arange(tokens).repeat_interleave(keys), torch.arange(keys).repeat(tokens)
    inside = query >= back
    query, back = query[inside], back[inside]
    return Pattern(tokens, keys, query, query - back, back, (0, tokens))


def both_ways(forward: Callable[[], Tensor], *leaves: Tensor) -> Call:
    """A forward pass, and a backward pass to all leaves that take part."""

    def call() -> None:
        out = forward()
        torch.autograd.grad(out, leaves, torch.ones_like(out), allow_unused=True)

    return call


def times(settings: Settings, *calls: Call) -> list[float]:
    """Seconds of each call, in turns; short calls are repeated to fill a slice."""
    for call in calls:
        call()
    return alternate(settings.repeats, *(_slice(call, settings.relation_slice) for call in calls))


def _slice(call: Call, seconds: float) -> Callable[[], float]:
    count = max(1, int(seconds / seconds_of(call)))
    return lambda: seconds_of(lambda: [call() for _ in range(count)]) / count
