"""Columns and heads of a compiled program in words, and its picture."""

import numpy as np
import pytest
import torch

from ordinate.lab.explain.explanation import walk
from ordinate.lab.programs.collection import PROGRAMS
from ordinate.lab.programs.compiler.compile import compile_program
from ordinate.lab.programs.compiler.graph import Pattern
from ordinate.lab.programs.compiler.labels import labels, write_pattern
from ordinate.lab.report.programs import draw_walk, example_inputs


def test_the_columns_of_prefix_sum():
    found = labels(compile_program(PROGRAMS["prefix-sum"], 8).allocation)
    assert found.columns == (("x",), ("x + r1",), ("x + r1 + r2",), ("x + r1 + r2 + r3",))
    assert [[(m.source, m.words) for m in layer] for layer in found.messages] == [
        [("i - 1", ("r1 = x",))],
        [("i - 2", ("r2 = x + r1",))],
        [("i - 4", ("r3 = x + r1 + r2",))],
    ]


@pytest.mark.parametrize(
    ("source", "weight", "text"),
    [
        ([-1, -1, -1], 1.0, "nowhere"),
        ([0, 1, -1], 0.5, "i, scaled"),
        ([0, 0, 1], 1.0, "i - 1 or i"),
        ([1, 2, -1], 1.0, "i + 1"),
        ([2, 2, 2], 1.0, "2 or i"),
        ([2, 0, 1], 1.0, "a table"),
    ],
)
def test_patterns(source, weight, text):
    assert write_pattern(Pattern(np.array(source), np.full(3, weight))) == text


@pytest.mark.parametrize("name", ["prefix-sum", "addition", "fft"])
def test_a_walk_ends_at_the_answer_and_is_drawn(name):
    compiled = compile_program(PROGRAMS[name], 4, torch.float64)
    inputs = example_inputs(compiled.program.ranges(4), 4)
    steps = walk(compiled.model, labels(compiled.allocation), torch.from_numpy(inputs))
    assert len(steps) == compiled.costs.layers + 1
    last = steps[-1].values[:4] @ compiled.model.decode.weight[:, : len(steps[-1].columns)].T
    assert (last + compiled.model.decode.bias).numpy() == pytest.approx(compiled(inputs)[0])
    for step in steps[1:]:
        assert step.weights.sum(-1).numpy() == pytest.approx(1)
    figure = draw_walk(steps, name)
    assert len(figure.axes) == len(steps) + sum(len(step.messages) for step in steps)
