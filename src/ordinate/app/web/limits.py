"""Limits: what one request may ask for, each refused with a line that says what to write instead."""

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import Task

BODY = 16_384
"""Bytes of a request."""
TEXT = 4_096
"""Characters of a typed input."""
LENGTH = 1000
"""Digits of a number."""
OTHER_LENGTH = 64
"""Length of inputs of other tasks, some of which cost the square or cube of it."""
SAMPLES = 20
"""Samples that are measured in one request."""
SHORT = 100
"""Characters or digits up to which an answer takes some milliseconds."""
MODELS = 2
"""Models side by side."""
ATTENTION_TOKENS = 64
"""Tokens whose attention is drawn."""
MATRIX_TOKENS = 64
"""Tokens of a class matrix."""


def longest(task: Task) -> int:
    """The longest input that the page asks of a task.

    >>> from ordinate.lab.tasks import make_task
    >>> longest(make_task("addition")), longest(make_task("sort"))
    (1000, 64)
    """
    return LENGTH if task.family == "arithmetic" else OTHER_LENGTH


def check_length(task: Task, length: int) -> int:
    """Return a length that is allowed.

    >>> from ordinate.lab.tasks import make_task
    >>> check_length(make_task("addition"), 5000)
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: length 5000 is outside what this page asks of 'addition': choose 1 to 1000
    """
    if not 1 <= length <= longest(task):
        raise OrdinateError(
            f"length {length} is outside what this page asks of {task.name!r}: choose 1 to {longest(task)}"
        )
    return length


def check_text(task: Task, text: str) -> str:
    """Return a typed input that is short enough: its numbers and words are no longer than drawn ones.

    >>> from ordinate.lab.tasks import make_task
    >>> check_text(make_task("addition"), "1" * 1001 + " + 2")
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: a number or word of 1001 characters is too long for this page: write at most 1000
    """
    if len(text) > TEXT:
        raise OrdinateError(f"{len(text)} characters are too many for this page: write at most {TEXT}")
    longest_word = max((len(word) for word in _words(text)), default=0)
    if longest_word > longest(task):
        raise OrdinateError(
            f"a number or word of {longest_word} characters is too long for this page: "
            f"write at most {longest(task)}"
        )
    return text


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text).split()


def check_tokens(tokens: int, most: int, what: str) -> None:
    """Refuse a picture of too many tokens."""
    if tokens > most:
        raise OrdinateError(f"{what} is drawn for at most {most} tokens, and these are {tokens}: take fewer")
