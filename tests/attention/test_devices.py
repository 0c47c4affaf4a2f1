"""Every form of attention on pretended devices: the outputs, gradients and steps of the CPU, and never a wait."""

import pytest
import torch
from torch import nn
from transformers import BertModel

from ordinate.attention import (
    FORMS,
    attend,
    blocked_attention,
    captured,
    dense,
    dense_attention,
    sparse_attention,
    tables,
)
from ordinate.attention.kernels import content_layer, positional_layer
from ordinate.attention.tables import dense_tables
from ordinate.coordinates import Coordinates
from ordinate.encodings import BuildSpec, Encoding, Pairwise, Shaw
from ordinate.hub import put_attention
from ordinate.relations import causal, everywhere, relative
from ordinate.relations import window as near
from tests.attention.pairs import FORMS as OPERANDS
from tests.attention.pairs import arguments, pattern_of, window
from tests.attention.pairs import relative as offsets
from tests.devices import AWAY, assert_runs_anywhere, assert_trains_anywhere, away, back
from tests.hub.hosts import HOSTS, draw, words

HERE = Coordinates.of(text=range(6))
SITE = BuildSpec((HERE,), layers=1, heads=2, head_dim=4)
TIGHT = {"atol": 1e-9, "rtol": 1e-7}

PATTERNS = {
    "window": window(6, 3),
    "offsets": offsets(7, 6),
    "blocks": pattern_of([[0, -1, 2], [2, 1, 1], [-1, 0, -1]], count=2, bounds=(0, 1, 3)),
}


@pytest.fixture
def chunks(monkeypatch):
    for name in ("CHUNK", "DEVICE_CHUNK"):
        monkeypatch.setattr(dense, name, 8)
    monkeypatch.setattr(dense, "QUERIES", 3)
    monkeypatch.setattr(dense, "KEEP", (2, 0))


def assert_attention_runs(function, pattern, given, **more):
    def call(query, key, value, vectors, bias):
        return function(query, key, value, pattern, vectors=vectors, bias=bias, scale=0.7)

    assert_runs_anywhere(call, *given.values(), **TIGHT, **more)


@pytest.mark.parametrize("form", OPERANDS)
@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
@pytest.mark.parametrize("function", [dense_attention, sparse_attention])
def test_functions(function, pattern, form):
    assert_attention_runs(function, pattern, arguments(pattern, form))


@pytest.mark.parametrize("form", OPERANDS)
@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_chunks(pattern, form, chunks):
    assert_attention_runs(dense_attention, pattern, arguments(pattern, form))


@pytest.mark.parametrize("form", OPERANDS)
@pytest.mark.parametrize("pattern", ["window", "offsets"])
def test_blocks(pattern, form, chunks, monkeypatch):
    monkeypatch.setattr(tables, "QUERIES", 3)
    assert_attention_runs(blocked_attention, PATTERNS[pattern], arguments(PATTERNS[pattern], form))


@pytest.mark.parametrize(("tokens", "keys"), [(20, 3), (300, 3), (400, 70)])
def test_the_chosen_path(tokens, keys):
    pattern = window(tokens, keys)
    assert_attention_runs(attend, pattern, arguments(pattern, "content + class", batch=1))


@pytest.mark.parametrize("size", [8, 1 << 18])
def test_a_bias_on_every_pair(size, monkeypatch):
    monkeypatch.setattr(dense, "CHUNK", size)
    monkeypatch.setattr(dense, "DEVICE_CHUNK", size)
    pattern, given = window(6, 3), arguments(window(6, 3), "content", bias=False)
    extra = torch.randn(2, 6, 6, dtype=torch.float64, requires_grad=True)

    def call(query, key, value, extra):
        return attend(query, key, value, pattern, scores_bias=extra)

    assert_runs_anywhere(call, given["query"], given["key"], given["value"], extra, **TIGHT)


def test_a_query_whose_bias_leaves_no_key_receives_zero_on_a_device_and_passes_no_gradient():
    pattern, x = window(3, 2), away(torch.randn(1, 1, 3, 2, requires_grad=True))
    bias = torch.zeros(1, 3, 3)
    bias[0, 1] = float("-inf")
    with AWAY:
        out = attend(x, x, x, pattern, scores_bias=away(bias))
        (slope,) = torch.autograd.grad(out.sum(), x)
    assert (back(out)[0, 0, 1] == 0).all()
    assert back(slope).isfinite().all()


def test_tables_are_kept_for_every_device_and_copied_once():
    pattern = window(5, 2)
    on_cpu, there = (dense_tables(pattern, torch.device(name)) for name in ("cpu", "meta"))
    assert dense_tables(pattern, torch.device("cpu")) is on_cpu
    assert dense_tables(pattern, torch.device("meta")) is there
    assert there.classes.device.type == "meta"
    assert on_cpu.classes.device.type == "cpu"


RELATIONS = {
    "none": (),
    "shaw": (relative(),),
    "window": (relative() * near(2, 2),),
    "two": (relative() * near(2, 2), relative(clip=2)),
    "causal": (relative() * causal(),),
}


class Layer(nn.Module):
    """Attention with its encoding."""

    def __init__(self, attention, encoding):
        super().__init__()
        self.attention, self.encoding = attention, encoding

    def forward(self, x, coordinates=HERE):
        return self.attention(x, coordinates, self.encoding)


@pytest.mark.parametrize("listened", [False, True], ids=["", "hooks"])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("form", FORMS)
def test_heads(form, relation, listened):
    if relation == "none" and form != "content":
        pytest.skip("needs classes")
    torch.manual_seed(0)
    encoding = Pairwise(relation=RELATIONS[relation]).build(SITE) if RELATIONS[relation] else Encoding()
    layer = Layer(FORMS[form]().build(8, 2, 0), encoding).double()

    def forward(layer, x):
        if not listened:
            return layer(x)
        with captured(layer) as seen:
            out = layer(x)
        assert {x.device for x in seen.values()} == {out.device}
        return out

    assert_trains_anywhere(layer, forward, torch.randn(3, 6, 8, dtype=torch.float64), **TIGHT)


def test_merged_layers():
    def make(*shape):
        return torch.randn(*shape, dtype=torch.float64, requires_grad=True)

    weights = make(2, 5, 5).detach().softmax(-1).requires_grad_()
    assert_runs_anywhere(positional_layer, make(5, 3, 4), weights, make(3, 4, 6), make(6), **TIGHT)
    assert_runs_anywhere(content_layer, make(3, 5, 4), make(4, 8), make(8), make(3, 4, 6), make(6), **TIGHT)


@pytest.mark.parametrize("relation", [relative(clip=2), relative(clip=2) * near(4, 4)], ids=["all", "window"])
@pytest.mark.parametrize("padded", [False, True], ids=["", "padded"])
@pytest.mark.parametrize("host", HOSTS)
def test_hosts_of_transformers(host, padded, relation):
    model = draw(put_attention(HOSTS[host](), Pairwise(relation=(relation, everywhere()))))
    mask = torch.ones(2, 12, dtype=torch.long)
    mask[1, 7:] = 0

    def forward(model, x, mask):
        out = model(x, attention_mask=mask, use_cache=False).last_hidden_state
        return out[:, :7]

    assert isinstance(model, BertModel) == (host == "bert")
    assert_trains_anywhere(model, forward, words(12), mask if padded else None, **TIGHT)


def test_dropped_weights_of_a_host():
    model = away(put_attention(HOSTS["gpt2"](attn_pdrop=0.5), Shaw(clip=2)).train())
    with AWAY:
        assert model(away(words(6)), use_cache=False).last_hidden_state.device.type == "meta"


@pytest.mark.parametrize("function", [dense_attention, sparse_attention])
def test_half_the_precision(function, chunks):
    """The table of vectors may stay in single precision."""
    pattern = window(6, 3)
    given = {
        k: x.detach().bfloat16().requires_grad_() for k, x in arguments(pattern, "content + class").items()
    }
    given["vectors"] = given["vectors"].detach().float().requires_grad_()
    assert_runs_anywhere(
        lambda query, key, value, vectors: function(query, key, value, pattern, vectors=vectors),
        *(given[name] for name in ("query", "key", "value", "vectors")),
    )
