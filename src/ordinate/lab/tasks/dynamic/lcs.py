"""Longest common subsequence."""

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad
from typing_extensions import override

from ordinate.lab.tasks.dynamic.base import TwoSequences


def common_lengths(
    first: Float[Tensor, "batch one"], second: Float[Tensor, "batch two"]
) -> Float[Tensor, "batch two"]:
    """L_j = the length of the longest subsequence that `first` and the first j of `second` have in common.

    Row by row of the table L_ij = max(L_{i-1,j}, L_{i,j-1}, L_{i-1,j-1} + [a_i = b_j]): inside a row, a running maximum
    of what the row above offers.

    >>> import torch
    >>> common_lengths(torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[2.0, 1.0, 3.0]])).tolist()
    [[1.0, 1.0, 2.0]]
    """
    row = second.new_zeros(len(second), second.shape[1] + 1)
    for i in range(first.shape[1]):
        longer = pad(row[:, :-1] + (first[:, i : i + 1] == second), (1, 0))
        row = row.maximum(longer).cummax(1).values
    return row[:, 1:]


class Lcs(
    TwoSequences,
    name="lcs",
    summary="length of the longest common subsequence with every prefix of another sequence",
):
    """The longest common subsequence with every prefix of the second sequence: 1 2 3 / 2 1 3 gives 1 1 2."""

    @override
    def solve(self, fields: dict[str, Float[Tensor, "batch _"]]) -> Float[Tensor, "batch two"]:
        return common_lengths(fields["first"], fields["second"])
