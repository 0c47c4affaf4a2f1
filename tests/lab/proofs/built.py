"""Scans whose weights are written by hand, with states that are known: parity, and addition column by column."""

from itertools import pairwise

import torch

from ordinate.lab.architectures import Scan, ScanSettings
from ordinate.lab.tasks.automata.machine import Machine
from ordinate.models import build_model


class Shape:
    """What a model asks of a task."""

    def __init__(self, features, outputs):
        self.features, self.outputs = features, outputs

    def lengths(self):
        return (4,)

    def trained(self):
        return ()


def zeros(features, outputs, width, hidden) -> Scan:
    model = build_model(ScanSettings(width=width, hidden=hidden), Shape(features, outputs), seed=0).eval()
    return model.requires_grad_(False).apply(lambda module: [p.zero_() for p in module.parameters()])


def put(linear, rows, biases=()):
    """Write the first rows of a map, and its first shifts."""
    for number, row in enumerate(rows):
        linear.weight[number, : len(row)] = torch.tensor(row, dtype=torch.float32)
    for number, bias in enumerate(biases):
        linear.bias[number] = bias


def parity_machine() -> Machine:
    return Machine.acceptor("01", step=[[0, 1], [1, 0]], accepting=[1])


def parity() -> Scan:
    """One sign: an odd number of ones. F(p, s) = 1 - |p + s|."""
    model = zeros(3, 2, width=1, hidden=2)
    step = model.layers[0]
    put(model.encode, [[0, 0, 1]])
    put(model.code, [[2]], [-1])
    put(step.back, [[1], [-1]])
    put(step.own, [[1], [-1]])
    put(step.middle, [[1, 0], [0, 1]])
    put(step.down, [[-1, -1]], [1])
    model.begin.fill_(-1)
    put(model.read, [[1, -1, -1, 1], [-1, 1, 1, -1]])
    put(model.decode, [[1, 1], [-1, -1]], [-1, 1])
    return model


def adder_machine() -> Machine:
    columns = [(x, y) for x in range(10) for y in range(10)]
    return Machine(
        tuple(f"{x}{y}" for x, y in columns),
        tuple("0123456789"),
        step=tuple(tuple(int(x + y + carry > 9) for x, y in columns) for carry in (0, 1)),
        emit=tuple(tuple((x + y + carry) % 10 for x, y in columns) for carry in (0, 1)),
        start=0,
    )


def adder_letters() -> torch.Tensor:
    digits = torch.eye(10)
    return torch.cat([digits.repeat_interleave(10, 0), digits.repeat(10, 1)], 1)


def adder() -> Scan:
    """Two signs: makes a carry; passes one on. F: makes = makes or (passes and made), passes = passes and passed."""
    model = zeros(20, 10, width=2, hidden=20)
    step, total = model.layers[0], [*range(10), *range(10)]
    put(model.encode, [total] * 4, [-8, -9, -10, -9])
    put(model.code, [[0, 2, -2], [2, -4, 2]], [-1, -1])
    put(step.back, [[0, 0], [1, 0], [0, 1]])
    put(step.own, [[1, 0], [0, 1], [0, 1]], [0, -1, -1])
    put(step.middle, [[1, 1], [0, 0, 1]])
    put(step.down, [[2], [0, 2]], [-1, -1])
    model.begin.fill_(-1)
    # v = sum + carry; hidden unit k is relu(v - k), a score bends at every k
    put(model.read, [[0.5, 0, *total]] * 20, [0.5 - k for k in range(20)])
    for digit in range(10):
        score = [float(v % 10 == digit) for v in range(20)]
        slopes = [b - a for a, b in pairwise(score)]
        model.decode.weight[digit, 0], model.decode.bias[digit] = slopes[0], score[0]
        for k in range(1, 19):
            model.decode.weight[digit, k] = slopes[k] - slopes[k - 1]
    return model
