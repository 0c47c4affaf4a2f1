"""Section `steps`: what a training step does beside its products of tokens, float32 on one thread.

Muon's orthogonal parts of wide matrices, by rounds that read squares alone and by rounds that multiply the matrices
themselves; dropout there and back, from 16 random bits a number and as PyTorch has it.
"""

import torch
import torch.nn.functional as F

from bench.relations import both_ways, times
from bench.rows import Progress, Row, at_least
from bench.settings import Settings
from ordinate.lab.threads import threads
from ordinate.lab.training.muon import rounds, rounds_of_squares
from ordinate.models.encoder import dropout

SUMMARY = "parts of a training step: Muon's orthogonal parts, dropout"
RATE = 0.1


def run(settings: Settings, progress: Progress) -> list[Row]:
    """Muon at several widths, then dropout."""
    with threads(1):
        progress("orthogonal parts")
        rows = [row for columns in settings.wide for row in muon_rows(settings.rows, columns, settings)]
        progress("dropout")
        return rows + dropout_rows(settings)


def muon_rows(rows: int, columns: int, settings: Settings) -> list[Row]:
    """Five matrices at once, the layers of a small model."""
    draw = torch.randn(5, rows, columns, generator=torch.Generator().manual_seed(0))
    x = draw / draw.norm(dim=(-2, -1), keepdim=True)
    plain, squares = times(settings, lambda: rounds(x), lambda: rounds_of_squares(x))
    name = f"orthogonal parts of 5 x {rows} x {columns}"
    return [
        Row(f"{name}, squares", squares, "s"),
        at_least(f"{name}: matrices / squares", plain / squares, "x", 1.0),
    ]


def dropout_rows(settings: Settings) -> list[Row]:
    """On the tokens of a batch."""
    shape = settings.dropped
    x = torch.randn(shape.batch, shape.tokens, shape.width, requires_grad=True)
    theirs, ours = times(
        settings, both_ways(lambda: F.dropout(x, RATE), x), both_ways(lambda: dropout(x, RATE), x)
    )
    name = f"dropout on {shape.batch} x {shape.tokens} x {shape.width}"
    return [Row(f"{name}, ours", ours, "s"), at_least(f"{name}: PyTorch / ours", theirs / ours, "x", 1.0)]
