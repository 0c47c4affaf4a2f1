"""Proofs of scans written by hand, true counterexamples of spoilt ones, and words found by trying all of them."""

from itertools import pairwise, product

import pytest
import torch

from ordinate.coordinates import layout
from ordinate.errors import OrdinateError
from ordinate.lab.architectures import Positional, ScanSettings
from ordinate.lab.proofs import prove_model
from ordinate.lab.proofs import search as search_module
from ordinate.lab.proofs.bounds import Layer, perceptron
from ordinate.lab.tasks import make_task
from ordinate.models import build_model
from tests.lab.proofs.built import adder, adder_letters, adder_machine, parity, parity_machine


def answers(model, letters, words):
    with torch.no_grad():
        return model(letters[words], layout(token=words.shape[1])).argmax(-1)


def test_parity_is_proven_with_its_two_states():
    proof = prove_model(parity(), torch.eye(3), parity_machine())
    assert (proof.verdict, proof.states, proof.pairs) == ("proven", 2, (2, 2))
    assert proof.distance > proof.error > 0


def test_addition_is_proven_with_its_three_states():
    proof = prove_model(adder(), adder_letters(), adder_machine())
    assert (proof.verdict, proof.states, proof.word) == ("proven", 3, ())


def test_what_is_proven_is_right_on_a_long_cascade():
    nines, model, machine = torch.full((1, 3000), 90), adder(), adder_machine()
    nines[0, 0] = 91
    assert torch.equal(answers(model, adder_letters(), nines), machine.run(nines))


@pytest.mark.parametrize("seed", range(6))
def test_a_random_model_gets_wrong_the_word_that_is_shown_and_none_that_is_shorter(seed):
    machine, letters = parity_machine(), torch.eye(3)
    model = build_model(ScanSettings(width=3, hidden=6), _Shape(), seed=seed).eval()
    proof = prove_model(model, letters, machine)
    assert proof.verdict == "counterexample"
    assert _shortest_wrong(model, machine, len(proof.word)) == len(proof.word)
    word = torch.tensor([machine.indices(proof.word)])
    assert machine.outputs[answers(model, letters, word)[0, -1]] == proof.answered != proof.expected


class _Shape:
    features, outputs = 3, 2

    def lengths(self):
        return (4,)

    def trained(self):
        return ()


def _shortest_wrong(model, machine, longest):
    for tokens in range(1, longest + 1):
        words = torch.tensor([(0, *rest) for rest in product((1, 2), repeat=tokens - 1)])
        if not torch.equal(answers(model, torch.eye(3), words)[:, -1], machine.run(words)[:, -1]):
            return tokens
    return None


def test_a_bug_that_only_long_words_show_is_found():
    """A counter of four signs that is made to fail where a window holds more ones than it can count."""
    model, machine = parity(), parity_machine()
    other = build_model(ScanSettings(width=2, hidden=4), _Shape(), seed=0).eval().requires_grad_(False)
    for module in other.modules():
        for parameter in module.parameters(recurse=False):
            parameter.zero_()
    step, old = other.layers[0], model.layers[0]
    other.encode.weight[:2], other.code.weight[:1, :2] = model.encode.weight, model.code.weight
    other.code.bias[:] = torch.tensor([-1.0, -1.0])
    other.read.weight[:2, :1], other.read.weight[:2, 2:] = model.read.weight[:, :1], model.read.weight[:, 1:]
    other.decode.weight[:, :2], other.decode.bias[:] = model.decode.weight, model.decode.bias
    other.begin.fill_(-1)
    for name in ("back", "own"):
        getattr(step, name).weight[:2, :1] = getattr(old, name).weight
    step.middle.weight[:2, :2] = old.middle.weight
    step.down.weight[:1, :2], step.down.bias[:1] = old.down.weight, old.down.bias
    step.down.bias[1] = -1.0  # the second sign stays -1 ...
    assert prove_model(other, torch.eye(3), machine).verdict == "proven"
    step.back.weight[2, :2] = torch.tensor([1.0, 0.0])  # ... but where two odd windows meet, it rises,
    step.own.weight[2, 0], step.own.bias[2] = 1.0, -1.0
    step.back.weight[3, 1] = step.own.weight[3, 1] = 1.0  # and where two such windows meet,
    step.own.bias[3] = -1.0
    step.middle.weight[2, 2] = step.middle.weight[3, 3] = 1.0
    step.down.weight[1, 2] = 2.0
    step.down.weight[1, 3] = 2.0
    step.down.weight[0, 3] = 4.0  # the first is odd whatever they hold
    proof = prove_model(other, torch.eye(3), machine)
    assert (proof.verdict, len(proof.word)) == ("counterexample", _shortest_wrong(other, machine, 10))
    assert len(proof.word) > 4


def test_too_many_states_are_not_decided(monkeypatch):
    monkeypatch.setattr(search_module, "MOST_STATES", 1)
    proof = prove_model(parity(), torch.eye(3), parity_machine())
    assert (proof.verdict, proof.reason) == ("undecided", "more than 1 states occur")
    monkeypatch.undo()
    monkeypatch.setattr(search_module, "MOST_PAIRS", 3)
    assert "more than 3" in prove_model(parity(), torch.eye(3), parity_machine()).reason


def test_a_number_within_its_error_of_a_border_is_not_decided():
    model = parity()
    model.layers[0].down.bias[0] = 1 - 2 * (1 - 1e-9)  # F = -1 + tiny where signs differ ... still far from 0
    model.layers[0].down.weight[:] = -0.5
    model.layers[0].down.bias[0] = 1e-8  # F(p, s) = tiny - |p + s| / 2: +1 by less than any error
    proof = prove_model(model, torch.eye(3), parity_machine())
    assert proof.verdict == "undecided"
    assert "nearer to a border than the bound" in proof.reason


def test_other_models_and_tasks_are_refused():
    task = make_task("sum")
    with pytest.raises(OrdinateError, match='train a model of kind = "scan"'):
        prove_model(build_model(Positional(), task, seed=0), torch.eye(3), parity_machine())


def test_the_bound_holds_for_float32_in_any_order_of_summation():
    draw = torch.Generator().manual_seed(0)
    sizes = [40, 30, 20, 6]
    layers = [
        Layer(torch.randn(o, i, generator=draw), torch.randn(o, generator=draw)) for i, o in pairwise(sizes)
    ]
    x = torch.randn(200, 40, generator=draw)
    bounded = perceptron(layers, x)
    for seed in range(5):
        y = x
        for number, layer in enumerate(layers):
            order = torch.randperm(y.shape[1], generator=torch.Generator().manual_seed(seed))
            y = y.relu() if number else y
            total = torch.zeros(len(y), len(layer.bias))
            for column in order:
                total = total + y[:, column, None] * layer.weight[:, column]
            y = total + layer.bias
        difference = (y.double() - bounded.value).abs()
        assert bool((difference <= bounded.error).all())
        assert bool((difference > 0).any())
    assert float(bounded.error.max()) < 1e-3 * float(bounded.value.abs().max())
