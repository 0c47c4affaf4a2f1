"""The causal Transformer of the memories paper: its formula, what depends on what, encodings, norms, training."""

import math

import pytest
import torch

from ordinate.attention import captured
from ordinate.encodings import (
    T5,
    Alibi,
    BuildSpec,
    Combined,
    Fire,
    KerpleLog,
    KerplePower,
    NoPosition,
    OneHot,
    Rope,
    RpeLin,
    RpeLog,
)
from ordinate.errors import OrdinateError
from ordinate.kinds import choose
from ordinate.lab.architectures import MODELS, Dp, DpFree, Hard, Memory, NoNorm, PostNorm, PreNorm, Tmx, decay
from ordinate.lab.architectures.memory_attention import hard_weights
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Recipe, train
from ordinate.lab.training.machine import ensemble_bytes
from ordinate.lab.training.member import ensemble_losses
from ordinate.models import build_model

TASK = make_task("fixed-memory", length=12, lags=(1, 3))
SMALL = {"layers": 2, "heads": 3, "width": 4, "hidden": 5}
LOOKS = {
    "dp-free": {},
    "free of both": {"normalised": False},
    "dp": {"attention": Dp(dim=3)},
    "dp, normalization-free": {"attention": Dp(), "normalised": False},
    "hard": {"attention": Hard(dim=3)},
    "tmx": {"attention": Tmx(), "normalised": False},
}
CONTENT = ("dp", "dp, normalization-free", "hard")
ENCODINGS = {
    "lin": RpeLin(),
    "log": RpeLog(),
    "log, lag 0 seen": RpeLog(shift=1),
    "t5": T5(buckets=8, furthest=6),
    "alibi": Alibi(),
    "kerple-log": KerpleLog(),
    "kerple-power": KerplePower(),
    "fire": Fire(threshold=4.0),
    "rope": Rope(),
    "none": NoPosition(),
}
looks = pytest.mark.parametrize("look", LOOKS)


def built(look="dp-free", encoding=("lin",), seed=0, task=TASK, **options):
    parts = tuple(ENCODINGS[name] if isinstance(name, str) else name for name in encoding)
    model = build_model(Memory(**{**SMALL, **LOOKS[look], "encoding": parts, **options}), task, seed=seed)
    if look == "tmx":
        for layer in model.layers:
            torch.nn.init.normal_(layer.attention.looking.w, std=0.3)
    return model.double()


def tokens(count=2, length=12):
    return 0.5 * torch.randn(
        count, length, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(3)
    )


def by_the_formula(model, x, look, phi):
    """Section 2 of the paper, token by token and head by head."""
    slopes = model.encoding.slopes.tolist()
    stream = [model.encode(row) for row in x]
    for number, layer in enumerate(model.layers):
        attention, attended = layer.attention, []
        for t, here in enumerate(stream):
            sums = torch.zeros(4, dtype=torch.float64)
            for h, p in enumerate(slopes[number]):
                weights = []
                for s in range(t + 1):
                    lag = phi(s)
                    if lag is None:
                        weights.append(torch.tensor(0.0))
                        continue
                    score = torch.tensor(p * lag, dtype=torch.float64)
                    if look in CONTENT:
                        looking = attention.looking
                        score = score + (looking.w_q[h] @ here) @ (looking.w_k[h] @ stream[t - s])
                    if look == "tmx":
                        score = score + p * (attention.looking.w[h] @ here)
                    weights.append(score.exp())
                if look == "hard" and any(weights):
                    highest = max(range(t + 1), key=lambda s: float(weights[s]))
                    weights = [torch.tensor(float(s == highest)) for s in range(t + 1)]
                total = sum(weights) if attention.normalised else 1.0
                for s, weight in enumerate(weights):
                    if weight:
                        sums = sums + weight / total * (attention.w_v[h] @ stream[t - s])
            attended.append(here + attention.w_o @ sums)
        stream = attended
        if layer.ffn is not None:
            stream = [z + layer.ffn.down.weight @ torch.relu(layer.ffn.up(z)) for z in stream]
    ffn = model.readout
    return torch.stack([ffn.down.weight @ torch.relu(ffn.up(z)) for z in stream])


PHIS = {
    "lin": lambda s: -s,
    "log": lambda s: -math.log(s) if s else None,
    "log, lag 0 seen": lambda s: -math.log(1 + s),
}

TOGETHER = [(look, name) for look in LOOKS for name in ENCODINGS if look != "tmx" or name in PHIS]
"""TMX reads slopes."""


@looks
@pytest.mark.parametrize("encoding", PHIS)
def test_outputs_are_those_of_the_formula(look, encoding):
    model, x = built(look, (encoding,)), tokens(2, 5)
    with torch.no_grad():
        expected = torch.stack([by_the_formula(model, row, look, PHIS[encoding]) for row in x])
        torch.testing.assert_close(model(x, TASK.coordinates(5)), expected)


@pytest.mark.parametrize(("look", "encoding"), TOGETHER)
def test_with_hooks_and_without_are_the_same(look, encoding):
    model, x, c = built(look, (encoding,)), tokens(), TASK.coordinates(12)
    found = model(x, c)
    with captured(model) as seen:
        torch.testing.assert_close(model(x, c), found)
    assert not seen["layers.1.attention.weights"].triu(1).any()


@pytest.mark.parametrize(("look", "encoding"), TOGETHER)
def test_a_token_sees_nothing_ahead(look, encoding):
    model, x, c = built(look, (encoding,)), tokens(), TASK.coordinates(12)
    changed = x.clone()
    changed[:, 6] += 1.0
    moved = (model(x, c) - model(changed, c)).abs().amax((0, 2)) > 1e-9
    assert not moved[:6].any()
    assert moved[6:].any()


@pytest.mark.parametrize(
    ("look", "encoding"),
    [(k, e) for k, e in TOGETHER if k not in CONTENT and e != "fire"],
)
def test_transforms_and_pairs_agree_in_every_gradient(encoding, look, monkeypatch):
    """In float64, through two layers."""
    model, x, c = built(look, (encoding,)), tokens(), TASK.coordinates(12)
    results = []
    for transforms in (True, False):
        monkeypatch.setattr(decay, "by_transform", lambda x, chosen=transforms: chosen)
        out = model(x, c)
        parameters = [p for p in model.parameters() if p.requires_grad]
        gradients = torch.autograd.grad(out.square().sum(), parameters)
        results.append((out, gradients))
    torch.testing.assert_close(results[0], results[1], rtol=1e-8, atol=1e-8)


@looks
@pytest.mark.parametrize("norm", [NoNorm(), PreNorm(), PostNorm()])
@pytest.mark.parametrize("ffn", [True, False])
def test_every_parameter_gets_a_gradient(look, norm, ffn):
    model = built(look, norm=norm, ffn=ffn, hidden=32)
    model(tokens(8), TASK.coordinates(12)).square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


def test_norms_are_where_their_names_say():
    x, c = tokens(), TASK.coordinates(12)
    post, plain = (built(norm=norm, ffn=False, layers=1) for norm in (PostNorm(), NoNorm()))
    before = {}
    for model in (post, plain):
        model.readout.register_forward_hook(lambda m, i, o, key=model: before.__setitem__(key, i[0]))
        model(x, c)
    torch.testing.assert_close(torch.nn.functional.layer_norm(before[plain], (4,)), before[post])
    pre = built(norm=PreNorm(), ffn=False, layers=1)
    pre.readout.register_forward_hook(lambda m, i, o: before.__setitem__(pre, i[0]))
    pre(x, c)
    stream = pre.encode(x)
    read = torch.nn.functional.layer_norm(stream, (4,))
    expected = torch.nn.functional.layer_norm(stream + pre.layers[0].attention(read, c, pre.encoding), (4,))
    torch.testing.assert_close(before[pre], expected)


def test_the_first_token_of_a_log_head_receives_nothing():
    model, x, c = built(encoding=("log",), layers=1), tokens(), TASK.coordinates(12)
    with captured(model) as seen:
        model(x, c)
    assert not seen["layers.0.attention.output"][:, 0].any()
    assert seen["layers.0.attention.output"][:, 1:].any()


def test_slopes_can_be_set_and_read():
    encoding = RpeLin().build(BuildSpec((TASK.coordinates(12),), 2, 3)).double()
    encoding.set_slopes(1, [0.01, 1.0, 40.0])
    torch.testing.assert_close(encoding.slopes[1], torch.tensor([0.01, 1, 40], dtype=torch.float64))
    torch.testing.assert_close(encoding.slopes[0], torch.tensor([1 / 256, 1 / 16, 1], dtype=torch.float64))
    with pytest.raises(OrdinateError, match="slopes must be positive, got -1: write p > 0"):
        encoding.set_slopes(0, [1.0, -1.0, 2.0])


def test_slopes_come_back_to_the_last_digits():
    """What is constructed rests on slopes that are far from 0 too."""
    given = torch.tensor([[1e-3, 0.5, 19.9, 20.4, 25.0, 39.9, 40.1, 300.0]], dtype=torch.float64)
    torch.testing.assert_close(RpeLin().with_slopes(given).slopes, given, rtol=1e-13, atol=0)


@pytest.mark.parametrize("name", sorted(set(ENCODINGS) - {"fire", "rope", "none"}))
def test_lags_are_the_lower_half_of_the_bias(name):
    c = TASK.coordinates(9)
    encoding = ENCODINGS[name].build(BuildSpec((c,), 2, 3))
    bias, lags = encoding.bias(c, 1), encoding.lags(c, 1)
    for t in range(9):
        torch.testing.assert_close(bias[:, t, : t + 1].flip(-1), lags[:, : t + 1])


def test_lags_of_combined_encodings():
    c = TASK.coordinates(9)
    spec = BuildSpec((c,), 1, 3)
    parts = [kind.build(spec) for kind in (Alibi(), RpeLin(), OneHot())]
    torch.testing.assert_close(Combined(*parts).lags(c, 0), parts[0].lags(c, 0) + parts[1].lags(c, 0))
    assert Combined(*parts, Fire().build(spec)).lags(c, 0) is None
    assert Combined(parts[2]).lags(c, 0) is None
    model = built(encoding=("alibi", "lin", OneHot()))
    assert model(tokens(), TASK.coordinates(12)).isfinite().all()


def test_one_token_alone_needs_lag_0_where_attention_looks_both_ways():
    c = TASK.coordinates(12)
    alone = make_task("decaying-memory", length=1).coordinates(1)
    with pytest.raises(OrdinateError, match="one token alone has no key: write"):
        RpeLog().build(BuildSpec((c,))).bias(alone, 0)
    assert RpeLog(shift=1).build(BuildSpec((c,))).bias(alone, 0).isfinite().all()


@looks
@pytest.mark.parametrize("length", [12, 150])
def test_members_in_one_pass_are_as_alone(look, length):
    task = make_task("fixed-memory", length=length, lags=(1, 3))
    models = [built(look, (RpeLin(first=(0.5, 2.0)),), seed=seed, task=task) for seed in range(2)]
    batches = []
    for seed in range(2):
        batch = task.sample(2, generator=torch.Generator().manual_seed(seed))
        batches.append(batch._replace(input=0.3 * batch.input.double(), target=batch.target.double()))
    scored = [task.scored(batch.coordinates) for batch in batches]
    results = []
    for vectorised in (True, False):
        losses = ensemble_losses(models, batches, scored, vectorised=vectorised)
        parameters = [p for model in models for p in model.parameters()]
        results.append((losses, torch.autograd.grad(losses.sum(), parameters)))
    torch.testing.assert_close(results[0], results[1])


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (
            {"attention": "tmx"},
            "must have normalised = false with tmx: its term is equal for all keys, and cancels",
        ),
        ({"attention": "tmx", "normalised": False, "encoding": "t5"}, "rpe-lin or rpe-log with tmx"),
        ({"encoding": "shaw"}, "must have an encoding that embeds, rotates or biases, such as rpe-lin"),
        ({"encoding": {"kind": "rpe-lin", "first": [2, 1]}}, "must have first = [smallest, largest]"),
        ({"encoding": {"kind": "rpe-log", "shift": -1}}, "shift = -1 is not allowed"),
        ({"attention": "dpp"}, "did you mean 'dp'?"),
        ({"norm": "prenorm"}, "did you mean 'pre'?"),
        ({"heads": 0}, "model.heads = 0 is not allowed"),
    ],
)
def test_bad_settings_are_refused_in_one_line(value, line):
    with pytest.raises(OrdinateError) as error:
        choose({"kind": "memory", **value}, MODELS, "model")
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_settings_come_back_from_their_dump():
    for settings in (
        Memory(**SMALL, attention=Dp(dim=2), norm=PreNorm(), encoding=(RpeLog(shift=1),)),
        Memory(attention=DpFree(), normalised=False, ffn=False),
    ):
        assert choose(settings.model_dump(mode="json"), MODELS, "model") == settings


def recipe(task, model, **training):
    return Recipe.parse(
        {
            "name": "memory",
            "task": task,
            "model": {"kind": "memory", **model},
            "training": {"steps": 40, "batch": 32, "device": "cpu", "log_every": 1, **training},
            "evaluation": {"count": 20, "axes": {"length": [12, 20]}},
        }
    )


@pytest.mark.parametrize("attention", ["dp-free", "dp", "hard", "tmx"])
def test_it_learns(attention, tmp_path):
    """Two seeds in one pass."""
    options = (
        {"normalised": False, "encoding": {"kind": "rpe-lin", "first": [0.5, 2]}}
        if attention == "tmx"
        else {}
    )
    small = recipe(
        {"name": "decaying-memory", "length": 12},
        {"width": 3, "heads": 2, "hidden": 8, "attention": attention, **options},
        optimizer={"learning_rate": 0.02},
    )
    for run in train(small, [0, 1], store=str(tmp_path)):
        losses = [row["loss"] for row in run.metrics() if "loss" in row]
        assert sum(losses[-5:]) < 0.5 * sum(losses[:5])
        assert [p["in_distribution"] for p in run.read_result("evaluation")] == [True, True, False]


def test_long_sequences_need_little_memory_without_dot_products():
    task = {"name": "decaying-memory", "length": 65_536}
    fixed = ensemble_bytes(recipe(task, {"width": 4}, batch=1))
    assert fixed < 2**30
    assert ensemble_bytes(recipe(task, {"width": 4, "attention": "dp"}, batch=1)) > 100 * fixed


def test_hard_weights_take_the_largest_score_and_descend_like_a_softmax():
    scores = torch.randn(2, 3, 4, 5, dtype=torch.float64, requires_grad=True)
    with torch.no_grad():
        scores[0, 0, 0] = -math.inf
    weights = hard_weights(scores)
    assert torch.equal(weights[0, 0, 0], torch.zeros(5, dtype=torch.float64))
    rest = weights.detach().flatten(0, 2)[1:]
    torch.testing.assert_close(rest.amax(-1), torch.ones(len(rest), dtype=torch.float64))
    assert torch.equal(rest.argmax(-1), scores.detach().flatten(0, 2)[1:].argmax(-1))
    torch.testing.assert_close(rest.sum(-1), torch.ones(len(rest), dtype=torch.float64))
    slope = torch.randn_like(weights)
    (found,) = torch.autograd.grad((weights[1] * slope[1]).sum(), scores)
    (soft,) = torch.autograd.grad((scores[1].softmax(-1) * slope[1]).sum(), scores)
    torch.testing.assert_close(found[1], soft[1])
