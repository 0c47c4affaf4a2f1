"""Run the commands of `examples/console` and store what they print: `python tools/record.py`.

A file is a command, `$ ordinate ...`, and below it what the command printed. They are run in one empty folder, in the
order of their names, since some build on those before them.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
CONSOLE = ROOT / "examples" / "console"
COLUMNS = "90"


def recorded(names: list[str], folder: Path) -> dict[str, str]:
    """The files' new texts, by name."""
    shutil.copytree(ROOT / "recipes", folder / "recipes")
    return {name: f"{command(name)}\n{printed(command(name), folder)}\n" for name in names}


def command(name: str) -> str:
    return (CONSOLE / name).read_text(encoding="utf-8").partition("\n")[0]


def printed(line: str, folder: Path) -> str:
    arguments = shlex.split(line.removeprefix("$ ordinate"))
    done = subprocess.run(
        [sys.executable, "-m", "ordinate", *arguments],
        cwd=folder,
        env={**os.environ, "COLUMNS": COLUMNS, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return "\n".join(row.rstrip() for row in done.stdout.strip("\n").splitlines())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        names = sorted(path.name for path in CONSOLE.iterdir())
        for name, text in recorded(names, Path(scratch)).items():
            (CONSOLE / name).write_text(text, encoding="utf-8")
