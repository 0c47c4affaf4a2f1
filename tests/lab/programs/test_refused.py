"""Programs that cannot be compiled are refused before any weight is made: the line of code, and the reason."""

import inspect

import pytest

from ordinate.errors import OrdinateError
from ordinate.lab.programs.compiler import compile as stages
from ordinate.lab.programs.compiler.compile import compile_program
from ordinate.lab.programs.program import Program
from tests.lab.programs.refused import REFUSED


@pytest.mark.parametrize(("body", "inputs", "reason"), REFUSED, ids=lambda v: getattr(v, "__name__", ""))
def test_refused_with_line_and_reason(body, inputs, reason, monkeypatch):
    monkeypatch.setattr(stages, "build", lambda *_: pytest.fail("weights were made"))
    with pytest.raises(OrdinateError) as refused:
        compile_program(Program("refused", "", body, inputs, lambda x: x, words=2), 4)
    message = str(refused.value)
    assert reason in message
    assert "\n" not in message
    lines, first = inspect.getsourcelines(body)
    places = {f"refused.py, line {first + k}: `{line.strip()}`" for k, line in enumerate(lines)}
    assert any(message.startswith(place) for place in places), message


def test_what_is_no_value_is_refused():
    with pytest.raises(OrdinateError, match="the program returns int"):
        compile_program(Program("seven", "", lambda x: 7, (REFUSED[0][1][0],), lambda x: x), 4)


def test_values_of_two_programs_do_not_meet():
    kept = []

    def keep(x):
        kept.append(x)
        return x + kept[0]

    program = Program("keep", "", keep, (REFUSED[0][1][0],), lambda x: x)
    with pytest.raises(OrdinateError, match="values of two programs meet"):
        compile_program(program, 4)
