"""Draw `docs/life.md` from the code: which functions a training, a score and a verdict pass, file by file.

    python tools/life.py            # write the walks into the page
    python tools/life.py --check    # say whether the page is that of the code, and change nothing

A walk is a real call, recorded as it happens. Shown are the functions that have a docstring, each once where it is
first called, under the function of another file or class that called it; helpers of a file stay inside of it.
"""

import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "life.md"
SOURCE = str(ROOT / "src" / "ordinate") + "/"
MARK = re.compile(r"(<!-- walk: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
MOST_DEPTH = 5
"""How deep calls are shown below the first."""


class Call:
    """A function that was called, and what it called in turn."""

    def __init__(self, code: CodeType | None = None) -> None:
        self.code, self.calls = code, list[Call]()


def record(function: Callable[[], object]) -> Call:
    """Call a function, and return the tree of all calls into the package."""
    top = Call()
    stack = [top]

    def profile(frame: FrameType, event: str, argument: object) -> None:
        if not frame.f_code.co_filename.startswith(SOURCE):
            return
        if event == "call":
            call = Call(frame.f_code)
            stack[-1].calls.append(call)
            stack.append(call)
        elif event == "return" and len(stack) > 1:
            stack.pop()

    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return top


def place(code: CodeType) -> str:
    """The file of a function, below the package."""
    return code.co_filename.removeprefix(SOURCE)


def summary(code: CodeType) -> str:
    """The first sentence of the docstring of a function; nothing where it has none."""
    text = code.co_consts[0] if code.co_consts and isinstance(code.co_consts[0], str) else ""
    first = inspect.cleandoc(text).split("\n\n")[0].replace("\n", " ") if text else ""
    return re.split(r"(?<=[.:;]) ", first)[0].rstrip(".:;")


def is_shown(code: CodeType, shown: set[CodeType]) -> bool:
    """Whether a function has a line of its own."""
    name = code.co_name
    return code not in shown and not name.startswith(("_", "<")) and bool(summary(code))


def draw(call: Call, caller: str, depth: int, shown: set[CodeType]) -> list[str]:
    """The lines below a call: functions of other files, each once."""
    lines = []
    for inner in call.calls:
        assert inner.code is not None
        here = place(inner.code)
        if depth < MOST_DEPTH and here != caller and is_shown(inner.code, shown):
            shown.add(inner.code)
            name = inner.code.co_qualname if hasattr(inner.code, "co_qualname") else inner.code.co_name
            lines.append(f"{'    ' * depth}- `{here}` **{name}**: {summary(inner.code)}")
            lines += draw(inner, here, depth + 1, shown)
        else:
            lines += draw(inner, caller, depth, shown)
    return lines
