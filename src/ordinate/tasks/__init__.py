"""Tasks: what is computed. Samples, exact reference answers, axes."""

from ordinate.tasks.registry import TASKS, make_task
from ordinate.tasks.task import Batch, Task

__all__ = ["TASKS", "Batch", "Task", "make_task"]
