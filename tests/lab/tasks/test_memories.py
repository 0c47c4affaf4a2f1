"""Memories: answers against the definitions, the paper's examples, axes, what is refused, the front door."""

import itertools
import math
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.architectures import Memory
from ordinate.lab.evaluation.sweep import measure, test_set
from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.memories import PROPOSITION_4_2, WORKED_EXAMPLE, AdaptiveMemory, FixedMemory
from ordinate.lab.tasks.memories.readouts import Ngram, Relus
from ordinate.models import build_model

from . import brute_force

VALUES = {"signs": [-1.0, 1.0], "ternary": [-1.0, 0.0, 1.0]}


def inputs_of(kind, count, seed=0):
    task = make_task("decaying-memory", length=count, tokens=kind)
    return task.sample(2, generator=torch.Generator().manual_seed(seed)).input.double()


def check(task, x, expected, **close):
    """All tokens, those without all their memories included."""
    answers = task.reference(x)[..., 0]
    wanted = torch.tensor([expected(row) for row in x[..., 0].tolist()], dtype=torch.float64)
    torch.testing.assert_close(answers, wanted, **close)


lags_of = st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True).map(
    lambda lags: tuple(sorted(lags))
)


def readouts(memories, values):
    """Readouts as a recipe writes them, and in plain Python."""
    directions = Relus(count=3, seed=4).directions(memories).tolist()
    weights = [0.5 * k - 1 for k in range(memories)]
    found = {
        "sum": ("sum", sum),
        "weighted": (
            {"kind": "sum", "weights": weights},
            lambda m: sum(a * b for a, b in zip(weights, m, strict=True)),
        ),
        "parity": ("parity", math.prod),
        "and": ("and", lambda m: 1.0 if all(v > 0 for v in m) else -1.0),
        "majority": ("majority", brute_force.majority),
        "relus": ({"kind": "relus", "count": 3, "seed": 4}, brute_force.relus(directions)),
    }
    if values:
        size = len(values) ** memories
        drawn = Ngram(seed=2).table(size).tolist()
        truth = [float(k * k % 7) for k in range(size)]
        found["n-gram"] = ({"kind": "n-gram", "seed": 2}, brute_force.lookup(drawn, values))
        found["boolean"] = ({"kind": "boolean", "truth": truth}, brute_force.lookup(truth, values))
    return found


@pytest.mark.parametrize("readout", [*readouts(1, [-1.0, 1.0])])
@settings(max_examples=10)
@given(lags=lags_of, kind=st.sampled_from(["signs", "ternary", "gaussian"]), seed=st.integers(0, 99))
def test_fixed_memories_are_those_of_the_definition(readout, lags, kind, seed):
    if readout in ("n-gram", "boolean") and kind == "gaussian":
        kind = "signs"
    setting, f = readouts(len(lags), VALUES.get(kind))[readout]
    task = make_task("fixed-memory", length=12, lags=lags, tokens=kind, readout=setting)
    check(task, inputs_of(kind, 12, seed), lambda row: brute_force.fixed(row, lags, f))


@settings(max_examples=25)
@given(
    memories=st.integers(1, 4),
    nesting=st.integers(0, 4),
    kind=st.sampled_from(["signs", "ternary"]),
    current=st.booleans(),
    seed=st.integers(0, 99),
)
def test_adaptive_memories_are_those_of_the_definition(memories, nesting, kind, current, seed):
    """Tables of all that was found, a different one for every memory."""
    nesting, values, x = min(nesting, memories), VALUES[kind], inputs_of(kind, 12, seed)
    indices = [{"kind": "drawn", "seed": seed + i} for i in range(memories)]
    options = {"length": 12, "tokens": kind, "within": (1, 5), "current": current, "readout": "sum"}
    task = make_task("adaptive-memory", nesting=nesting, memories=memories, index=indices, **options)

    @cache
    def lag(i, arguments):
        found = torch.tensor(arguments, dtype=torch.float64)[None, None]
        return int(task.index[i - 1].lag(found, task.tokens, task.within, i))

    def g(i, arguments):
        return lag(i, tuple(arguments))

    check(task, x, lambda row: brute_force.adaptive(row, nesting, memories, g, sum, current))
    for arguments in itertools.product(values, repeat=min(memories, nesting + 1)):
        assert 1 <= g(memories, arguments) <= 5


@settings(max_examples=20)
@given(seed=st.integers(0, 99), clip=st.booleans())
def test_lookups_and_lines_are_those_of_the_definition(seed, clip):
    x = inputs_of("ternary", 12, seed)
    table = {"kind": "lookup", "lags": [3, 0, 4]}
    line = {"kind": "line", "weights": [1.5, -1.0], "bias": 2.0 if clip else 2.6, "clip": clip}
    task = AdaptiveMemory(
        length=12, tokens="ternary", index=[table, line], within=(0, 4 if clip else 5), readout="parity"
    )

    def g(i, arguments):
        if i == 1:
            return {-1.0: 3, 0.0: 0, 1.0: 4}[arguments[-1]]
        lag = round(line["bias"] + 1.5 * arguments[-1] - arguments[-2])
        return min(max(lag, 0), 4) if clip else lag

    check(task, x, lambda row: brute_force.adaptive(row, 2, 2, g, math.prod))


def test_gaussian_tokens_take_a_line_that_stays_inside():
    line = {"kind": "line", "weights": [1.0], "bias": 2.0, "clip": True}
    task = AdaptiveMemory(length=12, tokens="gaussian", index=[line], within=(1, 3))
    x = inputs_of("gaussian", 12)
    check(
        task,
        x,
        lambda row: brute_force.adaptive(row, 2, 2, lambda i, a: min(max(round(2 + a[-1]), 1), 3), math.prod),
    )


def ricker(a, b):
    return lambda s: (1 - ((s - b) / a) ** 2) * math.exp(-(((s - b) / a) ** 2) / 2) / math.sqrt(a)


def haar(a, b):
    def rho(s):
        u = (s - b) / a
        return (1.0 if 0 <= u < 0.5 else -1.0 if 0.5 <= u < 1 else 0.0) / math.sqrt(a)

    return rho


KERNELS = {
    "exponential": ({"kind": "exponential", "rate": 0.3}, lambda s: math.exp(-0.3 * s)),
    "cut": (
        {"kind": "polynomial", "power": 0.5, "cut": 4},
        lambda s: s**-0.5 if 1 <= s < 4 else 0.0,
    ),
    "polynomial": ({"kind": "polynomial", "power": 1.5}, lambda s: s**-1.5 if s else 0.0),
    "given": ({"kind": "given", "rho": [0.5, 0, -2]}, lambda s: [0.5, 0, -2][s] if s < 3 else 0.0),
    "ricker": ({"kind": "ricker", "scale": 2.5, "shift": 4.5}, ricker(2.5, 4.5)),
    "haar": ({"kind": "haar", "scale": 4.0, "shift": 2.0}, haar(4.0, 2.0)),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("kind", ["signs", "gaussian"])
def test_decaying_memories_are_those_of_the_definition(name, kind):
    x = inputs_of(kind, 33)
    for length in (1, 2, 33):
        setting, rho = KERNELS[name]
        if name in ("given", "ricker", "haar") and length < 33:
            continue
        task = make_task("decaying-memory", length=length, kernels=setting)
        check(task, x[:, :length], lambda row, rho=rho: brute_force.decaying(row, [rho], sum))


def test_several_kernels_and_a_readout():
    chosen, rhos = zip(*KERNELS.values(), strict=True)
    directions = Relus(count=5).directions(len(rhos)).tolist()
    task = make_task(
        "decaying-memory", length=20, kernels=list(chosen), readout={"kind": "relus", "count": 5}
    )
    check(
        task,
        inputs_of("gaussian", 20),
        lambda row: brute_force.decaying(row, rhos, brute_force.relus(directions)),
    )


def test_the_worked_example_has_the_truth_table_of_the_paper():
    """(x_t, x_{t-1}, x_{t-2}) to y."""
    table = {"+++": 1, "++-": 1, "+-+": -1, "+--": 1, "-++": -1, "-+-": -1, "--+": 1, "---": -1}
    for signs, answer in table.items():
        x = torch.tensor([[[1.0 if s == "+" else -1.0] for s in reversed(signs)]])
        assert WORKED_EXAMPLE.reference(x)[0, 2, 0] == answer
    assert (WORKED_EXAMPLE.nesting, WORKED_EXAMPLE.memories) == (2, 2)


def test_the_best_affine_predictor_of_the_worked_example_leaves_three_quarters():
    rows = torch.tensor(list(itertools.product([-1.0, 1.0], repeat=3)), dtype=torch.float64)
    y = WORKED_EXAMPLE.reference(rows[..., None])[:, 2]
    features = torch.cat([rows, torch.ones(8, 1)], dim=1)
    fit = torch.linalg.lstsq(features, y).solution
    assert float((features @ fit - y).square().mean()) == pytest.approx(0.75)
    torch.testing.assert_close(fit[:, 0], torch.tensor([0, 0, 0.5, 0], dtype=torch.float64))


def test_the_target_of_proposition_4_2():
    """y_t = x_{t-g(x_t)}, g = x + 1; variance 2/3, best affine predictor 0.352."""
    rows = torch.tensor(list(itertools.product([-1.0, 0.0, 1.0], repeat=3)), dtype=torch.float64)
    y = PROPOSITION_4_2.reference(rows[..., None])[:, 2, 0]
    assert y.tolist() == [row[2 - int(row[2] + 1)] for row in rows.tolist()]
    assert float(y.var(correction=0)) == pytest.approx(2 / 3)
    features = torch.cat([rows, torch.ones(27, 1)], dim=1)
    left = features @ torch.linalg.lstsq(features, y[:, None]).solution - y[:, None]
    assert float(left.square().mean()) == pytest.approx(0.352, abs=1e-3)


@pytest.mark.parametrize("kind", ["signs", "ternary", "gaussian"])
def test_tokens_have_their_distribution(kind):
    x = make_task("fixed-memory", tokens=kind).sample(2000, generator=torch.Generator().manual_seed(0)).input
    if kind in VALUES:
        found, counts = x.unique(return_counts=True)
        assert found.tolist() == VALUES[kind]
        assert float(counts.max() / counts.min()) < 1.05
    assert abs(float(x.mean())) < 0.02
    assert float(x.var()) == pytest.approx(2 / 3 if kind == "ternary" else 1.0, rel=0.02)
    following = (x[:, 1:] * x[:, :-1]).mean()
    assert abs(float(following)) < 0.02


def test_answers_without_all_their_memories_are_not_scored():
    task = FixedMemory(length=8, lags=(1, 3))
    assert task.scored(task.coordinates(8))[:, 0].tolist() == [False] * 3 + [True] * 5
    alone = FixedMemory(length=8, lags=(1, 3), last=True)
    assert alone.scored(alone.coordinates(8))[:, 0].tolist() == [False] * 7 + [True]
    row = task.show(task.parse("1 -1 1 1 1 1 1 1"))[0]
    assert row == {"input": "1 -1 1 1 1 1 1 1", "target": ". . . 2 0 2 2 2"}


def test_axes_change_the_target():
    fixed = FixedMemory(lags=(1, 4, 6))
    assert fixed.at(lag=9).lags == (1, 4, 9)
    assert fixed.at(memories=2).lags == (1, 4)
    assert fixed.at(memories=1, lag=5.0).lags == (5,)
    drawn = AdaptiveMemory(nesting=1, memories=3, index="drawn", within=(1, 4))
    assert drawn.at(nesting=3).nesting == 3
    assert drawn.at(memories=1) == AdaptiveMemory(nesting=1, memories=1, index="drawn", within=(1, 4))
    assert drawn.at(lag=9).within == (1, 9)
    assert AdaptiveMemory().at(lag=5) == AdaptiveMemory(
        index=({"kind": "lookup", "lags": (5, 1)},), within=(1, 5)
    )
    several = make_task("decaying-memory", kernels=["exponential", "polynomial"])
    assert several.at(memories=1).kernels == several.kernels[:1]
    assert fixed.at() is fixed


def test_samples_along_an_axis_are_those_of_that_task_and_scored_as_such():
    """A model that is right at the lag of the axis has no error, though training scores tokens nearer to the start."""
    task = FixedMemory(length=12, lags=(1, 3), readout="parity")
    tests = test_set(task, "lag", 7.0, count=50, seed=0)
    assert not tests.in_distribution
    assert test_set(task, "lag", 3.0, count=5, seed=0).in_distribution
    there = task.at(lag=7)
    assert torch.equal(tests.batches[0].target, there.reference(tests.batches[0].input))

    def only_with_memories(x, c):
        right = there.reference(x)
        right[:, :7] = 99.0
        return right

    assert measure(only_with_memories, task, tests)[0].mse == 0.0
    assert measure(lambda x, c: task.reference(x), task, tests)[0].mse > 1.0


BAD = [
    ("fixed-memory", {"lags": (2, 32)}, "lag 32 is beyond a sequence of 32 tokens: write lags of at most 31"),
    ("fixed-memory", {"lags": (5, 2)}, "each larger than the one before, got [5, 2]"),
    ("fixed-memory", {"lags": (-1, 2)}, "lags from 0 up"),
    ("fixed-memory", {"lags": tuple(range(21)), "readout": "n-gram"}, "2^21 entries: write at most 20 of them"),
    ("fixed-memory", {"tokens": "gaussian", "readout": "n-gram"}, "gaussian tokens have no table of values: write"),
    ("fixed-memory", {"readout": {"kind": "boolean", "truth": [1, 2]}}, "2 answers for 2 memories of 2 values"),
    ("fixed-memory", {"readout": {"kind": "sum", "weights": [1]}}, "1 weights for 2 memories: write 2 of them"),
    ("adaptive-memory", {"within": (1, 1)}, "gives lags 1 to 2 and leaves its range 1 to 1: write within=[1, 2]"),
    ("adaptive-memory", {"within": (2, 2)}, "leaves its range 2 to 2: write within=[1, 2]"),
    ("adaptive-memory", {"index": {"kind": "line"}}, "leaves its range 1 to 2: write within=[1, 3]"),
    ("adaptive-memory", {"index": {"kind": "lookup", "lags": [-1, 1]}}, "range 1 to 2: write lags of at least 0"),
    ("adaptive-memory", {"index": {"kind": "lookup", "lags": [1, 2, 2]}}, "3 lags for tokens of 2 values: write 2"),
    ("adaptive-memory", {"tokens": "gaussian"}, "gaussian tokens have no table of values: write index = {kind"),
    ("adaptive-memory", {"tokens": "gaussian", "index": {"kind": "line"}}, "leaves its range 1 to 2: gaussian tokens"),
    ("adaptive-memory", {"nesting": 3}, "at most as much nesting as memories, got 3 and 2"),
    ("adaptive-memory", {"within": (3, 2)}, "within = [least, largest] lag from 0 up, got [3, 2]"),
    ("adaptive-memory", {"within": (1, 32)}, "lag 32 is beyond a sequence of 32 tokens"),
    ("adaptive-memory", {"index": ["lookup"] * 3}, "or one for each of 2 memories, got 3"),
    ("decaying-memory", {"kernels": {"kind": "polynomial", "power": 1.0}}, "is not summable: write a power above 1"),
    ("decaying-memory", {"kernels": {"kind": "exponential", "rate": 0}}, "is not summable: write a rate above 0"),
    ("decaying-memory", {"kernels": {"kind": "given", "rho": [1.0] * 33}}, "lag 32 is beyond a sequence of 32 tokens"),
    ("decaying-memory", {"kernels": {"kind": "given", "rho": [float("inf")]}}, "rho = inf is not allowed"),
    ("decaying-memory", {"readout": "n-gram"}, "sums of many tokens have no table of values: write readout"),
    ("decaying-memory", {"kernels": {"kind": "ricker", "shift": 40}}, "lag 40 is beyond a sequence of 32 tokens"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "message"), BAD)
def test_bad_options_are_refused_in_one_line(name, options, message):
    with pytest.raises(OrdinateError) as error:
        make_task(name, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"lag": 1}, "lag 1 is not beyond the other lags"),
        ({"memories": 3}, "from 1 to 2, got 3: write memories=2"),
    ],
)
def test_values_of_axes_that_do_not_exist_are_refused(axes, message):
    with pytest.raises(OrdinateError, match=message):
        FixedMemory().sample(2, generator=torch.Generator(), **axes)


def test_numbers_that_are_no_tokens_are_refused():
    with pytest.raises(OrdinateError, match="signs tokens are -1, 1: write these only"):
        FixedMemory(length=6).parse("1 -1 0 1 1 1")
    assert FixedMemory(length=6, tokens="ternary").parse("1 -1 0 1 1 1").input.shape == (1, 6, 1)


def test_long_sequences_are_answered():
    task = make_task("decaying-memory", length=65_536, kernels={"kind": "polynomial", "power": 2})
    batch = task.sample(1, generator=torch.Generator().manual_seed(0))
    assert batch.target.shape == (1, 65_536, 1)
    model = build_model(Memory(heads=2, width=2, hidden=4), task, seed=0)
    assert model(batch.input, batch.coordinates).shape == batch.target.shape
