"""Adaptive memories as weights: the model is the target within the error of its fits, input by input."""

import itertools
from functools import lru_cache

import pytest
import torch

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.memories import PROPOSITION_4_2, WORKED_EXAMPLE
from ordinate.papers.theory import evaluate
from ordinate.papers.theory.adaptive import build_adaptive, check_errors, plan_layers, told_apart_heads
from ordinate.papers.theory.biases import LIN, LOG
from ordinate.papers.theory.evaluate import all_sequences, evaluate_adaptive, worst_sequences
from ordinate.papers.theory.fits import fit, paper_fit
from ordinate.papers.theory.rates import required_depth

LENGTH = 7
TARGETS = {
    "worked": WORKED_EXAMPLE,
    "chain": make_task("adaptive-memory", length=LENGTH, nesting=3, memories=3),
    "drawn": make_task(
        "adaptive-memory",
        length=LENGTH,
        nesting=1,
        memories=3,
        index="drawn",
        current=False,
        readout={"kind": "sum", "weights": [0.0, 0.5, -1.5]},
    ),
    "flat": make_task("adaptive-memory", length=LENGTH, nesting=0, memories=2, index="drawn"),
    "deep tables": make_task("adaptive-memory", length=LENGTH, nesting=2, memories=3, index="drawn"),
}
HEADS = {"lin": 4, "log": 5}
"""For each memory that shares the last layer."""
cases = pytest.mark.parametrize(
    ("name", "bias"),
    [(name, bias) for name in TARGETS for bias in (LIN, LOG)],
    ids=lambda part: getattr(part, "name", part),
)


def slopes(bias, heads):
    return [1.0 + k for k in range(heads)] if bias is LIN else [2.0 + 2 * k for k in range(heads)]


def planned(task, bias, layers=None, heads=None):
    shared = max(1, task.memories - (layers or required_depth(task.nesting, task.memories)) + 2)
    return plan_layers(task, bias, shared * (heads or HEADS[bias.name]), layers)


@lru_cache
def fit_of(seen, heads):
    return fit(seen, slopes(seen.base, heads), seen.indicator)


def fitted(plan, length=LENGTH):
    return [fit_of(seen, heads) for seen, heads in zip(plan.seen(length), plan.heads, strict=True)]


def bounded(plan, fits):
    """What the errors of the memories can do to the output."""
    return sum(abs(w) * found.cost() for w, found in zip(plan.reads[1:], fits, strict=True))


def by_definition(task, tokens, t):
    """Memories and answer of token t, one after the other, from the definition of the class."""
    found, lags = [tokens[t]], []
    for number in range(1, task.memories + 1):
        read = torch.tensor(found[: 1 + min(number - 1, task.nesting)])[None, None]
        index = task.index[0] if len(task.index) == 1 else task.index[number - 1]
        lags.append(int(index.lag(read, task.tokens, task.within, number)))
        found.append(tokens[t - lags[-1]])
    read = found if task.current else found[1:]
    if task.readout.name == "sum":
        answer = sum(w * x for w, x in zip(task.readout.weights, read, strict=True))
    else:
        answer = torch.tensor(read).prod().item()
    return lags, found[1:], answer


@cases
@pytest.mark.parametrize("tmx", [False, True], ids=["dot products", "tmx"])
@torch.no_grad()
def test_every_token_of_every_fifth_input(name, bias, tmx):
    task = TARGETS[name]
    plan = planned(task, bias)
    fits = fitted(plan)
    check_errors(plan, fits, 1.0, "given")
    model = build_adaptive(plan, fits, tmx=tmx)
    assert len(model.layers) == plan.layers == required_depth(task.nesting, task.memories)
    inputs = all_sequences(task, LENGTH)
    streams = []
    model.readout.register_forward_pre_hook(lambda _, given: streams.append(given[0]))
    outputs = model(inputs[..., None], Coordinates.of(sequence=range(LENGTH)))[..., 0]
    bound = bounded(plan, fits)
    memories = task.memories
    for row in range(0, len(inputs), 5):
        for t in range(task.reach, LENGTH):
            lags, memories_found, answer = by_definition(task, inputs[row].tolist(), t)
            stream = streams[0][row, t]
            indices = stream[memories + 1 : 2 * memories + 1]
            assert (indices if bias is LIN else indices.exp()).tolist() == pytest.approx(lags, abs=1e-12)
            assert stream[1 : memories + 1].tolist() == pytest.approx(
                memories_found, abs=max(found.cost() for found in fits) + 1e-7
            )
            assert float(outputs[row, t]) == pytest.approx(answer, abs=bound + 1e-7)


@cases
def test_the_measured_error_is_the_largest_and_within_the_fit(name, bias):
    task = TARGETS[name]
    plan = planned(task, bias)
    fits = fitted(plan)
    model = build_adaptive(plan, fits)
    measured = evaluate_adaptive(model, plan, fits, LENGTH)
    assert measured.inputs == 2**LENGTH
    assert all(error <= found.cost() + 1e-7 for error, found in zip(measured.memories, fits, strict=True))
    assert 0 < measured.output <= bounded(plan, fits) + 1e-7


@cases
def test_the_worst_sequences_are_worst(name, bias, monkeypatch):
    """Of longer sequences only some are run: here, where all can be listed, they have the same errors."""
    task = TARGETS[name]
    plan = planned(task, bias)
    fits = fitted(plan)
    model = build_adaptive(plan, fits)
    listed = evaluate_adaptive(model, plan, fits, LENGTH)
    monkeypatch.setattr(evaluate, "MOST_LISTED", 1)
    searched = evaluate_adaptive(model, plan, fits, LENGTH)
    assert searched.inputs < listed.inputs * (task.memories + 1)
    assert searched.memories == pytest.approx(listed.memories, abs=1e-9)
    assert searched.exact == plan.readout.linear
    assert searched.output >= listed.output - 1e-9
    if searched.exact:
        assert searched.output == pytest.approx(listed.output, abs=1e-9)


def test_worst_sequences_hold_the_tokens_that_are_found():
    plan = planned(TARGETS["worked"], LIN)
    inputs = worst_sequences(plan, fitted(plan, 20), 20)
    assert set(inputs.unique().tolist()) == {-1.0, 1.0}
    ends = {tuple(row) for row in inputs[:, -3:].tolist()}
    assert ends == set(itertools.product((-1.0, 1.0), repeat=3))


@pytest.mark.parametrize("bias", [LIN, LOG], ids=lambda bias: bias.name)
def test_errors_fall_with_heads(bias):
    errors = []
    for heads in (2, 3, 4, 5, 6):
        plan = plan_layers(WORKED_EXAMPLE, bias, heads)
        fits = fitted(plan)
        errors.append(evaluate_adaptive(build_adaptive(plan, fits), plan, fits, LENGTH).output)
    assert all(more < 0.7 * less for less, more in itertools.pairwise(errors[1:]))


def test_proposition_4_2_over_three_values():
    """What no attention without dot products does to within less than 1."""
    plan = plan_layers(PROPOSITION_4_2, LIN, 5)
    fits = fitted(plan, 6)
    for tmx in (False, True):
        measured = evaluate_adaptive(build_adaptive(plan, fits, tmx=tmx), plan, fits, 6)
        assert measured.inputs == 3**6
        assert measured.output <= fits[0].cost() + 1e-7 < 0.1
    with pytest.raises(OrdinateError, match="lag 0 is out of range: log heads"):
        plan_layers(PROPOSITION_4_2, LOG, 5)


@pytest.mark.parametrize("layers", [2, 3])
def test_memories_that_are_not_nested_have_one_layer_or_one_each(layers):
    plan = planned(TARGETS["flat"], LIN, layers=layers)
    assert plan.groups == (((1, 2),) if layers == 2 else ((1,), (2,)))
    assert plan.heads == (4, 4)
    fits = fitted(plan)
    measured = evaluate_adaptive(build_adaptive(plan, fits), plan, fits, LENGTH)
    assert measured.output <= bounded(plan, fits) + 1e-7


@pytest.mark.parametrize(("name", "few"), [("worked", 2), ("chain", 3), ("drawn", 2), ("flat", 1)])
def test_fewer_layers_are_refused_and_so_are_more_than_can_be_used(name, few):
    task = TARGETS[name]
    with pytest.raises(OrdinateError, match=rf"{few} layers are too few .* write --layers {few + 1}$"):
        plan_layers(task, LIN, 8, few)
    most = task.memories + 1
    with pytest.raises(OrdinateError, match=rf"can use: write at most --layers {most}$"):
        plan_layers(task, LIN, 8, most + 1)


def test_fits_that_would_move_an_index_are_refused():
    far = make_task("adaptive-memory", length=12, index={"kind": "lookup", "lags": [5, 1]}, within=(1, 5))
    plan = plan_layers(far, LIN, 6)
    assert plan.tolerances() == (0.25, float("inf"))
    fits = fitted(plan, 12)
    assert 0.25 < fits[0].cost() < 1
    words = r"fetch memory 1, lags up to 5, .* round to the right place below 0\.25: \d+ heads and .* digits"
    with pytest.raises(OrdinateError, match=words):
        check_errors(plan, fits, 1.0, "given")
    with pytest.raises(OrdinateError, match=r"in float64, not 0\.1: "):
        check_errors(plan, fits, 0.1, "given")


def test_the_tolerance_is_that_of_rounding():
    """Tokens that are off by less than it leave every index where it is, and by more they do not."""
    far = make_task("adaptive-memory", length=12, index={"kind": "lookup", "lags": [5, 1]}, within=(1, 5))
    for bias in (LIN, LOG):
        plan = plan_layers(far, bias, 6)
        (allowed, _), units = plan.tolerances(), plan.units[1]
        for token, lag in ((-1.0, 5.0), (1.0, 1.0)):
            for off in (-0.999 * allowed, 0.999 * allowed):
                index = units.at(torch.tensor([[1.0, token + off]]).double().numpy())
                assert bias.lags_at(index).round() == lag
        wrong = units.at(torch.tensor([[1.0, -1 + 1.3 * allowed]]).double().numpy())
        assert bias.lags_at(wrong).round() != 5


@torch.no_grad()
def test_heads_that_float64_cannot_tell_apart_are_idle():
    plan = told_apart_heads(plan_layers(TARGETS["drawn"], LIN, 12), LENGTH)
    assert plan.total_heads == 12
    assert max(plan.heads) < 12
    assert plan.heads[1:] == (6, 6)
    fits = fitted(plan)
    model = build_adaptive(plan, fits)
    assert not model.layers[1].attention.w_v[plan.heads[0] :].any()
    assert evaluate_adaptive(model, plan, fits, LENGTH).output <= bounded(plan, fits) + 1e-6
    with pytest.raises(OrdinateError, match="30 heads are more than float64 can hold coefficients for"):
        told_apart_heads(plan_layers(WORKED_EXAMPLE, LIN, 30), LENGTH)


def test_what_float64_cannot_hold_is_refused():
    plan = plan_layers(WORKED_EXAMPLE, LIN, 16)
    fits = [paper_fit(seen, 16, seen.indicator) for seen in plan.seen(19)]
    with pytest.raises(
        OrdinateError, match=r"float64 cannot hold the coefficients of 16 lin heads .* digits"
    ):
        check_errors(plan, fits, 0.5, "paper")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tokens": "gaussian", "index": {"kind": "line", "clip": True}}, "write tokens=signs"),
        ({"readout": "majority"}, "readout 'majority' is not constructed: write readout=sum"),
    ],
)
def test_targets_that_are_not_constructed_are_refused(options, words):
    with pytest.raises(OrdinateError, match=words):
        plan_layers(make_task("adaptive-memory", **options), LIN, 8)
