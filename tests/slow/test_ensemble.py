"""Ensembles over hundreds of steps."""

import pytest

from tests.lab.training.test_ensemble import COURSES, assert_members_follow_separate_runs, recipe


@pytest.mark.parametrize(("model", "training"), COURSES)
def test_members_follow_separate_runs_for_200_steps(tmp_path, model, training):
    assert_members_follow_separate_runs(tmp_path, recipe(model, steps=200, **training), [0, 1, 2])
