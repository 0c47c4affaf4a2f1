"""Draw `docs/life.md` from the code: what a score, a training and a verdict go through, file by file.

    python tools/life.py            # write the walks into the page
    python tools/life.py --check    # say whether the page is that of the code, and change nothing

A walk is a real call, recorded as it happens. Shown are public functions with a docstring, each once, indented under
the function of another file that called it; what a file does for itself stays inside of it.
"""

import inspect
import re
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "life.md"
SOURCE = str(ROOT / "src" / "ordinate") + "/"
MARK = re.compile(r"(<!-- walk: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
ASIDE = (
    "errors.py",
    "kinds.py",
    "coordinates.py",
    "lab/seeds.py",
    "lab/threads.py",
    "lab/plugins.py",
    "app/cli/progress.py",
)
"""Files that everything calls."""
LINES = 5
"""From the first to the last line of a function that is shown."""


@dataclass
class Call:
    """A function that was called, and what it called in turn."""

    code: CodeType | None = None
    calls: list["Call"] = field(default_factory=list)


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
    """The first sentence of a function's docstring."""
    text = code.co_consts[0] if code.co_consts and isinstance(code.co_consts[0], str) else ""
    first = inspect.cleandoc(text).split("\n\n")[0].replace("\n", " ") if text else ""
    return re.split(r"(?<=[.:;]) ", first)[0].rstrip(".:;")


def is_shown(code: CodeType, shown: set[CodeType]) -> bool:
    """Whether a function has a line of its own; helpers and small ones have none."""
    public = not any(
        part.startswith(("_", "<")) for part in code.co_qualname.split(".") if part != "__init__"
    )
    return code not in shown and public and place(code) not in ASIDE and is_long(code) and bool(summary(code))


def is_long(code: CodeType) -> bool:
    """Whether a function is more than a question or a word for one."""
    lines = [line for _, _, line in code.co_lines() if line is not None]
    return max(lines) - min(lines) >= LINES


def draw(call: Call, caller: str, depth: int, most: int, shown: set[CodeType]) -> list[str]:
    """The lines below a call: functions of other files, each once."""
    lines: list[str] = []
    for inner in call.calls:
        assert inner.code is not None
        here = place(inner.code)
        if here != caller and is_shown(inner.code, shown):
            shown.add(inner.code)
            if depth < most:
                lines.append(f"{'    ' * depth}- `{here}` `{inner.code.co_qualname}`: {summary(inner.code)}.")
                lines += draw(inner, here, depth + 1, most, shown)
        else:
            lines += draw(inner, caller, depth, most, shown)
    return lines


def score() -> Call:
    """From a relation to the scores of attention: a forward pass, with what it works out for a new layout."""
    import torch

    import ordinate as od

    near = od.aligned("number") * od.window(back=2)
    x = torch.zeros(2, 20, 8)
    od.Attention(dim=8, heads=2, relation=near)(x)  # everything is imported

    def walk() -> None:
        od.Attention(dim=8, heads=2, relation=near)(x)

    return record(walk)


def command(*words: str) -> Call:
    """A command of `ordinate`, in a folder of its own; once before it is recorded, so that everything is imported."""
    from ordinate.app.cli.main import main

    def walk() -> None:
        with (
            tempfile.TemporaryDirectory() as folder,
            redirect_stdout(StringIO()),
            redirect_stderr(StringIO()),
        ):
            code = main([word.replace("OUT", folder) for word in words])
        assert code == 0, f"{' '.join(words)} ended with {code}"

    walk()
    return record(walk)


SMALL = ["training.steps=2", "training.batch=4", "evaluation.count=4", "evaluation.axes={length=[5]}"]

RECIPE = str(ROOT / "recipes" / "addition-1000.toml")

WALKS: dict[str, tuple[Callable[[], Call], int]] = {
    "score": (score, 5),
    "train": (
        lambda: command("train", RECIPE, "--out", "OUT", *(f"--set={change}" for change in SMALL)),
        4,
    ),
    "verdict": (lambda: command("reproduce", "symmetry/fig-2a", "--scale", "smoke", "--out", "OUT"), 4),
}
"""What is walked, and how deep it is shown."""


def walk(name: str) -> str:
    """The lines of a walk."""
    record, most = WALKS[name]
    return "\n".join(draw(record(), "", 0, most, set())) + "\n"


def main(check: bool) -> int:
    """Fill the page, or say whether it is filled."""
    text = PAGE.read_text(encoding="utf-8")
    filled = MARK.sub(lambda found: f"{found[1]}{walk(found[2])}{found[3]}", text)
    if check:
        print(
            f"{PAGE.name} is that of the code"
            if filled == text
            else f"{PAGE.name} is stale: run python tools/life.py"
        )
        return int(filled != text)
    PAGE.write_text(filled, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
