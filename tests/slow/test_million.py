"""A million tokens with a window of five, in a process of its own: less than 2 s of one core, and than 1 GiB."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, re, sys, time
from pathlib import Path
import torch
from ordinate.coordinates import layout
from ordinate.relations import aligned, itself, window

torch.set_num_threads(1)
relation, fields = eval(sys.argv[1]), sys.argv[2].split()
aligned("a").on(layout(a=2))
begun = time.process_time()
coordinates = layout(**{field: 10**6 // len(fields) for field in fields})
pattern = relation.on(coordinates)
seconds = time.process_time() - begun
# Not `ru_maxrss`, which begins with the peak of the process that started this one.
peak = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
begun = time.process_time()
runs = sum(len(block.runs) for block in pattern.blocks)
print(json.dumps({
    "pairs": len(pattern.query), "seconds": seconds, "MiB": peak / 1024, "runs": runs,
    "blocks": time.process_time() - begun,
}))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize(
    ("relation", "fields", "pairs", "runs"),
    [
        ("aligned('a') * window(back=5)", "a", 6 * 10**6 - 15, 6),
        ("window(back=5)", "a", 6 * 10**6 - 15, 21),
        ("aligned('a', 'b') * window(back=2) | itself()", "a b", 6 * 10**6 - 12, 12),
    ],
)
def test_a_million_tokens(relation, fields, pairs, runs):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, relation, fields], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    print(found)
    assert (found["pairs"], found["runs"]) == (pairs, runs)
    assert found["seconds"] < 2
    assert found["blocks"] < 3
    assert found["MiB"] < 1024
