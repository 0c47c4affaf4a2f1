"""Where an induction head looks: behind the last earlier occurrence of the same symbol."""

import torch
from jaxtyping import Int
from torch import Tensor

NOWHERE = -1
"""The place of a hop that finds nothing; hops from there stay there."""


def find(symbols: Int[Tensor, "batch place"], vocabulary: int) -> Int[Tensor, "batch place"]:
    """find(i) = max{j <= i : x_{j-1} = x_i}: the place behind the last earlier x_i, or `NOWHERE`.

    One running maximum a symbol: the cost is batch x place x vocabulary.

    >>> find(torch.tensor([[0, 1, 2, 0, 1]]), vocabulary=3)
    tensor([[-1, -1, -1,  1,  2]])
    """
    places = torch.arange(symbols.shape[1], device=symbols.device)
    here = symbols[..., None] == torch.arange(vocabulary, device=symbols.device)
    last = torch.where(here, places[:, None] + 1, NOWHERE).cummax(1).values
    before = torch.cat([torch.full_like(last[:, :1], NOWHERE), last[:, :-1]], dim=1)
    return before.gather(2, symbols[..., None])[..., 0]


def hop(
    symbols: Int[Tensor, "batch place"], hops: Int[Tensor, " batch"], vocabulary: int
) -> Int[Tensor, "batch place"]:
    """The place find^k(i), k times find from every place i, each sample with its own k; `NOWHERE` absorbs.

    >>> hop(torch.tensor([[0, 1, 0, 1, 0]] * 3), torch.tensor([0, 1, 2]), vocabulary=2)
    tensor([[ 0,  1,  2,  3,  4],
            [-1, -1,  1,  2,  3],
            [-1, -1, -1,  1,  2]])
    """
    table = torch.nn.functional.pad(find(symbols, vocabulary), (0, 1), value=NOWHERE)
    place = torch.arange(symbols.shape[1], device=symbols.device).repeat(len(symbols), 1)
    for step in range(int(hops.max())):
        # A place of -1 reads the padded column, which says -1 again.
        further = table.gather(1, place % table.shape[1])
        place = torch.where((step < hops)[:, None], further, place)
    return place
