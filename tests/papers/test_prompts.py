"""Prompts as a person reads them; answers that are read back, and their errors."""

import math
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.lab.tasks import make_task
from ordinate.papers.positional.fine_tuning import ANSWER_TOKENS, judge_answers, read_answer, write_prompts


@settings(max_examples=15)
@given(
    categories=st.integers(1, 9),
    data=st.data(),
    unseen=st.integers(0, 1),
    scale=st.sampled_from([1.0, 10.0]),
    seed=st.integers(0, 2**31),
)
def test_a_prompt_gives_its_sample_and_its_answer_back(categories, data, unseen, scale, seed):
    asked, confusing = data.draw(st.integers(1, categories)), data.draw(st.integers(0, 3))
    sizes = {"categories": categories, "asked": asked, "confusing": confusing}
    task = make_task("mixed", **sizes, queries=("sum", "min", "max"))
    batch = task.sample(4, generator=torch.Generator().manual_seed(seed), unseen=unseen, scale=scale)
    written = write_prompts(task, batch)
    for place, (text, whole) in enumerate(zip(written.texts, written.answered(), strict=True)):
        assert len(re.findall(r"Cat\w, \d\d\.\d\d[,.]", text)) == categories
        again = task.parse(re.sub(r"(Cat\w), (\d)", r"\1 \2", text))
        assert torch.equal(again.input[0, :, 0], batch.input[place, :, 0])
        assert torch.allclose(again.input[0, :, 1], batch.input[place, :, 1], atol=0.00501)
        assert float(again.target[0, 0, 0]) == pytest.approx(float(written.answers[place]), abs=1e-4)
        answer = whole.removeprefix(text)
        assert re.fullmatch(r" Answer: \d{3}\.\d\d", answer)
        assert read_answer(answer) == pytest.approx(float(written.answers[place]), abs=1e-6)
        assert len(answer) < ANSWER_TOKENS


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (" Answer: 012.50", 12.5),
        ("Answer: 7", 7.0),
        (" Answer: -1.50 ", -1.5),
        (" Answer: 1.2.3", math.nan),
        (" Answer: ", math.nan),
        (" Answer: nan", math.nan),
        (" Answer: 1.5, Cata", math.nan),
        ("12.50", math.nan),
        ("", math.nan),
    ],
)
def test_answers_are_numbers_or_nothing(text, number):
    assert read_answer(text) == pytest.approx(number, nan_ok=True)


PLACE = {"axis": "beyond", "value": 2.0, "in_distribution": False, "lengths": (8,)}


@given(
    rows=st.lists(
        st.tuples(st.floats(0, 60) | st.just(math.nan), st.integers(0, 5000).map(lambda n: n / 100)),
        min_size=1,
        max_size=12,
    )
)
def test_errors_are_those_of_the_answers_that_are_numbers(rows):
    answers, right = (torch.tensor(column, dtype=torch.float64) for column in zip(*rows, strict=True))
    point, errors = judge_answers(answers, right, relative=0.1, absolute=0.1, **PLACE)
    read = [(a, y) for a, y in rows if not math.isnan(a)]
    assert (point.count, point.numbers) == (len(rows), pytest.approx(len(read) / len(rows)))
    near = sum(abs(a - y) <= 0.1 + 0.1 * y for a, y in read)
    assert point.accuracy == pytest.approx(near / len(rows))
    mse = sum((a - y) ** 2 for a, y in read) / len(read) if read else math.nan
    assert point.mse == pytest.approx(mse, nan_ok=True)
    assert point.score == pytest.approx(mse, nan_ok=True)
    assert float(errors.mean()) == pytest.approx(mse, nan_ok=True)
    shares = [100 * abs(a - y) / y for a, y in read if y]
    mape = sum(shares) / len(shares) if shares else math.nan
    assert point.percentage_error == pytest.approx(mape, nan_ok=True)
    for (a, y), error in zip(rows, errors.tolist(), strict=True):
        assert error == pytest.approx(mse if math.isnan(a) else (a - y) ** 2, nan_ok=True)
