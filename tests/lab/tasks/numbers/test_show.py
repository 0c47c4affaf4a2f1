"""Samples as a person reads them."""

import torch

from ordinate.lab.tasks import Batch
from ordinate.lab.tasks.numbers import MinSum, Sort, Sum
from ordinate.lab.tasks.path import Path


def batch(task, rows):
    inputs = torch.tensor(rows)
    return Batch(inputs, task.reference(inputs), task.coordinates(inputs.shape[1]))


def test_numbers_have_two_decimals_and_no_negative_zero():
    task = Sum(length=3)
    assert task.show(batch(task, [[[-1.25], [0.5], [0.7499]], [[-0.001], [0.0], [1.0]]])) == [
        {"input": "-1.25 0.50 0.75", "target": "-1.25 -0.75 0.00"},
        {"input": "0.00 0.00 1.00", "target": "0.00 0.00 1.00"},
    ]


def test_sort():
    task = Sort(length=2)
    assert task.show(batch(task, [[[2.0], [-10.5]]])) == [{"input": "2.00 -10.50", "target": "-10.50 2.00"}]


def test_min_sum_shows_both_sequences_and_one_answer():
    task = MinSum(length=2)
    assert task.show(batch(task, [[[1.0], [2.0], [3.0], [-4.0]]])) == [
        {"input": "1.00 2.00 / 3.00 -4.00", "target": "-2.00"}
    ]


def test_path_shows_matrices_without_their_padding():
    task = Path(length=4)
    assert task.show(batch(task, [[[0.0, 5.0, 7.0, 0.0], [5.0, 0.0, 0.0, 0.0], [7.0, 0.0, 0.0, 0.0]]])) == [
        {
            "input": "0.00 5.00 7.00 / 5.00 0.00 0.00 / 7.00 0.00 0.00",
            "target": "0.00 5.00 7.00 / 5.00 0.00 12.00 / 7.00 12.00 0.00",
        }
    ]
