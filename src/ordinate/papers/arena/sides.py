"""Which encodings cannot tell left from right: all that they change are scores, and those alike on both sides."""

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.coordinates import Coordinates
from ordinate.encodings import Encoding


def alike_on_both_sides(encoding: Encoding, coordinates: Coordinates, heads: int) -> bool:
    """Whether what is added to the score of (i, j) is added to that of (j, i), whatever the parameters are.

    An encoding that adds nothing to scores, or enters elsewhere as well, is none of these: columns and rotations tell
    left from right, and classes of pairs are declared with the mask that they need.

    >>> from ordinate.encodings import T5, Alibi, BuildSpec
    >>> here = Coordinates.of(number=range(5))
    >>> [alike_on_both_sides(kind().build(BuildSpec((here,), heads=2)), here, heads=2) for kind in (Alibi, T5)]
    [True, False]
    """
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        for parameter in encoding.parameters():  # first values may be all the same
            parameter.add_(torch.rand_like(parameter))
        if encoding.rotates or encoding.pairs(coordinates, 0) or _is_in_tokens(encoding, coordinates):
            return False
        bias = encoding.bias(coordinates, 0)
        if bias is None and not encoding.reads_scores:
            return False
        scores = torch.randn(1, heads, len(coordinates), len(coordinates))
        scores = scores + scores.mT
        if bias is not None:
            if not _is_even(bias):
                return False
            scores = scores + bias
        return not encoding.reads_scores or _is_even(encoding.scores(scores, coordinates, 0))


def _is_in_tokens(encoding: Encoding, coordinates: Coordinates) -> bool:
    """Whether equal tokens differ by where they stand."""
    tokens = encoding.embed(torch.zeros(1, len(coordinates), 1), coordinates)
    return not torch.equal(tokens, tokens[:, :1].expand_as(tokens))


def _is_even(scores: Float[Tensor, "*batch query key"]) -> bool:
    return torch.allclose(scores, scores.mT, atol=1e-5)
