"""Where tokens stand in every format; typed lines are read as they are meant."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import Batch, make_task
from ordinate.lab.tasks.arithmetic.digits import SYMBOLS, resize, strip, to_digits


def line(task, *numbers, words=None):
    """A batch of one line: padded to the width of the task, or as wide as the numbers."""
    sizes = task.sizes(5, task.width) if task.format.name == "padded" else [len(str(n)) for n in numbers]
    digits = [strip(resize(to_digits([n], 9), size)) for n, size in zip(numbers, sizes, strict=True)]
    if task.name == "multiplication":
        digits[0] = to_digits([numbers[0]], len(str(numbers[0])))
    return task.compose(tuple(digits), words, torch.Generator().manual_seed(0))


def symbols(batch):
    return " ".join(SYMBOLS[i] for i in batch.input[0].tolist()).replace("pad", ".")


def answer(task, batch):
    scored = task.scored(batch.coordinates)[:, 0]
    assert (batch.target[:, ~scored] == 10).all()
    return " ".join(SYMBOLS[i] for i in batch.target[0, scored].tolist()).replace("pad", ".")


def labels(batch):
    return " ".join(batch.coordinates.label(i).replace(" ", "") for i in range(len(batch.coordinates)))


def test_addition_as_published():
    task = make_task("addition", width=20, spare=0)
    batch = line(task, 123, 4095)
    assert symbols(batch) == ". " * 17 + "1 2 3 + " + ". " * 16 + "4 0 9 5"
    assert answer(task, batch) == ". " * 17 + "4 2 1 8"
    assert len(batch.coordinates) == 41
    assert task.show(batch) == [{"input": "123 + 4095", "target": "4218"}]
    assert batch.coordinates.fields == ("first", "second")
    assert batch.coordinates.ordinate == (*range(19, -1, -1), *range(20, -1, -1))
    assert batch.coordinates == task.coordinates(20)


@pytest.mark.parametrize(
    ("name", "options", "numbers", "written", "target", "where"),
    [
        (
            "addition",
            {"width": 3, "format": {"kind": "padded", "reverse": True}},
            (12, 95),
            "2 1 . + 5 9 .",
            ". 7 0 1",
            "first0 first1 first2 second3 second0 second1 second2",
        ),
        (
            "addition",
            {"format": "variable"},
            (12, 995),
            "1 2 + 9 9 5 = _ _ _ _",
            "1 0 0 7",
            "first1 first0 sign0 second2 second1 second0 equals0 answer3 answer2 answer1 answer0",
        ),
        (
            "addition",
            {"format": {"kind": "variable", "reverse": True}},
            (12, 3),
            "2 1 + 3 = _ _ _",
            "5 1 .",
            "first0 first1 sign0 second0 equals0 answer0 answer1 answer2",
        ),
        (
            "several",
            {"width": 2},
            (12, 3, 99),
            "1 2 + . 3 + 9 9",
            "1 1 4",
            "first1 first0 second2 second1 second0 third2 third1 third0",
        ),
        ("subtraction", {"width": 4}, (105, 97), ". 1 0 5 - . . 9 7", ". . 0 0 8", None),
        ("no-carry", {"width": 3}, (51, 50), ". 5 1 + . 5 0", ". . 0 1", None),
        (
            "multiplication",
            {"width": 4, "multiplier": 2},
            (56, 4297),
            "5 6 x . . 4 2 9 7",
            "2 4 0 6 3 2",
            "multiplier1 multiplier0 sign0 "
            "multiplicand5 multiplicand4 multiplicand3 multiplicand2 multiplicand1 multiplicand0",
        ),
        (
            "multiplication",
            {"format": "variable"},
            (5, 42),
            "5 x 4 2 = _ _ _",
            "2 1 0",
            "multiplier0 sign0 multiplicand1 multiplicand0 equals0 answer2 answer1 answer0",
        ),
    ],
)
def test_lines(name, options, numbers, written, target, where):
    task = make_task(name, **options)
    batch = line(task, *numbers)
    assert symbols(batch) == written
    assert answer(task, batch) == target
    assert where is None or labels(batch) == where


def test_text_stands_before_between_and_after():
    task = make_task("addition", width=2)
    batch = line(task, 12, 3, words=3)
    text = [SYMBOLS[i] for i in batch.input[0].tolist() if i > 15]
    runs = "".join("t" if i > 15 else "." for i in batch.input[0].tolist()).split(".")
    before, between, after = len(runs[0]), len(runs[2]), len(runs[-1])
    assert before + between + after == len(text) > 0
    assert batch.coordinates.fields == ("first", "second", "text")
    of_text = [o for f, o in zip(batch.coordinates.field, batch.coordinates.ordinate, strict=True) if f == 2]
    assert of_text == list(range(len(text)))
    shown = "".join(text[:before]), "12", "".join(text[before : before + between]), "+ 3"
    assert task.show(batch)[0]["input"].startswith(" ".join(part for part in shown if part))
    assert task.show(batch)[0]["target"] == "15"


@pytest.mark.parametrize("name", ["addition", "several", "multiplication"])
@pytest.mark.parametrize("style", ["padded", "variable"])
def test_no_layout_is_longer_than_the_longest(name, style, generator):
    task = make_task(name, words=2, format=style)
    longest = len(task.coordinates(5))
    sizes = {len(task.sample(2, generator=generator).coordinates) for _ in range(60)}
    assert max(sizes) <= longest
    assert len(sizes) > 3
    assert task.layouts > 1
    plain = make_task(name)
    assert plain.layouts == 1
    assert plain.sample(2, generator=generator, words=2).coordinates.fields[-1] == "text"


@pytest.mark.parametrize(("length", "width"), [(1, 8), (7, 8), (8, 9), (20, 21)])
def test_longer_numbers_get_wider_fields(length, width):
    assert len(make_task("addition").coordinates(length)) == 2 * width + 1
    assert len(make_task("multiplication", multiplier=3).coordinates(length)) == 3 + 1 + width + 3


def test_coordinates_are_made_once():
    task = make_task("addition")
    assert task.coordinates(5) is task.coordinates(5)
    assert task.coordinates(5) is make_task("addition", sampler="complexity").coordinates(5)


def test_a_plain_layout_follows_from_the_number_of_tokens(generator):
    for name in ("addition", "several", "multiplication"):
        for style in ("padded", "variable"):
            task = make_task(name, format=style, sampler={"kind": "shifted"}, width=9)
            batch = task.sample(3, generator=generator)
            assert torch.equal(task.reference(batch.input), batch.target)
    with pytest.raises(OrdinateError, match="no line of addition has 4 tokens without text: give the coord"):
        make_task("addition").reference(torch.zeros(1, 4, dtype=torch.long))


def test_a_part_of_a_batch_can_be_shown(generator):
    task = make_task("addition")
    batch = task.sample(5, generator=generator)
    assert task.show(Batch(batch.input[2:4], batch.target[2:4], batch.coordinates)) == task.show(batch)[2:4]


def test_sizes_of_variable_numbers_are_those_of_uniform_ones():
    task = make_task("addition", format="variable", digits=3)
    draw = torch.Generator().manual_seed(0)
    sizes = torch.zeros(4)
    for _ in range(600):
        batch = task.sample(1, generator=draw)
        for number in task.show(batch)[0]["input"].removesuffix(" =").split(" + "):
            assert number == str(int(number))
            sizes[len(number)] += 1
    assert 1030 < sizes[3] < 1130
    assert 70 < sizes[2] < 150


wholes = st.integers(0, 10**12)


@settings(max_examples=20)
@given(wholes, wholes, st.sampled_from(["{}+{}", " {} + {} ", "{}+{} =", "00{}+{}"]))
def test_sums_are_read_in_every_spelling(a, b, form):
    task = make_task("addition")
    batch = task.parse(form.format(a, b))
    assert task.show(batch) == [{"input": f"{a} + {b}", "target": str(a + b)}]
    longest = max(len(str(a)), len(str(b)))
    assert batch.coordinates == task.coordinates(longest)


@settings(max_examples=20)
@given(st.integers(100, 999), wholes, st.sampled_from("x*\N{MULTIPLICATION SIGN}"))
def test_products_are_read(a, b, sign):
    task = make_task("multiplication", multiplier=3, format="variable")
    assert task.show(task.parse(f"{a}{sign}{b}"))[0]["target"] == str(a * b)


def test_text_is_kept_where_it_stands():
    task = make_task("multiplication", words=3)
    batch = task.parse("xx 7 ax x 12 b")
    assert task.show(batch)[0] == {"input": "xx 7 ax x 12 b", "target": "84"}
    assert batch.coordinates == task.layout((1, 9), (2, 2, 1))


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
