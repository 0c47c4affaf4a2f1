"""Advice on more targets than each task's own."""

import pytest

from tests.papers.theory.expected_memories import VARIANTS, check_advice


@pytest.mark.parametrize("expected", VARIANTS, ids=lambda e: f"{e.task} {e.why[:24]}")
def test_the_advisor_is_right_on(expected):
    check_advice(expected)
