"""One input explained: against slow obvious computations, for every kind of model."""

import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.attention import captured
from ordinate.encodings import Pairwise
from ordinate.errors import OrdinateError
from ordinate.lab.architectures import (
    Decoder,
    Dp,
    Hybrid,
    Memory,
    Positional,
    PositionalDecoder,
    Standard,
    Tmx,
)
from ordinate.lab.explain import Pass, explain, rollout
from ordinate.lab.explain.effect import effects
from ordinate.lab.seeds import generator
from ordinate.lab.tasks import make_task
from ordinate.models import ResidualEncoder, build_model
from ordinate.relations import leap

SUM, HOPS = make_task("sum", length=4), make_task("k-hop", length=6, hops=1)
MEMORY = make_task("fixed-memory", length=6, lags=(1, 2))
KINDS = {
    "positional": (Positional(layers=2), SUM, "3,1,2,0"),
    "standard": (Standard(layers=2), SUM, "3 1 2 0"),
    "hybrid": (Hybrid(layers=1), SUM, "3 1 2 0"),
    "path": (Standard(layers=1), make_task("path", length=3), "0 2 0 / 2 0 1 / 0 1 0"),
    "decoder": (Decoder(layers=2), HOPS, "1 abcabc"),
    "positional-decoder": (PositionalDecoder(layers=1), HOPS, "1 abcabc"),
    "memory": (Memory(heads=2), MEMORY, "1 -1 1 1 -1 1"),
    "memory-dp": (Memory(heads=2, attention=Dp()), MEMORY, "1 -1 1 1 -1 1"),
    "memory-tmx": (Memory(heads=2, attention=Tmx(), normalised=False), MEMORY, "1 -1 1 1 -1 1"),
    "mixed": (Positional(layers=1), make_task("mixed", categories=2, asked=1, text="words"), None),
    "text": (ResidualEncoder(layers=1), make_task("addition", words=2, digits=2, width=3), "a 12 b + 7 c"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_is_explained(kind):
    chosen, task, text = KINDS[kind]
    model = build_model(chosen, task, seed=0).eval()
    sample = text or task.sample(1, generator=generator(0, "test"))
    found = explain(model, task, sample)
    outputs, tokens = len(found.outputs), len(found.tokens)
    assert found.attention.shape == (len(found.passes), chosen.heads, tokens, tokens)
    assert found.rollout.shape == found.effect.shape == found.needed.shape == (outputs, tokens)
    torch.testing.assert_close(found.rollout.sum(-1), torch.ones(outputs))
    assert found.effect.max() > 0
    if kind != "memory-tmx":
        torch.testing.assert_close(found.attention.sum(-1), torch.ones(found.attention.shape[:-1]))
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [len(row) for row in document["effect"]] == [tokens] * outputs
    assert len(document["attention"]) == len(document["passes"])
    again = explain(model, task, sample).to_dict()
    assert again == found.to_dict()


KEYS = {
    *(
        "task",
        "kind",
        "input",
        "answer_text",
        "right_text",
        "correct",
        "tokens",
        "outputs",
        "answer",
        "right",
    ),
    *(
        "probability",
        "passes",
        "attention",
        "rollout",
        "effect",
        "needed",
        "first_wrong",
        "carries",
        "columns",
    ),
}


def test_the_document_of_a_sum(encoder, addition):
    document = explain(encoder, addition, "123+98").to_dict()
    assert set(document) == KEYS
    assert document["right"] == ["pad", "pad", "2", "2", "1"]
    assert document["right_text"] == "221"
    labels = [token["label"] for token in document["tokens"]]
    assert labels[:5] == ["pad first 3", "1 first 2", "2 first 1", "3 first 0", "+ second 4"]
    changed = [token["changed"] for token in document["tokens"]]
    assert changed == [True] * 4 + [False, False] + [True] * 3  # the sign, and a pad beyond a pad, stay
    assert [output["token"] for output in document["outputs"]] == [4, 5, 6, 7, 8]
    assert document["carries"]["cascades"] == [[0, 0], [1, 1]]
    assert document["columns"] is None
    assert all(0 < p <= 1 for p in document["probability"])


def test_the_answer_is_the_model_s_own(encoder, addition):
    batch = addition.parse("123+98")
    with torch.no_grad():
        likely = encoder(batch.input, batch.coordinates)[0, 4:].softmax(-1).max(-1)
    found = explain(encoder, addition, batch)
    assert [addition.vocabulary.index(output.answer) for output in found.outputs] == likely.indices.tolist()
    assert [output.probability for output in found.outputs] == pytest.approx(likely.values.tolist())


def test_attention_is_what_the_hooks_give(encoder, addition):
    batch = addition.parse("123+98")
    with captured(encoder) as seen, torch.no_grad():
        encoder(batch.input, batch.coordinates)
    found = explain(encoder, addition, batch).attention
    for layer in range(2):
        torch.testing.assert_close(found[layer], seen[f"layers.{layer}.attention.weights"][0])


def test_effects_are_those_of_changing_one_digit_after_another(encoder, addition):
    batch = addition.parse("123+98")
    found = explain(encoder, addition, batch)
    with torch.no_grad():
        before = encoder(batch.input, batch.coordinates).softmax(-1)[0, 4:]
        for token in (0, 2, 8):
            moved, needed = [], []
            for digit in range(10):
                changed = batch.input.clone()
                changed[0, token] = digit
                if digit == (int(batch.input[0, token]) if int(batch.input[0, token]) < 10 else 0):
                    continue
                after = encoder(changed, batch.coordinates).softmax(-1)[0, 4:]
                moved.append((after - before).abs().sum(-1) / 2)
                right = addition.reference(changed, batch.coordinates)[0, 4:]
                needed.append((right != batch.target[0, 4:]).float())
            torch.testing.assert_close(found.effect[:, token], torch.stack(moved).mean(0))
            torch.testing.assert_close(found.needed[:, token], torch.stack(needed).mean(0))


@pytest.mark.parametrize(
    ("task", "text"),
    [
        (make_task("addition", digits=3), "99+901"),
        (make_task("no-carry", digits=2), "12+99"),
        (make_task("subtraction", digits=3), "500-23"),
        (make_task("multiplication", digits=2, multiplier=2), "12*34"),
        (make_task("several", digits=2), "9+9+9"),
    ],
)
def test_a_model_that_answers_right_depends_on_what_is_needed(task, text, by_hand):
    batch = task.parse(text)
    found = effects(by_hand(task), task, batch, generator(0, "test"))
    torch.testing.assert_close(found.effect, found.needed)
    assert (found.needed.sum(0) > 0).equal(found.changed)  # every digit matters to something


def test_a_sparse_model_at_sixty_digits_still_shows_its_weights(encoder, addition):
    from ordinate.attention.classes import is_sparse
    from ordinate.lab.explain.parts import pairwise_encoding

    text = "1" * 60 + "+" + "8" * 60
    batch = addition.parse(text)
    assert is_sparse(pairwise_encoding(encoder).bound[0].pattern(batch.coordinates))
    found = explain(encoder, addition, text)
    assert found.attention.shape == (2, 2, 123, 123)
    assert (found.attention > 0).sum(-1).max() <= 6  # three places of two numbers
    with torch.no_grad():
        fused = encoder(batch.input, batch.coordinates)[0].softmax(-1)
    assert [o.right_probability for o in found.outputs] == pytest.approx(
        [float(fused[o.token, addition.vocabulary.index(o.right)]) for o in found.outputs], rel=1e-3
    )


def test_looped_layers_have_a_pass_for_every_loop(addition):
    looped = ResidualEncoder(
        layers=3, heads=2, width=16, hidden=16, loops=3, unlooped_layers=(1, 1), inject_input=True,
        encoding=(Pairwise(relation=(leap(),)),),
    )  # fmt: skip
    found = explain(build_model(looped, addition, seed=0).eval(), addition, "12+9")
    assert found.passes == (Pass(0), Pass(1, 0), Pass(1, 1), Pass(1, 2), Pass(2))
    far = found.attention[3, 0, 0, 0:4]  # a leap of 4 places: nothing there in four places
    torch.testing.assert_close(far[1:], torch.zeros(3))


@settings(max_examples=15)
@given(st.integers(1, 3), st.integers(2, 5), st.integers(0, 2**31))
def test_rollout_is_the_chance_of_a_walk(layers, tokens, seed):
    """A walker that stays or takes a random head's weight, each half of the time, from the last layer to the first."""
    weights = torch.rand(layers, 2, tokens, tokens, generator=torch.Generator().manual_seed(seed)).softmax(-1)
    walk = torch.eye(tokens)
    for layer in reversed(range(layers)):
        step = torch.zeros(tokens, tokens)
        for head in range(2):
            step += (torch.eye(tokens) + weights[layer, head]) / 4
        walk = walk @ step
    torch.testing.assert_close(rollout(weights), walk)


def test_rollout_of_loops_that_start_anew():
    """y = x_0 + A x_t: half comes from what entered the first loop."""
    a, b = torch.rand(2, 1, 3, 3).softmax(-1)
    start = (torch.eye(3) + a[0]) / 2
    first = (start + b[0] @ start) / 2
    passes = (Pass(0), Pass(1, 0), Pass(1, 1))
    anew = rollout(torch.stack([a, b, b]), passes, anew=True)
    torch.testing.assert_close(anew, (start + b[0] @ first) / 2)
    plain = rollout(torch.stack([a, b, b]), passes)
    torch.testing.assert_close(plain, (first + b[0] @ first) / 2)


def test_weights_without_a_sum_are_divided_by_it():
    weights = torch.tensor([[[[2.0, 2.0], [0.0, 0.0]]]])
    torch.testing.assert_close(rollout(weights), torch.tensor([[0.75, 0.25], [0.0, 1.0]]))


def test_the_first_wrong_place_is_the_lowest(encoder, addition):
    found = explain(encoder, addition, "123+98")
    wrong = [number for number, output in enumerate(found.outputs) if not output.correct]
    places = [found.tokens[found.outputs[number].token].ordinate for number in wrong]
    assert found.first_wrong == wrong[places.index(min(places))]
    assert found.correct is False


def test_what_cannot_be_explained_is_refused_in_one_line(encoder, addition):
    with pytest.raises(OrdinateError, match="up to 256 tokens, this input has 403: write a shorter one"):
        explain(encoder, addition, "1" * 200 + "+1")
    with pytest.raises(OrdinateError, match="a Linear has no attention weights to read"):
        explain(torch.nn.Linear(1, 1), addition, "1+1")
