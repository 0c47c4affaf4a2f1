"""FlexAttention both ways: what it computes from our relations and encodings, and when it is chosen."""

import pytest
import torch
from torch.nn.attention.flex_attention import flex_attention

import ordinate as od
from ordinate.attention import FORMS, attend, attention_scores, captured, dense_attention, flex, plan
from ordinate.attention.classes import flex_attend
from ordinate.coordinates import Coordinates
from ordinate.encodings import (
    T5,
    Alibi,
    BuildSpec,
    Combined,
    Dape,
    Fire,
    KerpleLog,
    KerplePower,
    NoPosition,
    Pairwise,
    RpeLin,
    Scored,
    Shaw,
    Significance,
    Upe,
)
from ordinate.errors import OrdinateError
from ordinate.relations import aligned, causal, everywhere, relative
from ordinate.relations import window as near
from tests.attention.pairs import arguments, window

HERE = Coordinates.of(multiplier=range(3), number=range(9))
SPEC = BuildSpec((HERE,), layers=2, heads=4, head_dim=16)
ENCODINGS = {
    "none": NoPosition(),
    "t5": T5(std=1.0),
    "alibi": Alibi(),
    "kerple-log": KerpleLog(),
    "kerple-power": KerplePower(),
    "fire": Fire(threshold=4.0),
    "rpe-lin": RpeLin(),
    "shaw": Shaw(std=1.0, clip=4),
    "shaw by head": Shaw(std=1.0, per_head=True),
    "upe": Upe(std=1.0),
    "significance": Significance(std=1.0, fields=("number",)),
    "window": Pairwise(relation=relative() * near(3, 1)),
    "plain": Pairwise(relation=near(3)),
    "groups": Pairwise(relation=(aligned() * near(2, 2) | everywhere(), relative() * causal())),
}
CLOSE = {"atol": 1e-5, "rtol": 1e-5}


@pytest.fixture(params=ENCODINGS)
def encoding(request):
    torch.manual_seed(0)
    return ENCODINGS[request.param].build(SPEC)


def operands(tokens=12):
    return tuple(torch.randn(2, 4, tokens, 16) for _ in range(3))


def expected(encoding, query, key, value):
    """What a layer computes, one step after the other."""
    bias, pairs = encoding.bias(HERE, 1), encoding.pairs(HERE, 1)
    scores = attention_scores(query, key, pairs=pairs, bias=bias)
    return torch.softmax(scores, -1) @ value


def test_an_encoding_as_a_score_mod(encoding):
    query, key, value = operands()
    with torch.no_grad():
        modified = encoding.score_mod(HERE, 1, query=query)
        out = flex_attention(query, key, value, score_mod=modified)
        torch.testing.assert_close(out, expected(encoding, query, key, value), **CLOSE)


@pytest.mark.parametrize("relation", [near(3, 1), causal(), relative(clip=2) * near(5)], ids=str)
def test_a_relation_as_a_mask(relation):
    query, key, value = operands()
    mask = relation.block_mask(HERE)
    pattern = relation.on(HERE)
    wanted = dense_attention(query, key, value, pattern, scale=0.25)
    torch.testing.assert_close(flex_attention(query, key, value, block_mask=mask), wanted, **CLOSE)
    assert relation.block_mask(HERE) is mask
    attends, place = relation.mask_mod(HERE), torch.arange(12)
    found = attends(torch.tensor(0), torch.tensor(0), place[:, None], place)
    assert torch.equal(found, pattern.dense >= 0)


def test_the_window_of_a_long_sequence_has_few_blocks():
    mask = near(100).block_mask(Coordinates.of(text=range(1024)))
    assert mask.sparsity() > 70  # per cent of 128 x 128 blocks


def test_vectors_need_queries():
    with pytest.raises(OrdinateError, match=r"write score_mod\(layout, query=query\)"):
        Shaw().build(SPEC).score_mod(HERE)


def test_what_reads_all_scores_is_no_score_mod():
    with pytest.raises(OrdinateError, match="reads the scores of other pairs"):
        Dape().build(SPEC).score_mod(HERE)


@pytest.mark.parametrize("form", ["content", "content + class"])
@pytest.mark.parametrize("extra", [False, True])
@pytest.mark.parametrize("looked", [False, True])
def test_the_path(form, extra, looked):
    pattern = window(40, 7)
    given = {name: x if x is None else x.detach() for name, x in arguments(pattern, form, dim=16).items()}
    more = {"scores_bias": torch.randn(1, 40, 40, dtype=torch.float64)} if extra else {}
    if looked and form == "content + class":
        more |= {
            "look": torch.randn(2, 2, 40, 3, dtype=torch.float64),
            "vectors": torch.randn(1, 7, 3, dtype=torch.float64),
        }
    given |= more
    out = flex_attend(pattern=pattern, scale=0.3, **given)
    torch.testing.assert_close(out, attend(pattern=pattern, scale=0.3, **given))


def test_what_is_absent_has_no_influence():
    pattern, x = window(40, 3), torch.randn(1, 1, 40, 16)
    bad = x.clone()
    bad[..., 3, 0] = float("inf")
    out = flex_attend(x, x, bad, pattern)
    assert (~out.isfinite()).any(-1).nonzero()[:, -1].tolist() == [3, 4, 5]
    torch.testing.assert_close(out[..., 6:, :], flex_attend(x, x, x, pattern)[..., 6:, :])


CUDA = torch.device("cuda")


@pytest.fixture
def a_compiler(monkeypatch):
    monkeypatch.setattr(flex, "has_triton", lambda: True)


def test_the_plan_takes_it_on_a_gpu(a_compiler):
    pattern = window(2000, 100)
    said = "flex: 97.5 keys a query of 2000 tokens, compiled for cuda"
    assert str(plan(pattern, rows=8, device=CUDA, content=True)) == said
    assert plan(pattern, rows=8, device=CUDA, content=True, bias=True).path == "flex"
    assert plan(pattern, rows=8, device=CUDA).path == "blocked"
    assert plan(pattern, rows=8, device=torch.device("cpu"), content=True).path == "blocked"
    assert plan(pattern, rows=8, device=CUDA, content=True, explicit="a hook").path == "explicit"
    assert plan(None, rows=8, device=CUDA, content=True).path == "fused"


def test_without_a_compiler_it_is_not_taken(monkeypatch):
    monkeypatch.setattr(flex, "has_triton", lambda: False)
    assert plan(window(20, 7), rows=8, device=CUDA, content=True).path == "dense"


def test_what_it_takes():
    x = torch.zeros(1, 1, 4, 16)
    assert flex.takes(x, x, x)
    assert not flex.takes(x, None, x)
    assert not flex.takes(x[..., :8], x[..., :8], x)
    assert not flex.takes(x.double(), x.double(), x.double())


@pytest.mark.parametrize("form", FORMS)
def test_a_layer_follows_the_plan(form, monkeypatch):
    """Where a plan says flex, a layer runs it, forward; here the CPU is said to have a compiler that does nothing."""
    monkeypatch.setattr(flex, "compiles", lambda device: True)
    monkeypatch.setattr(flex, "_compiled", lambda: flex_attention)
    layer, encoding = FORMS[form]().build(64, 4, 0), ENCODINGS["groups"].build(SPEC)
    x = torch.randn(2, 12, 64)
    with torch.no_grad():
        paths = {one.path for one in layer.plans(x, HERE, encoding)}
        assert paths == ({"flex"} if form == "content" else {"dense"})
        out = layer(x, HERE, encoding)
        with captured(layer):
            torch.testing.assert_close(out, layer(x, HERE, encoding), **CLOSE)


def falling(score, batch, head, query, key):
    return torch.where(key > query, -float("inf"), score - (head + 1) * (query - key).abs() + 0.1 * batch)


def test_a_score_mod_as_an_encoding():
    encoding = Scored(function=falling)
    assert encoding.settings.model_dump()["function"] == "tests.attention.test_flex:falling"
    assert Scored(function="tests.attention.test_flex:falling").settings == encoding.settings
    built, (query, key, value) = encoding.build(SPEC), operands()
    wanted = flex_attention(query, key, value, score_mod=falling)
    scores = built.scores(attention_scores(query, key), HERE, 0)
    torch.testing.assert_close(torch.softmax(scores, -1) @ value, wanted, **CLOSE)
    torch.testing.assert_close(
        flex_attention(query, key, value, score_mod=built.score_mod(HERE)), wanted, **CLOSE
    )


def test_a_score_mod_in_a_module_trains():
    module = od.Attention(dim=64, heads=4, encoding=Scored(function=falling))
    x = torch.randn(2, 5, 64, requires_grad=True)
    out = module(x)
    (slope,) = torch.autograd.grad(out[:, :2].sum(), x)
    assert slope[:, :2].abs().sum() > 0
    assert (slope[:, 2:] == 0).all()  # keys ahead


def test_a_score_mod_beside_a_bias():
    encoding = Combined(Alibi().build(SPEC), Scored(function=falling).build(SPEC))
    query, key, _ = operands()
    scores = encoding.scores(attention_scores(query, key, bias=encoding.bias(HERE, 0)), HERE, 0)
    assert scores[0, 0, 0, 1:].isinf().all()


@pytest.mark.parametrize("name", ["nowhere:f", "tests.attention.test_flex:missing", "falling"])
def test_a_function_that_is_not_there(name):
    with pytest.raises(OrdinateError, match="write module:function"):
        Scored(function=name)
