"""Random programs: the weights compute what the machine computes."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.attention import captured
from ordinate.errors import OrdinateError
from ordinate.lab.architectures import ConcatTransformer
from ordinate.lab.programs.collection import PROGRAMS
from ordinate.lab.programs.compiler.bounds import error_bound
from ordinate.lab.programs.compiler.columns import choose_columns
from ordinate.lab.programs.compiler.compile import compile_program, run
from ordinate.lab.programs.compiler.graph import Form
from ordinate.lab.programs.compiler.trace import trace
from ordinate.lab.programs.compiler.weights import with_queries_and_keys
from ordinate.lab.programs.language import (
    Range,
    absolute,
    all_of,
    any_of,
    clip,
    lookup,
    maximum,
    minimum,
    powers,
    receive,
    select,
    shift,
)
from ordinate.lab.programs.machine import Machine
from ordinate.lab.programs.program import Program
from ordinate.lab.tasks.numbers import number_coordinates

SMALL = Range(-4, 4, whole=True)


def program(body, *inputs, words=64):
    return Program("test", "", body, inputs or (SMALL,), lambda x: x, words)


def agree(body, n, *inputs, dtype=torch.float32, count=50):
    """Machine and weights, by table and by queries and keys, within the proven bound; returns what was compiled."""
    compiled = compile_program(program(body, *inputs), n, dtype)
    given_inputs = compiled.program.sample(n, count, np.random.default_rng(0))
    given_inputs = given_inputs.astype(torch.zeros((), dtype=dtype).numpy().dtype).astype(np.float64)
    wanted = Machine(n).run(body, given_inputs).outputs
    bound = error_bound(compiled.allocation, dtype)
    assert np.abs(compiled(given_inputs) - wanted).max() <= bound
    dense = run(with_queries_and_keys(compiled.model), given_inputs, n, compiled.allocation)
    slack = 0 if bound == 0 else 1e3 * torch.finfo(dtype).eps * max(1.0, np.abs(wanted).max())
    assert np.abs(dense - wanted).max() <= bound + slack
    return compiled, bound


BINARY = {
    "plus": lambda a, b: a + b,
    "minus": lambda a, b: a - 2 * b + 1,
    "min": lambda a, b: minimum(a, b),
    "max": lambda a, b: maximum(a, b, 1),
    "less": lambda a, b: a < b,
    "at least": lambda a, b: a >= b,
    "equal": lambda a, b: a == b,
    "unequal": lambda a, b: a != b,
    "both": lambda a, b: (a > 0) & (b <= 1),
    "either": lambda a, b: (a > 0) | (b > 1),
    "one": lambda a, b: (a > 0) ^ (b > 1),
    "not": lambda a, b: ~(a > b),
    "any": lambda a, b: any_of(a > 1, b > 1, a == b),
    "all": lambda a, b: all_of(a > 1, b > 1, a != b),
    "select": lambda a, b: select(a > b, a + 1, b),
    "clip": lambda a, b: clip(a + b, -2, 3),
    "absolute": lambda a, b: absolute(a - b),
    "relu": lambda a, b: (a - b).relu(),
    "lookup": lambda a, b: lookup(clip(a, -2, 2), [5, -1, 0, 7, 7], first=-2) + b,
    "shift": lambda a, b: shift(a, 1, default=3) + b,
    "back": lambda a, b: shift(a + 1, -2, default=-1) - b,
    "swap": lambda a, b: receive(a - b, lambda i: i ^ 1, default=2),
    "signs": lambda a, b: a.scaled(lambda i: (-1) ** i) + b,
    "places": lambda a, b: a + b.constant(lambda i: i % 3),
}


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_primitive_is_exact_on_whole_numbers(name, dtype):
    _, bound = agree(BINARY[name], 5, SMALL, SMALL, dtype=dtype)
    assert bound == 0


@given(
    st.lists(st.tuples(st.sampled_from(sorted(BINARY)), st.integers(0, 9), st.integers(0, 9)), max_size=5),
    st.integers(1, 6),
)
@settings(max_examples=25)
def test_random_programs(steps, n):
    def body(x, y):
        values = [x, y]
        for name, first, second in steps:
            new = BINARY[name](values[first % len(values)], values[second % len(values)])
            values.append(clip(new, -4, 4))
        return values[-1], values[len(values) // 2]

    _, bound = agree(body, n, SMALL, SMALL, count=20)
    assert bound == 0


@pytest.mark.parametrize(
    "name", ["plus", "minus", "min", "max", "clip", "absolute", "relu", "shift", "back", "swap"]
)
def test_real_numbers_stay_within_the_proven_bound(name):
    _, bound = agree(BINARY[name], 6, Range(-2, 2), Range(-2, 2), count=500)
    assert bound < 1e-4


def test_position_dependent_scaling_is_attention_on_self_and_dummy():
    compiled, bound = agree(lambda x: x.scaled(lambda i: np.cos(i)), 6, Range(-1, 1), count=500)
    assert bound < 1e-5
    inputs = torch.ones(1, 6, 1)
    with captured(compiled.model) as seen:
        heard = compiled.model(inputs, number_coordinates(6))
    assert torch.equal(heard, compiled.model(inputs, number_coordinates(6)))
    weights = seen["layers.0.attention.weights"]
    assert torch.allclose(weights.sum(-1), torch.ones(2, 7))
    assert weights.diagonal(dim1=1, dim2=2)[:, 2].tolist() == pytest.approx([0, -np.cos(2)])


def prefix_sum(x):
    for step in powers(x.n):
        x = x + shift(x, step)
    return x


def test_a_prefix_sum_is_one_column_and_one_head():
    compiled, _ = agree(prefix_sum, 8)
    costs = compiled.costs
    assert (costs.layers, costs.heads, costs.width, costs.hidden, costs.layer_bound) == (3, 1, 1, 2, 18)
    assert type(compiled.model) is ConcatTransformer


def test_compilation_is_deterministic():
    one, two = (compile_program(program(prefix_sum), 16).model.state_dict() for _ in range(2))
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_a_shorter_sequence_of_a_causal_program_is_answered_and_a_longer_one_refused():
    compiled = compile_program(program(prefix_sum), 8)
    short = run(compiled.model, np.ones((1, 5, 1)), 5, compiled.allocation)
    assert short.ravel().tolist() == [1, 2, 3, 4, 5]
    with pytest.raises(OrdinateError, match="at most 8"):
        run(compiled.model, np.ones((1, 9, 1)), 9, compiled.allocation)


def test_a_source_that_is_not_there_is_refused():
    compiled = compile_program(program(lambda x: shift(x, -1)), 8)
    with pytest.raises(OrdinateError, match="give 8 tokens"):
        run(compiled.model, np.ones((1, 5, 1)), 5, compiled.allocation)


@pytest.mark.parametrize("value", [5.0, -4.5, 0.5, np.nan, np.inf])
def test_inputs_outside_the_range_are_refused(value):
    compiled = compile_program(program(prefix_sum), 2)
    with pytest.raises(OrdinateError, match=r"outside its range: give whole numbers in \[-4, 4\]"):
        compiled(np.array([[[1.0], [value]]]))


def test_numbers_too_large_for_the_format_have_a_bound_above_0():
    large = Range(-(2**22), 2**22, whole=True)
    compiled, bound = agree(prefix_sum, 8, large)
    assert bound > 0
    assert error_bound(compiled.allocation, torch.float64) == 0


@given(st.lists(st.lists(st.integers(-2, 2), min_size=4, max_size=4), min_size=1, max_size=8))
def test_columns_give_every_needed_form(rows):
    forms = [Form(tuple((k, float(c)) for k, c in enumerate(row) if c)) for row in rows]
    needed = [form for form in forms if form.terms]
    columns = choose_columns(needed)
    assert len(columns.forms) <= len(set(needed))
    for form in needed:
        made = Form()
        for coefficient, column in zip(columns.express(form), columns.forms, strict=True):
            made = made + column * float(coefficient)
        assert made.terms == form.terms


def test_forms_stay_short_however_deep_the_program_is():
    """What a sort has exchanged is an atom of its own, so that its forms do not remember every stage."""
    longest = []
    for n in (8, 64):
        sort = PROGRAMS["sort"]
        graph = trace(sort.function, n, sort.ranges(n))
        longest.append(max(len(graph.form_of(a).terms) for a in graph.used))
    assert longest[0] == longest[1] <= 4


def test_halves_of_whole_numbers_are_exact():
    compiled, bound = agree(lambda x: (maximum(x, shift(x, 1)) + minimum(x, shift(x, 2))) / 2, 6, SMALL)
    assert bound == 0
    assert compiled.costs.layers == 1
