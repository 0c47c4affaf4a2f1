"""The scan: its formula, lengths never trained, loops that change nothing, roundings along a training."""

import pytest
import torch

from ordinate.attention import captured
from ordinate.coordinates import Coordinates, layout
from ordinate.errors import OrdinateError
from ordinate.lab.architectures import Scan, ScanSettings, Signs
from ordinate.lab.architectures import scan as scan_module
from ordinate.models import build_model


class Letters:
    """Three letters in, two answers out."""

    features, outputs = 3, 2

    def lengths(self):
        return (5,)

    def trained(self):
        return (layout(token=5),)


@pytest.fixture
def model():
    return build_model(ScanSettings(width=4, hidden=9), Letters(), seed=0).eval()


def words(count, tokens, seed=0):
    return torch.randint(3, (count, tokens), generator=torch.Generator().manual_seed(seed))


def by_the_formula(model, word):
    """Token by token and loop by loop, as the docstring of the module says."""
    x, step, relu = torch.eye(3)[word], model.layers[0], torch.relu
    sign = lambda z: torch.where(z >= 0, 1.0, -1.0)  # noqa: E731
    states, leap = [sign(model.code(relu(model.encode(row)))) for row in x], 1
    while leap < len(x):
        first = [step.back(p) + step.own(s) for p, s in zip(states, states[leap:], strict=False)]
        taken = [sign(step.down(relu(step.middle(relu(z))))) for z in first]
        states, leap = states[:leap] + taken, 2 * leap
    before = [sign(model.begin), *states]
    return torch.stack([model.decode(relu(model.read(torch.cat(z)))) for z in zip(before, x, strict=False)])


@pytest.mark.parametrize("tokens", [1, 2, 3, 7, 8, 9])
def test_it_computes_its_formula(model, tokens):
    word = words(1, tokens)
    expected = by_the_formula(model, word[0])
    torch.testing.assert_close(model(word, layout(token=tokens))[0], expected)
    with torch.no_grad():
        torch.testing.assert_close(model(word, layout(token=tokens))[0], expected)


def test_an_answer_depends_on_nothing_behind_it(model):
    long = words(4, 40)
    with torch.no_grad():
        whole = model(long, layout(token=40))
        torch.testing.assert_close(whole[:, :23], model(long[:, :23], layout(token=23)))


def test_states_in_use_are_signs_and_in_training_numbers_between(model):
    for mode, exact in ((False, True), (True, False)):
        model.train(mode)
        with captured(model) as seen:
            model(words(2, 6), layout(token=6))
        assert bool((seen["states"].abs() == 1).all()) is exact
        assert bool((seen["states"].abs() <= 1).all())


def test_one_long_pass_is_computed_in_pieces(model, monkeypatch):
    word = words(2, 100)
    with torch.no_grad():
        whole = model(word, layout(token=100))
        monkeypatch.setattr(scan_module, "AT_ONCE", 7)
        torch.testing.assert_close(model(word, layout(token=100)), whole)


@pytest.mark.parametrize("leap", [9, 16, 64])
def test_more_loops_than_a_sequence_needs_change_nothing(model, leap):
    states = torch.ones(2, 9, 4)
    for grad in (True, False):
        with torch.set_grad_enabled(grad):
            assert torch.equal(model.loop(states, states, leap), states)


def test_tokens_may_be_written_in_any_order(model):
    word, order = words(3, 9), torch.randperm(9, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        written = model(word[:, order], layout(token=order))
        torch.testing.assert_close(written, model(word, layout(token=9))[:, order])


@pytest.mark.parametrize(
    "coordinates", [layout(one=3, other=2), layout(token=[0, 1, 3, 4, 5]), layout(token=[0, 1, 1, 2, 3])]
)
def test_several_fields_and_gaps_are_refused(model, coordinates):
    with pytest.raises(OrdinateError, match="reads one field without gaps"):
        model(words(1, 5), coordinates)


def test_windows_of_drawn_lengths_cover_every_token(model):
    """With a step that takes the larger sign of both, the last state tells whether a letter came anywhere."""
    step = model.layers[0]
    for parameter in step.parameters():
        torch.nn.init.zeros_(parameter)
    with torch.no_grad():  # middle(relu(p + s + 2)) is 0 where both are -1; else at least 2
        step.back.weight[0, 0] = step.own.weight[0, 0] = step.middle.weight[0, 0] = step.down.weight[0, 0] = (
            1.0
        )
        step.own.bias[0], step.down.bias[0] = 2.0, -1.0
    model.round, model.drawn = model.rounding.rounded, 1.0
    model.train()
    states = torch.full((20, 20, 4), -1.0)
    states[torch.arange(20), torch.arange(20), 0] = 1.0
    for seed in range(20):
        torch.manual_seed(seed)
        reached = model.scan(states)[:, :, 0]
        assert torch.equal(reached > 0, torch.ones(20, 20).triu().bool())


def test_noise_grows_and_ends_with_signs():
    rounding = Signs(noise=2.0, rises=(0.25, 0.5), exact=0.75, exact_noise=0.1)
    assert [rounding.deviation(share) for share in (0.0, 0.25, 0.375, 0.6, 0.75, 1.0)] == [
        0,
        0,
        1,
        2,
        0.1,
        0.1,
    ]
    z = torch.full((1000,), 0.5, requires_grad=True)
    torch.testing.assert_close(rounding.softly(z, 0.0), torch.tanh(z))
    assert 0.2 < (rounding.softly(z, 0.6) < 0).float().mean() < 0.6
    exact = rounding.softly(z, 0.75)
    assert exact.tolist() == [1.0] * 1000
    exact.sum().backward()
    assert bool((z.grad > 0).all())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"encoding": "rope"}, 'must have encoding = "none"'),
        ({"width": 64}, "less than or equal to 63"),
        ({"rounding": {"kind": "signs", "rises": [0.5, 0.2]}}, "must have rises"),
        ({"rounding": "codes"}, "signs"),
    ],
)
def test_settings_that_do_not_fit_are_refused(options, words):
    with pytest.raises((OrdinateError, ValueError), match=words):
        ScanSettings.model_validate(options)


def test_a_model_follows_its_dtype(model):
    assert model.double()(words(1, 4), Coordinates.of(token=range(4))).dtype == torch.float64
    assert isinstance(model, Scan)
