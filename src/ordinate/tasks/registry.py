"""The one table of task names. A new task is a file of its own and a line in `TASKS`."""

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ordinate.errors import OrdinateError, nearest
from ordinate.tasks.numbers import Max, MaxSubarray, Median, Min, MinSum, Path, Sort, Sum
from ordinate.tasks.task import Task

TASKS: dict[str, type[Task]] = {
    task.name: task for task in (Sum, Min, Max, Median, Sort, MaxSubarray, MinSum, Path)
}


def get_task(name: str) -> type[Task]:
    """Return the task of this name.

    >>> get_task("median").summary
    'median of the numbers so far'
    >>> get_task("medain")
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: no task is called 'medain': did you mean 'median'?
    """
    if name not in TASKS:
        raise OrdinateError(f"no task is called {name!r}: {nearest(name, TASKS)}")
    return TASKS[name]


def make_task(name: str, /, **options: object) -> Task:
    """Return the task of this name with these options; bad ones are refused in one line.

    >>> make_task("sum", length=4)
    Sum(length=4, variable=False, low=-2.0, high=2.0)
    >>> make_task("sum", lenght=4)
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: task 'sum' has no option 'lenght': did you mean 'length'?
    """
    task = get_task(name)
    try:
        return task(**options)
    except ValidationError as error:
        raise OrdinateError("; ".join(_refusal(task, detail) for detail in error.errors())) from None


def _refusal(task: type[Task], detail: ErrorDetails) -> str:
    """Say in one line which option is wrong, what was given and what is allowed."""
    option = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        return f"task {task.name!r} has no option {option!r}: {nearest(option, task.model_fields)}"
    reason = detail["msg"].removeprefix("Value error, ").replace("Input should", "it should")
    if not option:
        return f"task {task.name!r}: {reason}"
    field = task.model_fields.get(option)
    meaning = f" ({option}: {field.description})" if field and field.description else ""
    return f"task {task.name!r}: {option} = {detail['input']!r} is not allowed, {reason}{meaning}"
