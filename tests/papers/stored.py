"""The results that come with the repository."""

import json
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "results"
STORED = sorted(str(path.parent.relative_to(RESULTS)) for path in RESULTS.glob("*/*/result.json"))
"""The names of all figures that are stored."""


def stored(name):
    """The document of a stored figure."""
    return json.loads((RESULTS / name / "result.json").read_text(encoding="utf-8"))
