"""Kernels against the slow obvious formula, gradients and ensembles included."""

import pytest
import torch

from ordinate.attention.kernels import content_layer, positional_layer


def slow_positional(x, weights, maps, shift):
    out = shift + torch.einsum("sbw,wo->sbo", x[: weights.shape[1]], maps[0])
    for h in range(len(weights)):
        out = out + torch.einsum("st,tbw,wo->sbo", weights[h], x, maps[h + 1])
    return out.relu()


def positional_arguments(members=(), width=5, query=3):
    make = lambda *shape: torch.randn(*members, *shape, dtype=torch.float64)  # noqa: E731
    x, weights = make(3, 4, width), torch.softmax(make(2, query, 3), -1)
    return x, weights, make(3, width, 6), make(6)


@pytest.mark.parametrize("query", [1, 2, 3])
@pytest.mark.parametrize("width", [1, 2, 5])
def test_positional_layer_is_its_formula(width, query):
    arguments = positional_arguments(width=width, query=query)
    torch.testing.assert_close(positional_layer(*arguments), slow_positional(*arguments))


@pytest.mark.parametrize("query", [2, 3])
@pytest.mark.parametrize("width", [1, 5])
def test_gradients_of_the_positional_layer(width, query):
    arguments = [a.requires_grad_() for a in positional_arguments(width=width, query=query)]
    assert torch.autograd.gradcheck(positional_layer, arguments)


def test_gradients_without_one_for_the_input():
    x, *rest = positional_arguments()
    rest = [a.requires_grad_() for a in rest]
    fast = torch.autograd.grad(positional_layer(x, *rest).square().sum(), rest)
    slow = torch.autograd.grad(slow_positional(x, *rest).square().sum(), rest)
    torch.testing.assert_close(fast, slow)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("query", [2, 3])
def test_members_of_an_ensemble_do_not_mix(shared, query):
    x, weights, maps, shift = [a.requires_grad_() for a in positional_arguments((4,), query=query)]
    inputs = x[0] if shared else x
    mapped = torch.vmap(positional_layer, (None if shared else 0, 0, 0, 0))
    fast = mapped(inputs, weights, maps, shift)
    slow = torch.stack(
        [slow_positional(inputs if shared else x[k], weights[k], maps[k], shift[k]) for k in range(4)]
    )
    torch.testing.assert_close(fast, slow)
    leaves = (weights, maps, shift) if shared else (x, weights, maps, shift)
    torch.testing.assert_close(
        torch.autograd.grad(fast.square().sum(), leaves), torch.autograd.grad(slow.square().sum(), leaves)
    )


def slow_content(x, looks, look_shift, maps, shift):
    width = x.shape[-1]
    out = shift + x @ maps[0]
    for h in range(len(maps) - 1):
        of_head = slice(width * h, width * (h + 1))
        query = x @ looks[:, of_head] + look_shift[of_head]
        out = out + torch.softmax(query @ x.transpose(1, 2), -1) @ x @ maps[h + 1]
    return out.relu()


def content_arguments(members=(), width=5):
    make = lambda *shape: torch.randn(*members, *shape, dtype=torch.float64)  # noqa: E731
    return make(3, 4, width), make(width, 2 * width), make(2 * width), make(3, width, 6), make(6)


@pytest.mark.parametrize("width", [1, 5])
def test_content_layer_is_its_formula(width):
    arguments = content_arguments(width=width)
    torch.testing.assert_close(content_layer(*arguments), slow_content(*arguments))


@pytest.mark.parametrize("width", [1, 5])
def test_gradients_of_the_content_layer(width):
    arguments = [a.requires_grad_() for a in content_arguments(width=width)]
    assert torch.autograd.gradcheck(content_layer, arguments)


def test_gradients_of_the_content_layer_without_one_for_the_input():
    x, *rest = content_arguments()
    rest = [a.requires_grad_() for a in rest]
    fast = torch.autograd.grad(content_layer(x, *rest).square().sum(), rest)
    slow = torch.autograd.grad(slow_content(x, *rest).square().sum(), rest)
    torch.testing.assert_close(fast, slow)


@pytest.mark.parametrize("shared", [False, True])
def test_members_with_content_do_not_mix(shared):
    x, *rest = content_arguments(members=(3,))
    x = x[0] if shared else x
    leaves = [a.requires_grad_() for a in (x, *rest)]
    fast = torch.vmap(content_layer, (None if shared else 0, 0, 0, 0, 0))(*leaves)
    slow = torch.stack([slow_content(x if shared else x[k], *(a[k] for a in rest)) for k in range(3)])
    torch.testing.assert_close(fast, slow)
    torch.testing.assert_close(
        torch.autograd.grad(fast.square().sum(), leaves), torch.autograd.grad(slow.square().sum(), leaves)
    )
