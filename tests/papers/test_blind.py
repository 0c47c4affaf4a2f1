"""The best answer without the question: against all questions asked one by one, and against what is known of it."""

import pytest
import torch

from ordinate.lab.seeds import generator
from ordinate.lab.tasks import make_task
from ordinate.papers.positional.mixed import BLIND, answers, blind_error, mixed_type, mixed_type_samples, task


@pytest.mark.parametrize(("query", "known"), [("min", 0.0676), ("sum", 0.695)])
def test_it_is_the_error_that_was_worked_out_for_the_published_task(query, known):
    assert blind_error(task(query, "words"), 1.0) == pytest.approx(known, rel=0.03)


@pytest.mark.parametrize("query", ["sum", "min", "max", "both"])
def test_no_answer_made_of_prices_alone_is_better(query):
    small = make_task("mixed", categories=4, asked=2, confusing=0, names=5, queries=query, text="words")
    batch = small.sample(20_000, generator=generator(1, "test"))
    _, prices = small.read(batch.input)
    mean, target = answers(prices, small).mean(-1), batch.target[:, 0, 0]
    least = float((target - mean).square().mean())
    assert least == pytest.approx(blind_error(small, 1.0), rel=0.05)
    for other in (mean + 0.1, 0.9 * mean, prices.amax(-1), torch.full_like(mean, float(target.mean()))):
        assert float((target - other).square().mean()) > least


def test_it_grows_with_the_square_of_prices():
    small = make_task("mixed", categories=3, asked=2, confusing=0, names=3, text="words")
    assert blind_error(small, 100.0) == pytest.approx(1e4 * blind_error(small, 1.0), rel=0.1)


def test_it_stands_in_every_panel_of_errors():
    for plan in (mixed_type.plan("laptop"), mixed_type_samples.plan("laptop")):
        for sheet in plan.sheets:
            assert [line.label for line in sheet.lines][-1] == BLIND


def test_unseen_names_are_nowhere_in_distribution():
    inside = {sheet.title: sheet.trained_to for sheet in mixed_type.plan("laptop").sheets}
    assert {title for title, to in inside.items() if to is None} == {t for t in inside if "unseen" in t}
