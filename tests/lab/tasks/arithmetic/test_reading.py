"""Typed lines are read as they are meant, and carries are those of school."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.arithmetic.carries import CarryChain, longest_cascade
from ordinate.lab.tasks.arithmetic.digits import add_places, to_digits

numbers = st.integers(0, 10**12)


@settings(max_examples=20)
@given(numbers, numbers, st.sampled_from(["{}+{}", " {} + {} ", "{}+{} =", "00{}+{}"]))
def test_sums_are_read_in_every_spelling(a, b, form):
    task = make_task("addition")
    batch = task.parse(form.format(a, b))
    assert task.show(batch) == [{"input": f"{a} + {b}", "target": str(a + b)}]
    longest = max(len(str(a)), len(str(b)))
    assert batch.coordinates == task.coordinates(longest)


@settings(max_examples=20)
@given(st.integers(100, 999), numbers, st.sampled_from("x*\N{MULTIPLICATION SIGN}"))
def test_products_are_read(a, b, sign):
    task = make_task("multiplication", multiplier=3, format="variable")
    assert task.show(task.parse(f"{a}{sign}{b}"))[0]["target"] == str(a * b)


def test_text_is_kept_where_it_stands():
    task = make_task("multiplication", words=3)
    batch = task.parse("xx 7 ax x 12 b")
    assert task.show(batch)[0] == {"input": "xx 7 ax x 12 b", "target": "84"}
    assert batch.coordinates == task.layout((1, 9), (2, 2, 1))


@pytest.mark.parametrize(
    ("name", "text", "into", "cascades"),
    [
        ("addition", "995+17", [0, 1, 1, 1], [(0, 0), (1, 2)]),
        ("subtraction", "1000-1", [0, -1, -1, -1], [(0, 2)]),
        ("multiplication", "7x89", [0, 6, 6, 0], [(0, 1)]),
        ("several", "99+99+9", [0, 2, 2, 0], [(0, 1)]),
        ("arithmetic", "5+5", [0, 1, 0, 0], [(0, 0)]),
    ],
)
def test_carries_of_one_line(name, text, into, cascades):
    task = make_task(name)
    chain = task.carries(task.parse(text))
    assert list(chain.into[:4]) == into
    assert list(chain.cascades) == cascades
    assert make_task("no-carry").carries(make_task("no-carry").parse("9+9")) is None


@settings(max_examples=20)
@given(numbers, numbers)
def test_the_chain_adds_and_its_longest_cascade_is_that_of_the_slice(a, b):
    sums = add_places([to_digits([a], 14), to_digits([b], 14)], 14)
    chain = CarryChain.of(sums[0].tolist())
    assert sum(digit * 10**place for place, digit in enumerate(chain.digits)) == a + b
    lengths = [last - first + 1 for first, last in chain.cascades]
    assert max(lengths, default=0) == int(longest_cascade(sums))
    assert torch.tensor(chain.out[:-1]).equal(torch.tensor(chain.into[1:]))
    assert len(chain.to_dict()["places"]) == 14


@pytest.mark.parametrize("name", ["addition", "subtraction", "multiplication", "several", "arithmetic"])
@pytest.mark.parametrize("written", ["padded", "variable"])
def test_changed_lines_are_lines_of_the_task(name, written):
    """Read back from how they are shown, they are the same."""
    parts = [{"name": part, "format": written} for part in ("addition", "multiplication")]
    task = make_task(name, parts=parts) if name == "arithmetic" else make_task(name, format=written)
    text = {"several": "40+1+999", "multiplication": "7x208", "arithmetic": "7x208"}.get(name, "450-99")
    batch = task.parse(text.replace("-", "+") if name == "addition" else text)
    inputs, _ = task.changes(batch, torch.Generator())
    assert len(inputs) > 30
    shown = task.show(batch._replace(input=inputs, target=task.reference(inputs, batch.coordinates)))
    for line, row in zip(inputs, shown, strict=True):
        if written == "padded":
            read = task.parse(row["input"])
            assert torch.equal(read.input[0], line)
            assert read.coordinates == batch.coordinates
