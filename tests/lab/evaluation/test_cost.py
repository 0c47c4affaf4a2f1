"""Costs of calls: operations and bytes that are known beforehand."""

import torch

from ordinate.lab.evaluation.cost import operations, peak_bytes


def test_operations_are_those_of_the_products_backward_included():
    a = torch.ones(4, 8, requires_grad=True)
    b = torch.ones(8, 16, requires_grad=True)
    assert operations(lambda: a @ b) == 2 * 4 * 8 * 16
    assert operations(lambda: (a @ b).sum().backward()) == 3 * 2 * 4 * 8 * 16


def test_an_added_product_in_place_is_counted():
    c, a, b = torch.zeros(3, 4, 6), torch.ones(3, 4, 5), torch.ones(3, 5, 6)
    assert operations(lambda: c.baddbmm_(a, b)) == 2 * 3 * 4 * 5 * 6


def test_bytes_are_the_most_that_is_held_at_once():
    def call():
        first = torch.ones(1000)
        del first
        second, third = torch.ones(1000), torch.ones(500)
        return second.sum() + third.sum()

    assert 6000 <= peak_bytes(call) < 7000
