"""Section `toeplitz`: heads of fixed kernels as convolutions, forward and backward in float32 on one thread.

The slope is that of log time over log tokens; equality is that of outputs and of all gradients against pairs laid out,
in float64, relative to the largest number of each.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from bench.growth import slope
from bench.relations import both_ways, times
from bench.rows import Progress, Row, at_least, at_most
from bench.settings import Settings, Shape
from ordinate.lab.architectures import Memory
from ordinate.lab.architectures.decay import by_lag, by_transform, decay_attention, toeplitz_attention
from ordinate.lab.evaluation.cost import Call, seconds_of
from ordinate.lab.tasks import make_task
from ordinate.lab.threads import threads
from ordinate.models import build_model

SUMMARY = (
    "heads of fixed kernels by FFT: growth to 64 k tokens, equality with pairs laid out, a training step"
)


def run(settings: Settings, progress: Progress) -> list[Row]:
    """Growth, equality, the choice, and a step of training at the longest sequence."""
    with threads(1):
        progress("growth")
        rows = growth_rows(settings)
        progress("equality")
        rows += equality_rows(settings.kernels_equal)
        progress("the choice")
        for shape in settings.kernel_choices:
            rows += choice_rows(shape, settings)
        progress("a training step")
        rows.append(step_row(settings))
    return rows


def growth_rows(settings: Settings) -> list[Row]:
    """One sample at every length."""
    lengths, shape = settings.kernel_lengths, settings.kernels_equal
    shapes = [Shape(1, tokens, shape.width, shape.heads) for tokens in lengths]
    seconds = times(settings, *(sides(one)[1] for one in shapes))
    rows = [Row(f"FFT at {n} tokens", s, "s") for n, s in zip(lengths, seconds, strict=True)]
    return [*rows, at_most("FFT: slope over tokens", slope(lengths, seconds), "log s / log size", 1.2)]


def equality_rows(shape: Shape) -> list[Row]:
    """Both ways in float64, for kernels e^{-ps} and s^{-p}, under a softmax and without."""
    worst = [0.0, 0.0]
    lag = torch.arange(shape.tokens, dtype=torch.float64)
    linear, logarithm = lag, torch.log(lag.clamp(min=1))
    for fall in (linear, logarithm):
        for normalised in (True, False):
            x, slopes = _leaves(shape, torch.float64)
            lags = _lags(slopes, fall, hidden=fall is logarithm)
            found = []
            for function in (_dense, toeplitz_attention):
                out = function(x, lags, normalised=normalised)
                gradients = torch.autograd.grad(out.sin().sum(), (x, slopes), retain_graph=True)
                found.append((out.detach(), *gradients))
            apart = [float((a - b).abs().max() / a.abs().max()) for a, b in zip(*found, strict=True)]
            worst = [max(worst[0], apart[0]), max(worst[1], *apart[1:])]
    return [
        at_most(f"outputs at {shape.tokens} tokens, relative difference", worst[0], "", 1e-10),
        at_most(f"gradients at {shape.tokens} tokens, relative difference", worst[1], "", 1e-10),
    ]


def choice_rows(shape: Shape, settings: Settings) -> list[Row]:
    """What is chosen for a shape against what is not."""
    dense, transformed = times(settings, *sides(shape))
    chosen = by_transform(torch.empty(shape.batch, shape.tokens, shape.width))
    ratio = dense / transformed if chosen else transformed / dense
    name = f"choice at {shape.tokens} tokens of {shape.batch} samples, {'FFT' if chosen else 'pairs'}"
    return [at_least(f"{name}: other / chosen", ratio, "x", 1.0)]


def step_row(settings: Settings) -> Row:
    """Forward, backward and update of a whole model at the longest sequence."""
    task = make_task("decaying-memory", length=settings.kernel_lengths[-1])
    model = build_model(Memory(), task, seed=0)
    optimizer = torch.optim.Adam(model.parameters())
    batch = task.sample(1, generator=torch.Generator().manual_seed(0))

    def step() -> None:
        optimizer.zero_grad()
        (model(batch.input, batch.coordinates) - batch.target).square().mean().backward()
        optimizer.step()

    step()
    return Row(f"training step at {settings.kernel_lengths[-1]} tokens", seconds_of(step), "s")


def sides(shape: Shape) -> tuple[Call, Call]:
    """Pairs laid out, and FFT, with the kernels e^{-ps} under a softmax."""
    x, slopes = _leaves(shape, torch.float32)
    lag = torch.arange(shape.tokens, dtype=torch.float32)

    def side(function: Callable[..., Tensor]) -> Call:
        return both_ways(lambda: function(x, _lags(slopes, lag), normalised=True), x, slopes)

    return side(_dense), side(toeplitz_attention)


def _dense(x: Tensor, lags: Tensor, *, normalised: bool) -> Tensor:
    return decay_attention(x, by_lag(lags)[None], normalised=normalised)


def _leaves(shape: Shape, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Tokens, and a slope a head."""
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(shape.batch, shape.tokens, shape.width, generator=draw, dtype=dtype)
    slopes = torch.rand(shape.heads, 1, generator=draw, dtype=dtype) + 0.01
    return x.requires_grad_(), slopes.requires_grad_()


def _lags(slopes: Tensor, fall: Tensor, *, hidden: bool = False) -> Tensor:
    """-p fall, without lag 0 where it is hidden."""
    lags = -slopes * fall
    return lags.index_fill(1, torch.tensor([0]), float("-inf")) if hidden else lags
