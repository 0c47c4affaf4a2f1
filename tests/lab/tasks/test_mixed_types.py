"""Text and prices: answers read from the text by a person's rules, unseen names, both styles, what is refused."""

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.mixed_text import STYLES, SYMBOLS
from ordinate.models.inputs import as_features

ROW = re.compile(r"(?P<list>.*)\. Find (?P<query>sum|min|max) of categories (?P<asked>.*)\.")


def solve(line):
    """Read a line as a person would, and answer it."""
    found = ROW.fullmatch(line)
    prices = {}
    for entry in found["list"].split(", "):
        if re.fullmatch(r"Cat[A-Za-z] \d+\.\d\d", entry):
            name, price = entry.split()
            prices[name] = float(price)
        else:
            assert re.fullmatch(r"Cat[-+*_][A-Za-z]", entry)
    asked = re.split(", | and ", found["asked"])
    assert len(set(asked)) == len(asked)
    return {"sum": sum, "min": min, "max": max}[found["query"]](prices[name] for name in asked)


@given(
    categories=st.integers(1, 9),
    data=st.data(),
    text=st.sampled_from(sorted(STYLES)),
    unseen=st.integers(0, 1),
    seed=st.integers(0, 2**31),
)
def test_answers_are_those_of_a_reader(categories, data, text, unseen, seed):
    asked, confusing = data.draw(st.integers(1, categories)), data.draw(st.integers(0, 3))
    options = {"categories": categories, "asked": asked, "confusing": confusing, "text": text}
    task = make_task("mixed", **options, queries=("sum", "min", "max"))
    batch = task.sample(5, generator=torch.Generator().manual_seed(seed), unseen=unseen)
    for row in task.show(batch):
        assert float(row["target"]) == pytest.approx(solve(row["input"]), abs=0.005 * asked + 1e-6)
        assert row["input"].count("Cat") == categories + confusing + asked


def test_the_defaults_are_those_of_the_paper(generator):
    task = make_task("mixed")
    batch = task.sample(300, generator=generator)
    assert (task.categories, task.asked, task.confusing, task.names) == (8, 4, 2, 20)
    assert batch.input.shape == (300, 119, 2)
    assert 4.5 < batch.input[..., 1].max() <= 5
    line = task.show(batch)[0]["input"]
    text = "".join(SYMBOLS[int(i)] for i in batch.input[0, :111, 0])
    assert text == re.sub(r" \d\.\d\d", "", line)
    assert len({tuple(x) for x in batch.input[:, 111:, 0].tolist()}) == 1
    assert task.scored(batch.coordinates).nonzero().tolist() == [[0, 0]]
    assert batch.coordinates.label(111) == "price 0"


def test_names_are_sorted_and_all_occur(generator):
    task = make_task("mixed", text="words")
    for unseen, letters in ((0, "abcdefghijklmnopqrst"), (1, "uvwxyzABCDEFGHIJKLMN")):
        rows = task.show(task.sample(300, generator=generator, unseen=unseen))
        names = [re.findall(r"Cat(\w) ", row["input"].split("Find")[0]) for row in rows]
        places = [[letters.index(name) for name in row] for row in names]
        assert all(row == sorted(set(row)) for row in places)
        assert {place for row in places for place in row} == set(range(20))
        signs = set("".join(re.findall(r"Cat([-+*_])", "".join(row["input"] for row in rows))))
        assert signs == (set("*_") if unseen else set("+-"))


def test_beyond_is_the_published_test(generator):
    task = make_task("mixed", text="words")
    batch = task.sample(300, generator=generator, beyond=4.0)
    again = task.sample(300, generator=torch.Generator().manual_seed(0), scale=4.0, unseen=1)
    assert torch.equal(batch.input, again.input)
    assert 18 < batch.input[..., 1].max() <= 20
    assert not task.seen("beyond", 1.0)
    assert not task.seen("unseen", 1.0)
    assert task.seen("unseen", 0.0)


@pytest.mark.parametrize(("queries", "found"), [("min", {1}), ("sum", {0}), ("both", {1, 2})])
def test_queries_are_drawn_and_are_a_slice(queries, found, generator):
    task = make_task("mixed", queries=queries)
    assert set(task.slice("query", task.sample(60, generator=generator)).tolist()) == found
    with pytest.raises(OrdinateError, match="no slice 'hops'"):
        task.slice("hops", task.sample(1, generator=generator))


@pytest.mark.parametrize("text", sorted(STYLES))
def test_models_see_symbols_one_hot_and_prices(text, generator):
    task = make_task("mixed", text=text)
    batch = task.sample(2, generator=generator)
    features = as_features(batch.input, task.features, torch.float32)
    assert features.shape == (2, len(batch.coordinates), len(SYMBOLS) + 1)
    assert torch.equal(features[..., :-1].argmax(-1), batch.input[..., 0].long())
    assert (features[..., :-1].sum(-1) == 1).all()
    assert torch.equal(features[..., -1], batch.input[..., 1])


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"names": 7}, "8 categories need as many names, got 7: write names=8"),
        ({"asked": 9}, "asked must be at most categories, got 9 and 8"),
        ({"low": 5}, "low must be below high, got low = 5.0 and high = 5.0"),
        ({"high": "dear"}, "task.high = 'dear' is not allowed, it should be a valid number"),
        ({"queries": "mean"}, "task.queries = 'mean' is not allowed"),
        ({"queries": ()}, "task.queries = () is not allowed"),
        ({"text": "word"}, "did you mean 'words'?"),
    ],
)
def test_bad_options_are_refused_in_one_line(options, line):
    with pytest.raises(OrdinateError) as error:
        make_task("mixed", **options)
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_another_number_of_categories_is_another_task(generator):
    with pytest.raises(OrdinateError, match="has 8 categories, not 5: write categories=5"):
        make_task("mixed").sample(1, generator=generator, length=5)
