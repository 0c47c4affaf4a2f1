"""Encodings in the form of PyTorch's FlexAttention: functions from a score and the indices of its pair to a score."""

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from pydantic import BeforeValidator, PlainSerializer
from torch import Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.encodings.encoding import Encoding, Pairs
from ordinate.errors import OrdinateError
from ordinate.relations.pattern import ABSENT

ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]
"""A score, and the indices of its sample, head, query and key, to the score that the softmax reads."""


def score_mod(
    encoding: Encoding,
    coordinates: Coordinates,
    layer: int,
    query: Float[Tensor, "batch head token dim"] | None,
    scale: float | None,
) -> ScoreMod:
    """What `Encoding.score_mod` returns; lambdas, as FlexAttention counts the arguments of what it is given."""
    if encoding.reads_scores:
        raise OrdinateError(
            f"{type(encoding).__name__} reads the scores of other pairs, which a score_mod cannot: "
            'write a bias instead, such as encoding = "kerple-log"'
        )
    bias, groups = encoding.bias(coordinates, layer), encoding.pairs(coordinates, layer)
    found = None if bias is None else _biased(bias)
    if groups:
        found = _of_groups(found, groups, encoding, query, scale)
    return found or (lambda score, batch, head, query, key: score)


def then(first: ScoreMod | None, second: ScoreMod) -> ScoreMod:
    """One after the other."""
    if first is None:
        return second
    return lambda score, b, h, i, j: second(first(score, b, h, i, j), b, h, i, j)


def _of_groups(
    found: ScoreMod | None,
    groups: tuple[Pairs, ...],
    encoding: Encoding,
    query: Tensor | None,
    scale: float | None,
) -> ScoreMod:
    """What classes add, and minus infinity where a pair is absent."""
    device = encoding.device if query is None else query.device
    group = torch.repeat_interleave(
        torch.arange(len(groups)), torch.tensor([one.heads for one in groups])
    ).to(device)
    dense = torch.stack([one.pattern.dense for one in groups])
    plain = torch.tensor([one.pattern.plain for one in groups])[:, None, None]
    most = int(plain.max())
    absent = (dense == ABSENT).to(device)
    classes = torch.where((dense == ABSENT) | (dense == plain), most, dense).to(device)
    if any(one.vectors is not None for one in groups):
        if query is None:
            raise OrdinateError(
                f"{type(encoding).__name__} has vectors that queries are multiplied with: write "
                "score_mod(layout, query=query)"
            )
        by_class = []
        for one, some in zip(groups, query.split([one.heads for one in groups], dim=1), strict=True):
            vectors = (
                some.new_zeros(1, 0, some.shape[-1]) if one.vectors is None else one.vectors.to(some.dtype)
            )
            scores = some @ vectors.mT
            by_class.append(F.pad(scores, (0, most + 1 - scores.shape[-1])))  # zeros for plain pairs
        table = torch.cat(by_class, 1) * (query.shape[-1] ** -0.5 if scale is None else scale)
        found = then(found, lambda score, b, h, i, j: score + table[b, h, i, classes[group[h], i, j]])
    if bool(absent.any()):
        found = then(found, lambda score, b, h, i, j: torch.where(absent[group[h], i, j], -torch.inf, score))
    return found or (lambda score, b, h, i, j: score)


def _biased(bias: Float[Tensor, "head query key"]) -> ScoreMod:
    if len(bias) == 1:
        return lambda score, b, h, i, j: score + bias[0, i, j]
    return lambda score, b, h, i, j: score + bias[h, i, j]


def _find(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    module, _, name = value.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        raise OrdinateError(f"function = {value!r} is not there: write module:function") from None


if TYPE_CHECKING:
    Function = ScoreMod
else:
    Function = Annotated[
        Callable[..., Tensor],
        BeforeValidator(_find),
        PlainSerializer(lambda function: f"{function.__module__}:{function.__qualname__}"),
    ]


class Scored(
    Encoding,
    name="scored",
    summary="scores as a function of FlexAttention changes them",
    extrapolation="as the function says",
):
    """score[i, j] = function(q_i . k_j / sqrt(d), sample, head, i, j): a score_mod written for FlexAttention.

    >>> import torch
    >>> from ordinate.coordinates import layout
    >>> from ordinate.encodings.encoding import BuildSpec
    >>> near = Scored(function=lambda score, b, h, i, j: score - (i - j).abs()).build(BuildSpec(()))
    >>> near.scores(torch.zeros(1, 1, 2, 2), layout(text=2), 0)
    tensor([[[[ 0., -1.],
              [-1.,  0.]]]])
    """

    function: Function

    reads_scores = True

    @override
    def scores(
        self, scores: Float[Tensor, "*batch head query key"], coordinates: Coordinates, layer: int
    ) -> Float[Tensor, "*batch head query key"]:
        sizes = (scores.shape[:-3].numel(), *scores.shape[-3:])
        places = [torch.arange(size, device=scores.device) for size in sizes]
        places[2] = places[2] + len(coordinates) - sizes[2]  # fewer queries are those of the last tokens
        each: Callable[..., Tensor] = self.function
        for axis in reversed(range(4)):
            dims: list[int | None] = [None] * 4
            dims[axis] = 0
            each = torch.vmap(each, in_dims=(0, *dims))
        return each(scores.reshape(sizes), *places).view(scores.shape)

    @override
    def score_mod(
        self,
        coordinates: Coordinates,
        layer: int = 0,
        *,
        query: Float[Tensor, "batch head token dim"] | None = None,
        scale: float | None = None,
    ) -> ScoreMod:
        return self.function
