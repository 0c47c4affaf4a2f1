"""The residual encoder: every form and encoding, lengths never trained, loops."""

from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.attention import ContentClass
from ordinate.encodings import ENCODINGS, Alibi, NoPosition, Pairwise, Rope, Shaw
from ordinate.errors import OrdinateError
from ordinate.kinds import choose
from ordinate.lab.architectures import MODELS
from ordinate.lab.tasks import TASKS, make_task
from ordinate.lab.tasks.arithmetic.digits import TIMES
from ordinate.models import ResidualEncoder, build_model
from ordinate.models.encoder import NULL_LOOP, GatedPerceptron
from ordinate.relations import aligned, leap, uniform, window

TASK = make_task("addition", digits=2, width=3)
SMALL = {"layers": 2, "heads": 4, "width": 16, "hidden": 16}
RELATED = (Pairwise(relation=(aligned() * window(2),)),)


def batch_of(task, length=None, count=2):
    return task.sample(count, generator=torch.Generator().manual_seed(0), length=length)


@pytest.mark.parametrize("name", sorted(ENCODINGS))
def test_every_encoding_works_and_gets_a_gradient(name):
    options = {"fields": ("first",)} if name == "upe" else {}
    model = build_model(ResidualEncoder(**SMALL, encoding=(ENCODINGS[name](**options),)), TASK, seed=0)
    batch = batch_of(TASK)
    output = model(batch.input, batch.coordinates)
    assert output.shape == (2, len(batch.coordinates), TASK.outputs)
    output.square().sum().backward()
    assert output.isfinite().all()
    for parameter in model.encoding.parameters():
        assert parameter.grad is not None
        assert parameter.grad.isfinite().all()


@pytest.mark.parametrize("name", sorted(TASKS))
def test_every_task_goes_through(name):
    task = make_task(name)
    model = build_model(ResidualEncoder(**SMALL, encoding=(NoPosition(),)), task, seed=0)
    batch = batch_of(task)
    assert model(batch.input, batch.coordinates).shape == (2, len(batch.coordinates), task.outputs)


@settings(max_examples=10)
@given(st.permutations(range(7)))
def test_without_positions_it_sees_a_set(order):
    model = build_model(ResidualEncoder(**SMALL, encoding=(NoPosition(),)), TASK, seed=0).double()
    batch, order = batch_of(TASK), list(order)
    moved = model(batch.input[:, order], batch.coordinates)
    torch.testing.assert_close(moved, model(batch.input, batch.coordinates)[:, order])


@pytest.mark.parametrize("encoding", [RELATED, (Alibi(),), (Rope(),), (Shaw(clip=3),), (NoPosition(),)])
def test_it_runs_at_lengths_never_trained(encoding):
    model = build_model(ResidualEncoder(**SMALL, encoding=encoding), TASK, seed=0)
    for length in (1, 4, 40):
        batch = batch_of(TASK, length)
        assert model(batch.input, batch.coordinates).isfinite().all()


def test_answers_of_a_related_model_depend_on_the_window_alone():
    """Two layers of window(2): a place sees at most four places back, at any length."""
    model = build_model(ResidualEncoder(**SMALL, encoding=RELATED), TASK, seed=0).double()
    batch = batch_of(TASK, 12)
    c, changed = batch.coordinates, batch.input.clone()
    token = next(i for i in range(len(c)) if c.label(i) == "first 3")
    changed[:, token] = (changed[:, token] + 1) % 10
    moved = (model(changed, c) != model(batch.input, c)).any(-1).any(0)
    assert {c.ordinate[i] for i in moved.nonzero().flatten().tolist()} == {3, 4, 5, 6, 7}


def test_loops_go_through_the_same_layers_again():
    twice = build_model(ResidualEncoder(**SMALL, encoding=RELATED, loops=2), TASK, seed=0)
    once = build_model(ResidualEncoder(**SMALL, encoding=RELATED), TASK, seed=0)
    batch = batch_of(TASK)
    looped = twice(batch.input, batch.coordinates)
    assert not torch.allclose(looped, once(batch.input, batch.coordinates))
    once.layers = torch.nn.ModuleList([*once.layers, *once.layers])
    torch.testing.assert_close(looped, once(batch.input, batch.coordinates))


def test_dropout_is_there_in_training_only():
    model = build_model(ResidualEncoder(**SMALL, encoding=RELATED, dropout=0.5), TASK, seed=0)
    batch = batch_of(TASK)
    assert not torch.equal(model(batch.input, batch.coordinates), model(batch.input, batch.coordinates))
    model.eval()
    assert torch.equal(model(batch.input, batch.coordinates), model(batch.input, batch.coordinates))


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({"attention": "contnet"}, "model.attention.kind = 'contnet' is not known: did you mean 'content'?"),
        ({"attention": {"kind": "class", "x": 1}}, "unknown key 'model.attention.x'"),
        ({"dropout": 1.0}, "model.dropout = 1.0 is not allowed"),
        ({"loops": 0}, "model.loops = 0 is not allowed"),
        ({"width": 30}, "multiple of heads, got 30 and 4"),
        ({"encoding": {"kind": "pairwise", "relation": "alinged"}}, "did you mean 'aligned'?"),
    ],
)
def test_bad_settings_are_refused_in_one_line(value, line):
    with pytest.raises(OrdinateError) as error:
        choose({"kind": "encoder", **value}, MODELS, "model")
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_more_relations_than_heads_are_refused():
    encoding = Pairwise(relation=(aligned(), window(1), window(2)))
    with pytest.raises(OrdinateError, match="has 3 relations for 4 heads: write a number of heads"):
        build_model(ResidualEncoder(**SMALL, encoding=(encoding,)), TASK, seed=0)


def test_settings_come_back_from_their_dump():
    settings = ResidualEncoder(**SMALL, encoding=(*RELATED, Alibi()), attention="content-class", loops=2)
    assert choose(settings.model_dump(mode="json"), MODELS, "model") == settings


@pytest.mark.parametrize(
    ("relation", "told_apart"),
    [(uniform("multiplier"), False), (uniform("multiplier", "sign"), True)],
)
def test_places_at_the_edge_of_a_number_need_something_else_to_look_at(relation, told_apart):
    """In 4 x 44 both digits see fours alone: weights sum to one, whichever keys a window finds."""
    task = make_task("multiplication", digits=2, width=2)
    pairs = Pairwise(relation=relation | aligned("multiplicand") * window(back=1))
    model = build_model(ResidualEncoder(encoding=(pairs,), attention=ContentClass()), task, seed=0)
    coordinates = task.coordinates(2)
    symbols = torch.full((1, len(coordinates)), 4)
    symbols[0, coordinates.field.index(coordinates.fields.index("sign"))] = TIMES
    lowest, second = model(symbols, coordinates)[0, -1], model(symbols, coordinates)[0, -2]
    assert torch.allclose(lowest, second, atol=1e-5) is not told_apart


def test_hidden_units_of_a_gated_perceptron_are_products():
    gated = GatedPerceptron(width=3, hidden=2)
    x = torch.randn(1, 1, 3)
    gate, up = gated.up.weight[:2], gated.up.weight[2:]
    with torch.no_grad():
        hidden = [
            F.gelu(gate[unit] @ x[0, 0] + gated.up.bias[unit])
            * (up[unit] @ x[0, 0] + gated.up.bias[2 + unit])
            for unit in range(2)
        ]
        expected = gated.down.weight @ torch.stack(hidden) + gated.down.bias
        assert torch.allclose(gated(x)[0, 0], expected, atol=1e-6)


def test_a_recipe_can_ask_for_gated_perceptrons():
    task = make_task("addition", digits=2, width=2)
    plain, gated = (
        build_model(ResidualEncoder(layers=1, hidden=8, gated=gated), task, seed=0) for gated in (False, True)
    )
    assert isinstance(gated.layers[0].perceptron, GatedPerceptron)
    more = sum(p.numel() for p in gated.parameters()) - sum(p.numel() for p in plain.parameters())
    assert more == 8 * 64 + 8


def test_layers_in_front_and_behind_are_passed_one_time():
    model = build_model(
        ResidualEncoder(**{**SMALL, "layers": 3}, loops=2, unlooped_layers=(1, 1)), TASK, seed=0
    )
    batch, order = batch_of(TASK), []
    for number, layer in enumerate(model.layers):
        layer.register_forward_hook(lambda *_, number=number: order.append(number))
    model(batch.input, batch.coordinates)
    assert order == [0, 1, 1, 2]
    for unlooped in ((2, 1), (-1, 0)):
        with pytest.raises(OrdinateError, match="fewer layers than the model has"):
            choose({"kind": "encoder", "layers": 3, "unlooped_layers": unlooped}, MODELS, "model")


def test_loops_may_be_repeated_in_training_and_never_in_a_test():
    options = {**SMALL, "layers": 1}
    model = build_model(
        ResidualEncoder(**options, loops=4, trained_loops=(5, 7), repeat_loop_prob=0.5), TASK, seed=0
    )
    torch.manual_seed(0)
    drawn = [model._loops() for _ in range(50)]
    assert {len(loops) for loops in drawn} == {5, 6, 7}
    for loops in drawn:
        assert loops[0] == 0
        assert all(after - before in (0, 1) for before, after in pairwise(loops))
    assert len({tuple(loops) for loops in drawn}) > 20
    model.eval()
    assert model._loops() == [0, 1, 2, 3]


def test_null_loops_in_training_and_the_others_go_on_where_they_were():
    options = {**SMALL, "layers": 1, "encoding": (Pairwise(relation=(leap(),)),), "attention": ContentClass()}
    model = build_model(
        ResidualEncoder(**options, loops=4, trained_loops=(6, 8), repeat_loop_prob=0.3, null_loop_prob=0.4),
        TASK,
        seed=0,
    )
    torch.manual_seed(0)
    drawn = [model._loops() for _ in range(50)]
    assert {len(loops) for loops in drawn} == {6, 7, 8}
    assert any(loops[0] == NULL_LOOP for loops in drawn)
    for loops in drawn:
        real = [loop for loop in loops if loop != NULL_LOOP]
        assert real[:1] in ([0], [])
        assert all(after - before in (0, 1) for before, after in pairwise(real))
    late = sum(loop == NULL_LOOP for loops in drawn for loop in loops) / sum(map(len, drawn))
    assert 0.3 < late < 0.5
    model.eval()
    assert model._loops() == [0, 1, 2, 3]
    batch = batch_of(TASK)
    assert model.train()(batch.input, batch.coordinates).isfinite().all()


def test_with_inject_input_loops_add_to_the_input_of_the_first():
    options = {
        **SMALL,
        "layers": 3,
        "unlooped_layers": (1, 1),
        "encoding": RELATED,
        "attention": ContentClass(),
    }
    model = build_model(ResidualEncoder(**options, loops=3, inject_input=True), TASK, seed=0).eval()
    batch = batch_of(TASK)
    seen = F.one_hot(batch.input, TASK.features).float()
    first, middle, last = model.layers
    start = x = first(model.encode(seen), batch.coordinates, model.encoding)
    for _ in range(3):
        y = start + middle.attention(middle.norm_attention(x), batch.coordinates, model.encoding)
        x = y + middle.perceptron(middle.norm_perceptron(y))
    by_hand = model.decode(model.norm(last(x, batch.coordinates, model.encoding)))
    torch.testing.assert_close(model(batch.input, batch.coordinates), by_hand)


def test_with_inject_input_loops_settle_where_sums_would_grow():
    options = {**SMALL, "layers": 1, "encoding": RELATED, "attention": ContentClass(), "inject_input": True}
    models = [build_model(ResidualEncoder(**options, loops=n), TASK, seed=0).eval() for n in (2, 50)]
    batch = batch_of(TASK)
    for model in models:
        for parameter in (*model.layers[0].perceptron.parameters(), *model.layers[0].attention.parameters()):
            parameter.data.mul_(0.1)  # a contraction: loops settle
    few, many = (model(batch.input, batch.coordinates) for model in models)
    torch.testing.assert_close(few, many, rtol=0.05, atol=0.05)


RENAMED = {
    "once": ("unlooped_layers", (1, 1)),
    "stay": ("repeat_loop_prob", 0.3),
    "idle": ("null_loop_prob", 0.4),
    "anew": ("inject_input", True),
}


@pytest.mark.parametrize("older", RENAMED)
def test_older_keys_of_recipes_are_read_and_stored(older):
    """Stored runs have them, and their keys are made of them."""
    name, value = RENAMED[older]
    options = {"kind": "encoder", "layers": 4}
    by_both = [choose(options | {key: value}, MODELS, "model") for key in (older, name)]
    assert by_both[0] == by_both[1]
    for chosen in by_both:
        assert getattr(chosen, name) == value
        stored = chosen.model_dump(mode="json")
        assert stored[older] == (list(value) if isinstance(value, tuple) else value)
        assert name not in stored
    with pytest.raises(OrdinateError) as refusal:
        choose(options | {older: value, name: value}, MODELS, "model")
    assert (
        str(refusal.value) == f"'model.{name}' is given under its older name {older!r} too: write one of them"
    )


def test_what_is_wrong_is_said_with_the_name_of_now():
    with pytest.raises(
        OrdinateError, match=r"model.null_loop_prob = 2 is not allowed.*\(null_loop_prob: share"
    ):
        choose({"kind": "encoder", "idle": 2}, MODELS, "model")
