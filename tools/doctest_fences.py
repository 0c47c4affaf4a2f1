"""Examples in docstrings are shown as code on the reference page: `>>>` alone is a quotation in Markdown."""

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(?m)^>>> .*(?:\n(?!\s*$).*)*(?:\n\n(?=>>> )>>> .*(?:\n(?!\s*$).*)*)*")


def fenced(text: str) -> str:
    """Put every run of examples between fences.

    >>> fenced(">>> 1 + 1\\n2")
    '```pycon\\n>>> 1 + 1\\n2\\n```'
    """
    return _EXAMPLE.sub(lambda found: f"```pycon\n{_without_directives(found[0])}\n```", text)


def _without_directives(example: str) -> str:
    return re.sub(r"\s*# doctest: .*", "", example)


class DoctestFences(griffe.Extension):
    """Fences the examples of every docstring that is read."""

    def on_instance(self, *, obj: griffe.Object | griffe.Alias, **_: Any) -> None:
        """Called for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
