"""Tasks: what is computed. Samples, exact reference answers, axes."""

from ordinate.lab.tasks.base import Task
from ordinate.lab.tasks.batch import Answers, Batch, Changes
from ordinate.lab.tasks.function import task
from ordinate.lab.tasks.registry import TASKS, make_task

__all__ = ["TASKS", "Answers", "Batch", "Changes", "Task", "make_task", "task"]
