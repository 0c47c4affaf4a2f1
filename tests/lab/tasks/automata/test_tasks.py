"""Samples of machines: how many of each label and length, how likely each string is, how they are written."""

import time
from collections import Counter
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import ordinate as od
from ordinate.errors import OrdinateError
from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.automata import MACHINES, regular
from ordinate.lab.tasks.automata.words import SHORT, counted, draw_words, edited, grow, has_words, weights
from ordinate.lab.tasks.samples import answered, drawn

LANGUAGES = ["(0|1)*11(0|1)*", "(01)*|1*", "(0|1){3,}0", "~((0|1)*00(0|1)*)", "0*1*0*"]
ACCEPTORS = [name for name in MACHINES if make_task("machine", of=name).machine.recognises]
every = pytest.mark.parametrize("name", MACHINES)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def members(machine, length):
    inner = machine.symbols[1:]
    return {
        word
        for word in product(range(len(inner)), repeat=length)
        if machine.accepts([inner[s] for s in word])
    }


@pytest.mark.parametrize("expression", LANGUAGES)
@pytest.mark.parametrize("length", range(8))
def test_strings_of_a_length_are_counted(expression, length):
    machine = regular(expression, "01")
    inside = len(members(machine, length))
    for member, count in ((True, inside), (False, 2**length - inside)):
        counted = weights(machine, length, member)[length, machine.start].exp()
        assert counted.item() == pytest.approx(count)
        assert has_words(machine, length, member) == (count > 0)


@pytest.mark.parametrize("expression", LANGUAGES)
@pytest.mark.parametrize("length", [SHORT + 1, 1000])
def test_counting_in_parts_is_counting(expression, length):
    machine = regular(expression, "01")
    for member in (True, False):
        found = counted(machine, length, member)
        assert torch.equal(weights(machine, length, member)[0], found[0])
        first = found[0][:, None]
        plain = grow(machine.functions()[1:].T, first, length)[..., 0]
        assert found.shape == plain.shape
        torch.testing.assert_close(found, plain, rtol=1e-10, atol=1e-8)


@pytest.mark.parametrize("expression", LANGUAGES)
@pytest.mark.parametrize("member", [True, False])
def test_members_of_a_length_are_uniform(expression, member):
    machine, length, count = regular(expression, "01"), 6, 20_000
    kinds = members(machine, length)
    if not member:
        kinds = set(product(range(2), repeat=length)) - kinds
    found = Counter(map(tuple, draw_words(count, length, machine, member, seeded(0)).tolist()))
    assert set(found) == kinds
    expected = count / len(kinds)
    chi_squared = sum((n - expected) ** 2 / expected for n in found.values())
    freedom = len(kinds) - 1
    assert chi_squared <= freedom + 5 * (2 * freedom) ** 0.5  # five deviations


def test_long_members_are_uniform_too():
    only = draw_words(3, 2000, regular("0*1"), True, seeded(0))
    assert (only == torch.nn.functional.pad(torch.tensor([1]), (1999, 0))).all()
    machine = regular("0*1*0*")  # its members of n symbols are the intervals of n places, and none
    for count, rounds in ((2, 100), (800, 1)):  # cut into parts, and in one
        drawn = torch.cat([draw_words(count, 300, machine, True, seeded(seed)) for seed in range(rounds)])
        assert (machine.run(torch.nn.functional.pad(drawn + 1, (1, 0)))[:, -1] == 1).all()
        ones = drawn.sum(1).double()
        assert ones.mean().item() == pytest.approx(302 / 3, abs=25 if count == 2 else 12)  # five deviations


@pytest.mark.parametrize("name", ACCEPTORS)
def test_half_of_the_samples_are_members(name):
    task = make_task("machine", of=name)
    length = 15 if name == "modular-arithmetic" else 16  # lines with a result have an odd number of signs
    labels = task.sample(2000, generator=seeded(1), length=length).target[:, -1].double()
    assert labels.mean().item() == pytest.approx(0.5, abs=0.06)


def test_where_there_is_one_kind_it_is_drawn():
    task = make_task("regular", expression="(01)*")
    assert not task.sample(50, generator=seeded(0), length=7).target[:, -1].any()
    assert task.sample(50, generator=seeded(0), length=0).target.tolist() == [[1]] * 50
    assert make_task("regular", expression="(0|1)*").sample(50, generator=seeded(0)).target.all()


@given(st.integers(0, 2**31), st.integers(1, 12), st.integers(1, 4), st.integers(1, 5))
def test_one_edit_takes_out_and_puts_in(seed, length, symbols, most):
    g = seeded(seed)
    words = torch.randint(symbols, (20, length), generator=g)
    changed = edited(words, symbols, most, g)
    assert changed.shape == words.shape
    assert 0 <= changed.min() <= changed.max() < symbols
    for before, after in zip(words.tolist(), edited(words, symbols, 1, g).tolist(), strict=True):
        shorter = [before[:out] + before[out + 1 :] for out in range(length)]
        assert any(after[:into] + after[into + 1 :] in shorter for into in range(length))


def test_near_misses_are_near():
    near, far = (
        make_task("regular", expression="0{30}|1{30}", length=30, near=share, edits=2).sample(
            500, generator=seeded(0)
        )
        for share in (1.0, 0.0)
    )
    shares = []
    for batch in (near, far):
        ones = (batch.input[batch.target[:, -1] == 0] == 2).sum(1)
        shares.append((torch.minimum(ones, 30 - ones) <= 2).double().mean())
    assert shares[0] > 0.6  # the others are those that edits have left members: drawn again, from all
    assert shares[1] == 0


def test_chains_are_longer_where_more_symbols_remember():
    lengths = []
    for chains in (0.0, 1.0):
        task = make_task("machine", of="addition", chains=chains, length=200)
        lengths.append(task.slice("carries", task.sample(500, generator=seeded(0))).double())
    assert lengths[0].max() < 40  # a carry goes on with probability 0.55
    assert lengths[1].max() > 100


def test_the_slice_is_the_longest_stretch_of_carries():
    task = make_task("machine", of="addition")
    for text, longest in [("12 34", 0), ("55 99 00 91", 2), ("99", 1), ("00 91 91 90 00", 3)]:
        assert task.slice("carries", task.parse(text)).tolist() == [longest]


@every
def test_what_is_shown_is_read_again(name):
    task = make_task("machine", of=name)
    batch = task.sample(6, generator=seeded(3))
    for row, target in zip(task.show(batch), batch.target, strict=True):
        again = task.parse(row["input"])
        assert torch.equal(again.target[0], target)
        assert task.show(again) == [row]
        assert len(task.token_texts(again.input)) == len(batch.coordinates)
    assert batch.coordinates.ordinate == tuple(range(len(batch.coordinates)))


@every
def test_features_say_the_symbol(name):
    task = make_task("machine", of=name)
    letters = task.letters
    assert letters.shape == (len(task.machine.symbols), task.features)
    assert len(letters.unique(dim=0)) == len(letters)
    symbols = torch.arange(len(letters))[None]
    assert torch.equal(task.read(task.write(symbols)), symbols)
    batch = task.sample(4, generator=seeded(0))
    given = batch.input.double() if batch.input.is_floating_point() else batch.input
    assert torch.equal(task.reference(given), batch.target)
    assert torch.equal(task.machine.run(task.read(batch.input)), batch.target)


def test_a_column_is_its_digits_one_hot():
    task = make_task("machine", of="addition")
    assert task.features == 20
    assert task.parse("35").input[0, 0].nonzero()[:, 0].tolist() == [3, 15]
    redrawn = task.redraw(task.sample(200, generator=seeded(0)), 2, seeded(1))
    assert torch.equal(redrawn[:, :, :10].sum(-1), torch.ones(200, 16))


def test_numbers_are_read_as_people_write_them():
    rows = {
        "addition": ("21 93", "312+"),
        "subtraction": ("17 90", "91-07=84"),
        "comparison": ("17 90", "91>07"),
        "multiplication": ("34", "43x7=01"),
        "division": ("0100", "0100:7=0014"),
    }
    assert make_task("machine", of="addition").show(make_task("machine", of="addition").parse("21 93"))[
        0
    ] == {
        "input": "21 93",
        "target": "32",
        "reading": "92+31=23",
    }
    for name in list(rows)[1:]:
        task = make_task("machine", of=name)
        text, reading = rows[name]
        assert task.show(task.parse(text))[0]["reading"] == reading


def test_labels_are_scored_at_the_last_token_or_at_every_one():
    for options, scored in [
        ({"of": "parity"}, [False, False, True]),
        ({"of": "parity", "labels": "every"}, [True, True, True]),
        ({"of": "addition"}, [True, True]),
        ({"of": "addition", "labels": "last"}, [False, True]),
    ]:
        task = make_task("machine", **options)
        assert task.scored(task.coordinates(2))[:, 0].tolist() == scored
    row = make_task("machine", of="parity", labels="every").show(
        make_task("machine", of="parity").parse("0110")
    )[0]
    assert row == {"input": "0110", "target": "00100"}


def test_training_takes_lengths_that_have_both_kinds():
    assert make_task("regular", expression="(01)*", length=9, shortest=1).lengths() == (2, 4, 6, 8)
    assert make_task("regular", expression="(0|1)*", length=4, shortest=0).lengths() == (0, 1, 2, 3, 4)
    assert make_task("machine", of="addition", length=3, shortest=1).lengths() == (1, 2, 3)
    assert make_task("machine", of="parity", length=3).lengths() == (3,)


@every
def test_a_generator_decides_everything(name):
    task = make_task("machine", of=name)
    one, again, other = (task.sample(9, generator=seeded(seed)) for seed in (1, 1, 2))
    assert torch.equal(one.input, again.input)
    assert torch.equal(one.target, again.target)
    assert not torch.equal(one.input, other.input) or name == "repeat-01"


def test_options_stand_beside_the_name_or_in_a_table():
    flat = make_task("machine", of="dyck", brackets=1, depth=2, length=8)
    assert flat == make_task("machine", of={"kind": "dyck", "brackets": 1, "depth": 2}, length=8)
    assert flat == make_task("machine", of=MACHINES["dyck"](brackets=1, depth=2), length=8)
    recipe = od.Recipe(name="dyck", task=flat, model=od.Standard())
    assert od.Recipe.model_validate(recipe.model_dump(mode="json")).task == flat
    assert make_task("regular", expression=10) == make_task("regular", expression="10")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("machine", {"of": "dyk"}, "task.of.kind = 'dyk' is not known: did you mean 'dyck'?"),
        ("machine", {"of": 3}, "task.of = 3 is not allowed: write a name, one of addition,"),
        ("machine", {"of": "dyck", "depht": 2}, "unknown key 'task.depht': did you mean 'depth'?"),
        (
            "machine",
            {"of": {"kind": "dyck", "depht": 2}},
            "unknown key 'task.of.depht': did you mean 'depth'?",
        ),
        (
            "machine",
            {"of": "dyck", "depth": 0},
            "task.of.depth = 0 is not allowed, it should be greater than or equal to 1",
        ),
        (
            "machine",
            {"of": "table", "step": [[0, 1], [0]]},
            "state 1 has no state on '1' in step: write one, 0 to 1",
        ),
        (
            "machine",
            {"of": "addition", "shortest": 0},
            "shortest must be 1 to length = 16, got 0: write shortest=1",
        ),
        ("machine", {"shortest": 20}, "shortest must be 0 to length = 16, got 20: write shortest=0"),
        ("regular", {"expression": "(01"}, "expression '(01' ends at place 4, where ) is expected"),
        (
            "regular",
            {"expression": ""},
            "expression '' ends at place 1, where a symbol, ( or ~ is expected",
        ),
        ("regular", {"expresion": "1"}, "unknown key 'task.expresion': did you mean 'expression'?"),
    ],
)
def test_bad_options_are_refused_in_one_line(name, options, message):
    with pytest.raises(OrdinateError) as error:
        make_task(name, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "text", "message"),
    [
        ({"of": "parity"}, "012", "'012' is not understood, '2' is no symbol: write 0 1"),
        ({"of": "parity"}, "0^1", "'^' is no symbol"),
        ({"of": "addition"}, "35 2", "'2' is no symbol: write 00 01 02 03 04 05 06 07 08 09 ..."),
        ({"of": "addition"}, "", "length must be 1 to 1048576, got 0"),
    ],
)
def test_lines_that_cannot_be_read_are_refused(options, text, message):
    with pytest.raises(OrdinateError) as error:
        make_task("machine", **options).parse(text)
    assert message in str(error.value)


def test_samples_are_given_with_their_length():
    task = make_task("machine", of="parity")
    assert drawn(task, 2, length=5).to_dict()["length"] == 5
    found = answered(task, "01101")
    assert found.to_dict()["length"] == 5
    assert found.rows == [{"input": "01101", "target": "1"}]
    assert answered(task, "^").rows == [{"input": "^", "target": "0"}]
    columns = drawn(make_task("machine", of="addition"), 1, length=2).to_dict()["samples"][0]
    assert set(columns) == {"input", "target"}


@pytest.mark.parametrize("name", ["repeat-01", "addition", "multiplication"])
def test_a_million_tokens_are_drawn(name):
    task = make_task("machine", of=name)
    start = time.process_time()
    batch = task.sample(1, generator=seeded(0), length=10**6)
    assert time.process_time() - start < 20
    assert batch.input.shape[1] == len(batch.coordinates) == 10**6 + (name == "repeat-01")


@pytest.mark.parametrize(
    "options", [{"of": "addition"}, {"of": "dyck"}, {"of": "word-problem", "group": "S5"}]
)
def test_models_train_on_machines(options, tmp_path):
    task = make_task("machine", **options, length=6, shortest=2)
    recipe = od.Recipe(name="machine", task=task, model=od.Standard(), training=od.Training(steps=3))
    run = od.train(recipe, seeds=[0], store=str(tmp_path))[0]
    points = od.sweep(od.load(run), task, "length", [3, 6], count=20)
    assert [point.value for point in points] == [3, 6]
