"""What sections are made of, and one of them with the quick settings; the others are in tests/slow."""

import pytest
import torch
from bench.best_mode import FINISH, with_finish
from bench.throughput import Parts

from bench import QUICK, SECTIONS, Mode, attention, data, growth, relations, run_sections
from ordinate.attention import dense_attention
from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.cost import alternate, operations
from ordinate.lab.tasks import TASKS
from ordinate.lab.threads import threads
from tests.bench.rows import rows_of, targets


def test_the_table_has_all_sections():
    assert list(SECTIONS) == [
        "data",
        "numerics",
        "throughput",
        "best-mode",
        "quality",
        "time-to-quality",
        "peak",
        "growth",
        "attention",
        "relations",
        "toeplitz",
        "steps",
    ]


def test_an_unknown_section_is_refused_before_anything_runs():
    with pytest.raises(OrdinateError, match="did you mean 'growth'"):
        run_sections(["data", "grwth"], pytest.fail)


def test_data():
    rows = rows_of("data")
    assert len(rows) == 2 * sum(task.family == "numbers" for task in TASKS.values())
    assert all(row["value"] > 0 for row in rows.values())
    assert targets(rows) == {f"{name}: drawn": rate for name, rate in data.RATES.items()} | {
        f"{name}: ours / textbook": ratio for name, ratio in data.RATIOS.items()
    }


def test_attention():
    rows = rows_of("attention")
    name = "Inkling, 40 tokens, window of 8, threads 1"
    assert rows[f"{name}: transformers / ours"]["value"] > 0
    assert rows[f"{name}: gathered / ours"]["value"] > 0
    assert set(targets(rows)) == {
        f"{name}: memory, ours / transformers",
        "bias of distance, 40 tokens, window of 8, threads 1: dense bias / ours",
        "Inkling, window of 8: slope over tokens",
    }


@pytest.mark.parametrize(("tokens", "keys", "path"), [(200, 5, "sparse"), (500, 64, "blocked")])
def test_all_sides_of_the_attention_section_compute_the_same_layer(tokens, keys, path):
    layer = attention.Layer(tokens, keys)
    assert attention.path(layer) == path
    sides = [attention.inkling, attention.inkling_transformers, attention.inkling_gathered]
    ours, *others = [found_by(side(layer)) for side in sides]
    for other in others:
        assert_close(other, ours)
    assert_close(*(found_by(side) for side in attention.bias_sides(layer)))


def assert_close(found, expected):
    """Outputs number by number, gradients, which are sums over many tokens, by their length."""
    torch.testing.assert_close(found[0], expected[0], atol=1e-5, rtol=1e-5)
    for one, other in zip(found[1:], expected[1:], strict=True):
        assert float((one - other).norm()) < 1e-5 * float(other.norm())


def found_by(call):
    """The output and gradients of what `both_ways` has made."""
    inside = dict(
        zip(call.__code__.co_freevars, (cell.cell_contents for cell in call.__closure__), strict=True)
    )
    out = inside["forward"]()
    return out, *torch.autograd.grad(out.sin().sum(), inside["leaves"])


def test_steps():
    rows = rows_of("steps")
    assert all(row["value"] > 0 for row in rows.values())
    assert targets(rows) == {
        "orthogonal parts of 5 x 8 x 16: matrices / squares": 1.0,
        "orthogonal parts of 5 x 8 x 32: matrices / squares": 1.0,
        "dropout on 2 x 9 x 8: PyTorch / ours": 1.0,
    }


def test_a_run_is_put_together_from_its_parts():
    # 2 steps an epoch, 2001 epochs, 201 evaluations.
    total = 10.0 + 4002 * 0.5 + 201 * 2.0
    assert Parts(generation=10.0, step=0.5, evaluation=2.0).rate(QUICK) == pytest.approx(4002 * 50 / total)


def test_a_training_in_bfloat16_is_charged_for_its_float32_finish():
    ratios = {Mode("float32"): 2.0, Mode("bfloat16"): 4.0, Mode("bfloat16", 4): 4.0}
    expected = 1 / ((1 - FINISH) / 4 + FINISH / 2)
    assert with_finish(Mode("float32"), ratios) == 2.0
    assert with_finish(Mode("bfloat16"), ratios) == with_finish(Mode("bfloat16", 4), ratios) == expected


def test_operations_are_counted_in_place_too():
    a, b, added = torch.ones(2, 3, 5), torch.ones(2, 5, 7), torch.ones(2, 3, 7)
    assert operations(lambda: added.baddbmm_(a, b)) == operations(lambda: a @ b) == 2 * 2 * 3 * 5 * 7


def test_gathered_vectors_give_what_ours_gives():
    pattern, vectors = relations.relative_pattern(5), torch.randn(1, 9, 4)
    query, key, value = torch.randn(3, 2, 2, 5, 4)
    torch.testing.assert_close(
        relations.gathered_attention(query, key, value, pattern.dense, vectors[0], 0.5),
        dense_attention(query, key, value, pattern, vectors=vectors, scale=0.5),
    )


def test_the_most_held_at_once_is_found():
    def call():
        first = torch.zeros(1000)
        del first
        second, third = torch.zeros(500), torch.zeros(700)
        return second.sum() + third.sum()

    assert 4 * 1200 <= relations.peak_bytes(call) < 4 * 1300


def test_a_slope_of_two_is_quadratic():
    assert growth.slope([4, 8, 16], [1.0, 4.0, 16.0]) == pytest.approx(2.0)


def test_sides_take_turns():
    calls = []
    sides = [lambda: calls.append("a") or 1.0, lambda: calls.append("b") or 2.0]
    assert alternate(3, *sides) == [1.0, 2.0]
    assert calls == ["a", "b"] * 3


def test_threads_come_back():
    before = torch.get_num_threads()
    with threads(before + 1):
        assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before
