"""All computed figures of the symmetry paper, small: what `tests/papers` asks of two of them."""

import pytest

from tests.papers.test_symmetry_computed import (
    COMPUTED,
    answer,
    made,
    test_a_paper_is_run_figure_by_figure_and_ends_with_its_verdicts,
    test_a_smoke_result_is_whole_and_gives_no_verdict,
    test_exact_distributions_are_distributions_and_near_the_samples,
    test_it_is_drawn_again_from_the_document_alone,
    test_notes_say_whether_zero_loss_can_be_reached,
    test_the_same_command_gives_the_same_numbers_and_is_silent_while_quick,
)

__all__ = [
    "answer",
    "made",
    "test_a_paper_is_run_figure_by_figure_and_ends_with_its_verdicts",
    "test_a_smoke_result_is_whole_and_gives_no_verdict",
    "test_exact_distributions_are_distributions_and_near_the_samples",
    "test_it_is_drawn_again_from_the_document_alone",
    "test_notes_say_whether_zero_loss_can_be_reached",
    "test_the_same_command_gives_the_same_numbers_and_is_silent_while_quick",
]


@pytest.fixture(scope="module")
def names():
    """All of them."""
    return list(COMPUTED)
