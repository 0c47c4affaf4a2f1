"""Tasks: what is computed. Samples, exact reference answers, axes."""

from ordinate.lab.tasks.registry import TASKS, make_task
from ordinate.lab.tasks.task import Batch, Task

__all__ = ["TASKS", "Batch", "Task", "make_task"]
