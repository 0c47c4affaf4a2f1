"""Encodings on any device: the same numbers there as on the CPU, in every place where position enters."""

import pytest
import torch
from torch import nn

from ordinate.attention.dot_product import attention_scores
from ordinate.encodings import Encoding
from tests.devices import AWAY, assert_trains_anywhere, away, back
from tests.encodings.test_encodings import DEFINED, RANDOM, REFUSED, SHORT, SPEC, build

OPTIONS = [
    *((name, options) for kinds in (DEFINED, REFUSED) for name, options in kinds.items()),
    ("shaw", {"per_head": True}),
    ("fire", {"shared": True}),
    ("rpe-log", {"shift": 1.0}),
    ("significance", {"reach": 2, "uniform": ["multiplier"]}),
    *(("dape", {"base": base, "kernel": 3}) for base in ("alibi", "fire", "t5", "rpe-lin", "kerple-power")),
]


class Everything(nn.Module):
    """Tokens through everything that an encoding can do, in two layers."""

    def __init__(self, encoding):
        super().__init__()
        self.encoding = encoding
        self.first = nn.Linear(2 + encoding.extra_features, 6)

    def forward(self, x):
        torch.manual_seed(0)  # some draw
        encoding, mixed = (
            self.encoding,
            self.first(self.encoding.embed(x, SHORT))[:, None].expand(-1, 4, -1, -1),
        )
        query, key = encoding.rotate(mixed, mixed, SHORT)
        found = []
        for layer in range(2):
            pairs, bias = encoding.pairs(SHORT, layer), encoding.bias(SHORT, layer)
            found += [encoding.scores(attention_scores(query, key, pairs=pairs, bias=bias), SHORT, layer)]
            lags = encoding.lags(SHORT, layer)
            found += [] if lags is None else [lags]
        return torch.cat([part.masked_fill(part.isneginf(), 0.0).flatten() for part in found])


def given():
    return torch.randn(2, len(SHORT), 2, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_every_encoding_learns_the_same_on_any_device(name, options, training):
    model = Everything(build(name, **options)).train(training)
    assert_trains_anywhere(model, lambda model, x: model(x), given())


@pytest.mark.parametrize("name", ["sinusoidal", "alibi", "rope", "significance", "randomized", "one-hot"])
def test_what_is_kept_for_one_device_or_precision_is_not_used_on_another(name):
    """Parts that were computed once are moved with the model, back and forth."""
    model = Everything(build(name)).eval()
    here = model(given())
    away(model)
    with AWAY:
        there = model(away(given()))
    torch.testing.assert_close(back(there), here)
    exact = Everything(build(name)).eval().double()
    assert exact(given().double()).dtype == torch.float64
    assert exact.float()(given()).dtype == torch.float32


@pytest.mark.parametrize("name", RANDOM)
def test_what_is_drawn_is_the_same_on_every_device(name):
    encoding = build(name)
    torch.manual_seed(3)
    here = encoding.embed(given(), SHORT)
    away(encoding)
    torch.manual_seed(3)
    with AWAY:
        there = encoding.embed(away(given()), SHORT)
    assert torch.equal(back(there), here)


def test_an_encoding_without_parameters_knows_where_its_model_is():
    encoding = Encoding().build(SPEC)
    assert (encoding.device, encoding.dtype) == (torch.device("cpu"), torch.float32)
    assert encoding.double().dtype == torch.float64
    assert away(encoding).device == torch.device("meta")
    assert not encoding.state_dict()
