"""Make the models of the package from runs: `python tools/make_zoo.py RUNS`, after the two trainings below.

ordinate train recipes/addition-1000.toml --seed 0 --out RUNS
ordinate train recipes/addition-absolute.toml --seed 0 --out RUNS
"""

import hashlib
import sys
from pathlib import Path

from ordinate.runs import Store, write_json, write_tensors
from ordinate.zoo.cards import FOLDER

MODELS = {
    "addition-relation": (
        "addition-1000",
        "Relation: digits by significance, four places back",
        "content x class attention over aligned(first, second) * window(back=4); trained on at most 5 digits",
    ),
    "addition-absolute": (
        "addition-absolute",
        "Absolute: sinusoidal positions, all pairs",
        "standard attention with sinusoidal positions; same task, sizes and budget, trained on at most 5 digits",
    ),
}
"""Name in the package: name of the recipe, title, summary."""

LARGEST = 1_000_000


def make(store: Store, name: str) -> None:
    recipe, title, summary = MODELS[name]
    (record,) = store.runs(name=recipe, status="done", seed=0)
    run = store.find(record.id)
    tensors, meta = run.load_checkpoint()
    file = FOLDER / name / "model.safetensors"
    write_tensors(file, {key: tensor.float() for key, tensor in tensors.items()}, meta)
    data = file.read_bytes()
    if len(data) > LARGEST:
        sys.exit(f"{file} has {len(data)} bytes: a model of the package has at most {LARGEST}")
    facts = run.record()
    card = {
        "name": name,
        "title": title,
        "summary": summary,
        "command": f"ordinate train recipes/{recipe}.toml --seed 0",
        "recipe": meta["recipe"],
        **{key: meta[key] for key in ("seed", "step", "averaged")},
        **{key: facts[key] for key in ("parameters", "samples_seen", "seconds", "scores")},
        "sha256": hashlib.sha256(data).hexdigest(),
        "environment": facts["environment"],
    }
    write_json(FOLDER / name / "card.json", card)
    print(f"{name}: {len(data)} bytes, {facts['scores']}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name in MODELS:
        make(Store(Path(sys.argv[1])), name)
