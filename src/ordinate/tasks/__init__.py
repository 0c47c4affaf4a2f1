"""Tasks: what is computed. Samples, exact reference answers, axes."""

from ordinate.tasks.registry import TASKS, get_task, make_task
from ordinate.tasks.task import Batch, Task

__all__ = ["TASKS", "Batch", "Task", "get_task", "make_task"]
