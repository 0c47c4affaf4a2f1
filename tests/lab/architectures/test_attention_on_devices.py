"""Attention of the papers' models on pretended devices: the outputs, gradients and steps of the CPU."""

import pytest
import torch

from ordinate.coordinates import Coordinates
from ordinate.encodings import BuildSpec, Combined, OneHot, Pairwise, RpeLin
from ordinate.lab.architectures import (
    LOOKS,
    ContentAttention,
    HybridAttention,
    MemoryAttention,
    PositionalAttention,
)
from ordinate.lab.architectures.decay import by_transform
from ordinate.relations import causal
from tests.attention.test_devices import SITE, TIGHT, Layer
from tests.devices import assert_trains_anywhere


@pytest.mark.parametrize("kind", ["content", "positional", "hybrid"])
@pytest.mark.parametrize("back", [False, True], ids=["", "causal"])
def test_concatenated_positions(kind, back):
    torch.manual_seed(0)
    positions = OneHot().build(SITE)
    attention = {
        "content": lambda: ContentAttention(8, 2),
        "positional": lambda: PositionalAttention(8, 2, positions),
        "hybrid": lambda: HybridAttention(8, 2, positions),
    }[kind]()
    encoding = Combined(positions, Pairwise(relation=(causal(),)).build(SITE)) if back else positions
    layer = Layer(attention, encoding).double()
    assert_trains_anywhere(layer, Layer.__call__, torch.randn(3, 6, 8, dtype=torch.float64), **TIGHT)


@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("tokens", [6, 120])
@pytest.mark.parametrize("look", LOOKS)
def test_memory(look, tokens, normalised):
    if (look == "tmx" and normalised) or (look == "hard" and not normalised):
        pytest.skip("not a form")
    torch.manual_seed(0)
    here = Coordinates.of(text=range(tokens))
    encoding = RpeLin().build(BuildSpec((here,), layers=1, heads=2, head_dim=4))
    attention = MemoryAttention(4, 2, 0, LOOKS[look]().build(4, 2), normalised=normalised)
    x = 0.1 * torch.randn(2, tokens, 4, dtype=torch.float64)
    assert by_transform(x) == (tokens == 120)
    layer = Layer(attention, encoding).double()
    assert_trains_anywhere(layer, lambda layer, x: layer(x, here), x, **TIGHT)
