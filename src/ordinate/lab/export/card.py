"""The card of a model: what it does, how it was made, how right it is, how to use it."""

import json
from typing import Any

from ordinate.lab.report.numbers import show_number


def model_card(recipe: dict[str, Any], run: dict[str, Any]) -> str:
    """Return the card as Markdown with the head that model hubs read.

    >>> card = model_card({"name": "adder", "task": {"name": "addition"}, "model": {"kind": "encoder"}}, {"seed": 0})
    >>> card.splitlines()[1], "seed 0" in card
    ('library_name: ordinate', True)
    """
    task, kind = recipe["task"]["name"], recipe["model"]["kind"]
    scores = {name: value for name, value in (run.get("scores") or {}).items() if value is not None}
    rows = "\n".join(f"| {name} | {show_number(value)} |" for name, value in scores.items())
    facts = [f"seed {run.get('seed', 'unknown')}, one seed, no verdict"]
    facts += [f"{run['parameters']} parameters"] if run.get("parameters") else []
    facts += [f"{run['samples_seen']} samples seen"] if run.get("samples_seen") else []
    facts += ["averaged weights"] if run.get("averaged") else []
    return f"""---
library_name: ordinate
license: apache-2.0
tags: [ordinate, {task}, {kind}]
---

# {recipe["name"]}

A {kind} model for the task `{task}`, made with Ordinate: {", ".join(facts)}.

```python
import ordinate.lab.export
from transformers import AutoModel

model = AutoModel.from_pretrained("path/to/this/folder")
```

## How right it is

| point | score |
|---|---|
{rows or "| nothing was measured | |"}

Exact match for symbols, mean squared error for numbers; `validation` is as in training, other points are beyond it.

## Recipe

```json
{json.dumps(recipe, indent=1)}
```
"""
