"""Edit distance."""

import torch
from jaxtyping import Float
from torch import Tensor
from typing_extensions import override

from ordinate.lab.tasks.dynamic.base import TwoSequences


def edit_distances(
    first: Float[Tensor, "batch one"], second: Float[Tensor, "batch two"]
) -> Float[Tensor, "batch two"]:
    """D_j = the fewest numbers to insert, delete or replace that turn `first` into the first j of `second`.

    Row by row of the table D_ij = min(D_{i-1,j} + 1, D_{i,j-1} + 1, D_{i-1,j-1} + [a_i != b_j]) (Levenshtein). Inside
    a row D_ij = min over l <= j of t_l + (j - l), with t what the row above offers: a running minimum of t_l - l.

    >>> edit_distances(torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[2.0, 3.0, 4.0]])).tolist()
    [[2.0, 1.0, 2.0]]
    """
    places = torch.arange(second.shape[1] + 1, dtype=second.dtype, device=second.device)
    row = places.expand(len(second), -1)
    for i in range(first.shape[1]):
        replaced = row[:, :-1] + (first[:, i : i + 1] != second)
        offered = torch.cat([row[:, :1] + 1, torch.minimum(row[:, 1:] + 1, replaced)], dim=1)
        row = (offered - places).cummin(1).values + places
    return row[:, 1:]


class EditDistance(
    TwoSequences, name="edit-distance", summary="fewest edits from a sequence to every prefix of another"
):
    """The edit distance from the first sequence to every prefix of the second: 1 2 3 / 2 3 4 gives 2 1 2."""

    @override
    def solve(self, fields: dict[str, Float[Tensor, "batch _"]]) -> Float[Tensor, "batch two"]:
        return edit_distances(fields["first"], fields["second"])
