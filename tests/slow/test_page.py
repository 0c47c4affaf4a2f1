"""The page, asked for everything that it offers."""

import pytest

from ordinate.app.web.limits import longest
from ordinate.lab.tasks import TASKS, make_task
from tests.app.web.conftest import client, made_store, results, store  # noqa: F401
from tests.app.web.test_questions import TEXTS, answers, asked


@pytest.mark.parametrize("task", TASKS)
def test_every_task_is_answered_at_every_length(client, task):  # noqa: F811
    found = [answers(client, task, length) for length in range(1, longest(make_task(task)) + 1)]
    assert all(found[8:]), "samples that are long enough are answered"


@pytest.mark.parametrize("task", TASKS)
def test_all_odd_texts_are_answered_or_refused(client, task):  # noqa: F811
    for text in TEXTS:
        asked(client, "/api/answer", {"task": task, "text": text})
