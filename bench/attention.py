"""Section `attention`: Inkling's layer, and biases of distance, against how others compute them; forward and backward.

Inkling's layer is score_ij = q_i . k_j / d + r_i . A[i - j] over the last `keys` tokens, with a short vector r of the
token and a table A for the distance. The other sides, each given what ours is given:

    transformers    its own module lays the logits out for all pairs, and PyTorch's kernel gets them as a mask
    gathered        the vectors A of all pairs are laid out, [query, key, d_rel], and contracted with r
    dense bias      one learned number for every head and distance, laid out as the mask of PyTorch's kernel
    x-transformers  its ALiBi and T5 biases as the mask of PyTorch's kernel; in the extra `peers`

Sides take turns, in float32, in a process that keeps freed memory, with one thread and with two. Where others use the
machine, two threads wait for each other at every operation, and the side with the most operations the longest: how many
processes wanted to run is stated.
"""

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from multiprocessing import get_context

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn import Module

from bench.growth import slope
from bench.relations import both_ways, times, window_pattern
from bench.rows import Progress, Row, at_least, at_most
from bench.settings import Layer, Settings
from ordinate.attention import attend, plan
from ordinate.encodings.bias import bucket, slopes
from ordinate.lab.evaluation.cost import Call, peak_bytes
from ordinate.lab.runs import keep_freed_memory
from ordinate.lab.threads import threads

SUMMARY = "Inkling's layer and biases of distance against transformers, gathered vectors, PyTorch and x-transformers"

LEAST = {(2048, 64): 12.0, (2048, 512): 4.0, (4096, 512): 6.0}
"""How many times as fast as transformers, by tokens and window."""


def run(settings: Settings, progress: Progress) -> list[Row]:
    """In a process of its own, which keeps freed memory as those that train do."""
    rows, settings = [], replace(settings, repeats=settings.growth_repeats)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        pool.submit(keep_freed_memory).result()
        for count in settings.attention_threads:
            progress(f"{count} thread{'s' * (count > 1)}")
            rows += pool.submit(_with_threads, count, settings).result()
        progress("growth")
        rows += pool.submit(_growth_rows, settings).result()
    return rows


def _with_threads(count: int, settings: Settings) -> list[Row]:
    rows = [Row(f"threads {count}: processes that want to run on the machine", os.getloadavg()[0], "of all")]
    with threads(count):
        for layer in settings.inkling:
            rows += inkling_rows(layer, count, settings)
        for layer in settings.biased:
            rows += bias_rows(layer, count, settings)
        if find_spec("x_transformers"):
            for layer in settings.biased:
                if layer.keys == layer.tokens:
                    rows += peer_rows(layer, count, settings)
    return rows


def inkling_rows(layer: Layer, count: int, settings: Settings) -> list[Row]:
    """Time, and with one thread memory."""
    sides = {"ours": inkling(layer)}
    if find_spec("transformers"):
        sides["transformers"] = inkling_transformers(layer)
    if layer.tokens**2 * layer.looked <= settings.gathered:
        sides["gathered"] = inkling_gathered(layer)
    name = f"Inkling, {layer}, threads {count}"
    seconds = dict(zip(sides, times(settings, *sides.values()), strict=True))
    rows = [Row(f"{name}: {side}", value, "s") for side, value in seconds.items()]
    for side in list(sides)[1:]:
        least = LEAST.get((layer.tokens, layer.keys)) if side == "transformers" else None
        rows.append(_ratio(f"{name}: {side} / ours", seconds[side] / seconds["ours"], least))
    if count == 1 and "transformers" in sides:
        ours, theirs = (peak_bytes(sides[side]) for side in ("ours", "transformers"))
        rows += [
            Row(f"{name}: memory, ours", ours / 2**20, "MiB"),
            Row(f"{name}: memory, transformers", theirs / 2**20, "MiB"),
            at_most(f"{name}: memory, ours / transformers", ours / theirs, "x", 0.5),
        ]
    return rows


def bias_rows(layer: Layer, count: int, settings: Settings) -> list[Row]:
    """A learned number for every head and distance."""
    ours, theirs = times(settings, *bias_sides(layer))
    name = f"bias of distance, {layer}, threads {count}"
    return [
        Row(f"{name}: ours", ours, "s"),
        Row(f"{name}: dense bias", theirs, "s"),
        at_least(f"{name}: dense bias / ours", theirs / ours, "x", 1.0),
    ]


def peer_rows(layer: Layer, count: int, settings: Settings) -> list[Row]:
    """The biases of x-transformers, causal, over all tokens."""
    from x_transformers.x_transformers import AlibiPositionalBias, RelativePositionBias

    far = torch.arange(layer.tokens)
    t5 = RelativePositionBias(scale=layer.dim**0.5, causal=True, heads=layer.heads)
    table = t5.relative_attention_bias.weight
    alibi = AlibiPositionalBias(layer.heads)
    falls = torch.tensor(slopes(layer.heads))[:, None] * -far
    # Theirs are causal, with 32 buckets behind; ours has as many ahead, which no key is in.
    buckets = bucket(-far, 64, 128)
    rows = []
    for kind, module, learned, bias in (
        ("T5", t5, [table], lambda: layer.dim**0.5 * table.T[:, buckets]),
        ("ALiBi", alibi, [], lambda: falls),
    ):
        ours, theirs = times(settings, *_masked(layer, learned, bias, module))
        name = f"{kind} of x-transformers, {layer}, threads {count}"
        rows += [Row(f"{name}: ours", ours, "s"), Row(f"{name}: theirs", theirs, "s")]
        rows.append(_ratio(f"{name}: theirs / ours", theirs / ours, None))
    return rows


def _ratio(name: str, value: float, least: float | None) -> Row:
    return Row(name, value, "x") if least is None else at_least(name, value, "x", least)


def _growth_rows(settings: Settings) -> list[Row]:
    """Ours along the tokens, the window as it is."""
    keys, lengths = settings.grown_keys, settings.grown
    rows = []
    with threads(1):
        seconds = times(settings, *(inkling(Layer(tokens, keys)) for tokens in lengths))
    rows = [Row(f"Inkling, {Layer(n, keys)}: ours", s, "s") for n, s in zip(lengths, seconds, strict=True)]
    name = f"Inkling, window of {keys}: slope over tokens"
    return [*rows, at_most(name, slope(lengths, seconds), "log s / log size", 1.15)]


def inkling(layer: Layer) -> Call:
    """By `attend`, on the path that it chooses."""
    query, key, value, look, table = operands(layer)
    pattern = window_pattern(layer.tokens, layer.keys)
    scale = 1 / layer.dim

    def forward() -> Tensor:
        return attend(query, key, value, pattern, vectors=table.T[None], look=look / scale, scale=scale)

    return both_ways(forward, query, key, value, look, table)


def path(layer: Layer) -> str:
    """What `attend` chooses for the layer."""
    pattern = window_pattern(layer.tokens, layer.keys)
    return plan(pattern, rows=layer.heads, device=torch.device("cpu")).path


def inkling_transformers(layer: Layer) -> Call:
    """The module and the attention function of transformers, with the mask that it makes once for all layers."""
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.models.inkling.modeling_inkling import InklingRelativeLogits

    query, key, value, look, table = operands(layer)
    logits = InklingRelativeLogits(layer.looked, layer.keys)
    logits.proj = torch.nn.Parameter(table.detach())
    place, mask = torch.arange(layer.tokens), causal_mask(layer)[None, None]
    attention = Module()
    attention.num_key_value_groups, attention.is_causal = 1, True  # type: ignore[assignment]

    def forward() -> Tensor:
        bias = logits(look.transpose(1, 2), place, place)
        out: Tensor = sdpa_attention_forward(
            attention, query, key, value, mask, scaling=1 / layer.dim, position_bias=bias
        )[0]
        return out.transpose(1, 2)

    return both_ways(forward, query, key, value, look, logits.proj)


def inkling_gathered(layer: Layer) -> Call:
    """A vector for every pair, laid out."""
    query, key, value, look, table = operands(layer)
    far = distances(layer.tokens).clamp(0, layer.keys - 1)
    mask = causal_mask(layer)

    def forward() -> Tensor:
        vectors = F.embedding(far, table.T)
        scores = query @ key.mT / layer.dim + torch.einsum("bhid,ijd->bhij", look, vectors) + mask
        return torch.softmax(scores, -1) @ value

    return both_ways(forward, query, key, value, look, table)


def bias_sides(layer: Layer) -> tuple[Call, Call]:
    """Ours, and PyTorch's kernel with the bias laid out."""
    table = torch.randn(layer.heads, layer.keys, requires_grad=True)
    far = distances(layer.tokens).clamp(0, layer.keys - 1)
    return _masked(layer, [table], lambda: table, lambda i, j: table[:, far])


def _masked(
    layer: Layer, learned: list[Tensor], ours: Callable[[], Tensor], theirs: Callable[[int, int], Tensor]
) -> tuple[Call, Call]:
    """A bias for every distance by `attend`; laid out for all pairs, with the causal mask, by PyTorch's kernel."""
    query, key, value, _, _ = operands(layer)
    pattern, mask, leaves = window_pattern(layer.tokens, layer.keys), causal_mask(layer), (query, key, value)
    scale = layer.dim**-0.5

    def by_attend() -> Tensor:
        return attend(query, key, value, pattern, bias=ours(), scale=scale)

    def by_pytorch() -> Tensor:
        bias = (theirs(layer.tokens, layer.tokens) + mask)[None]
        return F.scaled_dot_product_attention(query, key, value, attn_mask=bias, scale=scale)

    return both_ways(by_attend, *leaves, *learned), both_ways(by_pytorch, *leaves, *learned)


def operands(layer: Layer) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Queries, keys and values, the short vectors, and the table [d_rel, distance], the same for every side."""
    draw = torch.Generator().manual_seed(0)

    def heads(dim: int) -> Tensor:  # as a projection leaves them
        x = torch.randn(1, layer.tokens, layer.heads, dim, generator=draw)
        return x.transpose(1, 2).requires_grad_()

    wide = heads(layer.dim), heads(layer.dim), heads(layer.dim)
    table = torch.randn(layer.looked, layer.keys, generator=draw, requires_grad=True)
    return *wide, heads(layer.looked), table


def distances(tokens: int) -> Tensor:
    """How far a key is behind its query."""
    place = torch.arange(tokens)
    return place[:, None] - place


def causal_mask(layer: Layer) -> Tensor:
    """Minus infinity where a pair is not in the window."""
    far = distances(layer.tokens)
    return torch.zeros(far.shape).masked_fill_((far < 0) | (far >= layer.keys), float("-inf"))
