"""The quickstart as a newcomer runs it: every command, one after the other."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_what_the_quickstart_says_holds(tmp_path):
    tool = runpy.run_path(str(ROOT / "tools" / "record.py"))
    names = sorted(path.name for path in tool["CONSOLE"].iterdir())
    made = tool["recorded"](names, tmp_path)
    told, untold = (
        {k: float(v) for k, v in re.findall(r"(length=\d+)\D+([\d.]+)", made[name])}
        for name in ("3-train.txt", "4-untold.txt")
    )
    assert told["length=10"] > 0.9
    assert told["length=100"] > 0.5
    assert untold["length=5"] == 1
    assert untold["length=10"] == 0
