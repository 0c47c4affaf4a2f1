"""Attention by tables of sources on pretended devices, and the same layer as query and key weights."""

import pytest
import torch

from ordinate.encodings import OneHot
from ordinate.lab.programs.table import TableAttention, densify
from tests.attention.test_devices import SITE, TIGHT, Layer
from tests.devices import AWAY, assert_trains_anywhere, away


@pytest.mark.parametrize("weight", [1.0, 0.25])
@pytest.mark.parametrize("form", ["table", "dense"])
def test_tables_of_sources(weight, form):
    torch.manual_seed(0)
    source, positions = torch.tensor([[0, 0, 1, -1, 2], [4, -1, 2, 1, 0]]), OneHot().build(SITE)
    attention = TableAttention(8, source, torch.full((2, 5), weight)).double()
    layer = Layer(attention if form == "table" else densify(attention, positions), positions).double()
    assert_trains_anywhere(layer, Layer.__call__, torch.randn(3, 6, 8, dtype=torch.float64), **TIGHT)
    with AWAY:
        assert densify(away(attention), positions).query_key.weight.device.type == "meta"
