"""The answers of every task, in every format, against Python's whole numbers; options that cannot be."""

import operator
import re
from functools import reduce

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import make_task


def without_carries(a, b):
    width = max(len(str(a)), len(str(b)))
    pairs = zip(str(a).zfill(width), str(b).zfill(width), strict=True)
    return "".join(str((int(x) + int(y)) % 10) for x, y in pairs)


EXPECTED = {
    "addition": lambda *values: str(sum(values)),
    "several": lambda *values: str(sum(values)),
    "subtraction": lambda a, b: str(a - b).zfill(len(str(a))),
    "no-carry": without_carries,
    "multiplication": lambda a, b: str(a * b),
}

options = st.fixed_dictionaries(
    {
        "format": st.fixed_dictionaries(
            {"kind": st.sampled_from(["padded", "variable"]), "reverse": st.booleans()}
        ),
        "words": st.sampled_from([0, 3]),
        "spare": st.integers(0, 2),
        "sampler": st.sampled_from(["uniform", "shifted"]),
    }
)


def check(task, batch):
    """The shown numbers are operands, the shown answer is theirs, and the reference agrees."""
    for row in task.show(batch):
        numbers = [int(n) for n in re.findall(r"\d+", row["input"])]
        assert row["target"] == EXPECTED[task.name](*numbers)
    assert torch.equal(task.reference(batch.input, batch.coordinates), batch.target)
    spelt = batch.input.where(batch.input != 10, 0)
    assert not task.differs(task.reference(spelt, batch.coordinates), batch.target).any()
    assert torch.equal(task.reference(batch.input.int(), batch.coordinates), batch.target.int())


@given(st.sampled_from(sorted(EXPECTED)), options, st.integers(1, 60), st.integers(0, 10**6))
def test_answers(name, chosen, length, seed):
    extra = {"several": {"addends": 2 + seed % 8}, "multiplication": {"multiplier": 1 + seed % 3}}
    task = make_task(name, **chosen, **extra.get(name, {}))
    batch = task.sample(4, generator=torch.Generator().manual_seed(seed), length=length)
    check(task, batch)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_answers_of_a_thousand_digits(name, generator):
    task = make_task(name)
    check(task, task.sample(3, generator=generator, length=1000))


@pytest.mark.parametrize("name", ["addition", "no-carry", "subtraction"])
def test_answers_of_hard_pairs(name, generator):
    for sampler in ("complexity", "mixture", {"kind": "shifted", "of": "complexity"}):
        task = make_task(name, sampler=sampler)
        check(task, task.sample(50, generator=generator))


def test_a_mixture_of_operations_answers_both(generator):
    task = make_task("arithmetic", parts=["addition", "subtraction", {"name": "multiplication", "words": 2}])
    seen = set()
    for _ in range(20):
        batch = task.sample(3, generator=generator)
        part = task.part(batch.input)
        seen.add(part.name)
        check(part, batch)
        assert torch.equal(task.reference(batch.input, batch.coordinates), batch.target)
        assert task.scored(batch.coordinates).equal(part.scored(batch.coordinates))
    assert seen == {"addition", "subtraction", "multiplication"}


def test_subtraction_never_goes_below_zero(generator):
    for style in ("padded", "variable"):
        task = make_task("subtraction", format=style, digits=2)
        for _ in range(20):
            for row in task.show(task.sample(50, generator=generator)):
                assert reduce(operator.ge, map(int, re.findall(r"\d+", row["input"])))


def test_numbers_are_uniform(generator):
    task = make_task("addition", digits=1)
    rows = task.show(task.sample(10000, generator=generator))
    counts = torch.zeros(100)
    for row in rows:
        a, b = row["input"].split(" + ")
        counts[10 * int(a) + int(b)] += 1
    assert counts.min() > 55
    assert counts.max() < 150


@pytest.mark.parametrize(("digits", "low", "high"), [(1, 1, 9), (2, 10, 99), (3, 100, 999)])
def test_multipliers_have_exactly_their_digits(digits, low, high, generator):
    task = make_task("multiplication", multiplier=digits)
    shown = {int(row["input"].split()[0]) for row in task.show(task.sample(3000, generator=generator))}
    assert shown == set(range(low, high + 1)) or (digits == 3 and low <= min(shown) <= max(shown) <= high)


def test_mixed_multipliers_have_one_size_a_batch(generator):
    task = make_task("multiplication", multiplier=3, mixed=True)
    sizes = set()
    for _ in range(30):
        batch = task.sample(20, generator=generator)
        (size,) = {len(row["input"].split()[0]) for row in task.show(batch)}
        sizes.add(size)
        assert len(batch.coordinates) == 2 * size + 1 + 8
    assert sizes == {1, 2, 3}


def test_focus_is_the_power_of_the_share_of_a_size(generator):
    def long(**options):
        task = make_task("multiplication", multiplier=3, mixed=True, **options)
        sizes = [task.draw(1, 5, generator)[0].shape[1] for _ in range(400)]
        return sum(size == 3 for size in sizes) / len(sizes)

    assert long() == pytest.approx(3 / 6, abs=0.08)
    assert long(focus=3) == pytest.approx(27 / 36, abs=0.08)
    with pytest.raises(OrdinateError, match="write mixed = true"):
        make_task("multiplication", multiplier=3, focus=2)


def test_sparse_multipliers_have_zeros_in_a_share_of_the_samples(generator):
    task = make_task("multiplication", multiplier=3, sparse=0.4)
    multiplier, _ = task.draw(4000, 5, generator)
    assert multiplier.any(dim=1).all()
    # the first digit goes in half of the share, where one of the two others stays: each does with 0.5 * 0.9
    assert (multiplier[:, -1] == 0).float().mean() == pytest.approx(0.4 * 0.5 * (1 - 0.55**2), abs=0.02)
    check(task, task.sample(100, generator=generator))
    assert (task.tested().draw(500, 5, generator)[0][:, -1] > 0).all()


def test_mixed_multipliers_are_tested_at_their_full_size(generator):
    task = make_task("multiplication", multiplier=3, mixed=True).tested()
    for _ in range(10):
        batch = task.sample(2, generator=generator)
        assert batch.coordinates == task.coordinates(5)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("addition", {"digits": 0}, "task.digits = 0 is not allowed"),
        ("addition", {"width": 0}, "task.width = 0 is not allowed"),
        ("addition", {"words": -1}, "task.words = -1 is not allowed"),
        ("addition", {"format": "paded"}, "task.format.kind = 'paded' is not known: did you mean 'padded'?"),
        ("addition", {"format": {"kind": "padded", "revers": True}}, "did you mean 'reverse'?"),
        ("addition", {"format": 3}, "task.format = 3 is not allowed: write a name"),
        ("addition", {"sampler": "complex"}, "did you mean 'complexity'?"),
        ("addition", {"sampler": {"kind": "mixture", "share": 2}}, "task.sampler.share = 2 is not allowed"),
        ("addition", {"sampler": {"kind": "shifted", "of": "shifted"}}, "task.sampler.of.kind = 'shifted'"),
        ("several", {"addends": 1}, "task.addends = 1 is not allowed"),
        ("several", {"addends": 10}, "task.addends = 10 is not allowed"),
        ("several", {"sampler": "complexity"}, "the sampler draws pairs, and there are 3 numbers: write"),
        ("several", {"sampler": {"kind": "shifted", "of": "mixture"}}, "the sampler draws pairs"),
        ("multiplication", {"multiplier": 4}, "task.multiplier = 4 is not allowed"),
        ("multiplication", {"sampler": "mixture"}, "the sampler draws pairs to be added: write sampler ="),
        ("arithmetic", {"parts": []}, "parts must have different signs, got none"),
        ("arithmetic", {"parts": ["addition", "several"]}, "parts must have different signs, got + +"),
        ("arithmetic", {"parts": ["adition"]}, "did you mean 'addition'?"),
        (
            "arithmetic",
            {"parts": ["addition", {"name": "multiplication", "digits": 3}]},
            "parts must have the same digits, got 3, 5",
        ),
    ],
)
def test_bad_options(name, options, message):
    with pytest.raises(OrdinateError) as error:
        make_task(name, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_two_addends_may_be_hard_pairs(generator):
    task = make_task("several", addends=2, sampler="complexity")
    assert task.sample(3, generator=generator).input.shape == (3, 17)


def test_an_unknown_slice_gets_the_nearest(generator):
    for name, asked, hint in [("addition", "cascades", "cascade"), ("multiplication", "level", "levels")]:
        task = make_task(name)
        with pytest.raises(OrdinateError, match=f"has no slice '{asked}': did you mean '{hint}'"):
            task.slice(asked, task.sample(2, generator=generator))


def test_lines_of_several_operations_are_refused():
    task = make_task("arithmetic")
    with pytest.raises(OrdinateError, match=r"all lines of a batch need the same sign: write one of \+ x"):
        task.reference(torch.zeros(2, 17, dtype=torch.long))
