"""Make the models of the package: `python tools/make_zoo.py RUNS [RUNS ...]`, after the trainings below.

ordinate train recipes/addition-1000.toml --seed 0 --out RUNS
ordinate train recipes/addition-absolute.toml --seed 0 --out RUNS
ordinate train recipes/multiplication-1.toml --seed 0 --out RUNS
ordinate train recipes/sum-positional.toml --seed 0 --out RUNS
ordinate train recipes/sort-positional.toml --seed 0 --out RUNS

A model whose run is in none of the folders stays as it is; compiled ones are compiled, and all are scored again.
"""

import hashlib
import sys
from pathlib import Path
from typing import Any

from ordinate.lab.evaluation.sweep import Model
from ordinate.lab.programs.collection import find_program
from ordinate.lab.programs.compiler.compile import compile_program
from ordinate.lab.programs.files import FACTS, MODEL, describe, load, save
from ordinate.lab.programs.task import task_of
from ordinate.lab.runs import Run, Store, environment, read_json, write_json, write_tensors
from ordinate.lab.tasks import Task
from ordinate.lab.training import Recipe, load_model
from ordinate.lab.zoo.cards import FOLDER
from ordinate.lab.zoo.suite import score

RECIPES = Path(__file__).parent.parent / "recipes"

TRAINED = {
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
    "multiplication-1": (
        "multiplication-1",
        "Relation: the multiplier alike, digits by significance",
        "content x class attention; the multiplier acts alike on every place, digits four places back; trained on at "
        "most 5 digits",
    ),
    "sum-positional": (
        "sum-positional",
        "Positional: weights from positions alone",
        "attention weights that depend on positions alone, trained on 8 numbers between -2 and 2",
    ),
    "sort-positional": (
        "sort-positional",
        "Positional: weights from positions alone, along training",
        "attention weights that depend on positions alone, trained on 1 to 8 numbers; a checkpoint every 500 steps",
    ),
}
"""Name in the package: name of the recipe, title, summary."""

COMPILED = {
    "compiled-adder": (
        "addition",
        64,
        "Adder, compiled",
        "digits and carries of a + b, one processor a place",
    ),
    "compiled-sorter": ("sort", 16, "Sorter, compiled", "a sorting network, one processor a number"),
}
"""Name in the package: program, processors, title, summary."""

LARGEST, ALL = 1_000_000, 20_000_000
"""Bytes of a file, and of all of them."""


def make(runs: list[Run], name: str) -> None:
    recipe, title, summary = TRAINED[name]
    wanted = Recipe.read(RECIPES / f"{recipe}.toml").to_dict()
    found = [run for run in runs if Recipe.parse(run.recipe | {"name": recipe}).to_dict() == wanted]
    if not found:
        document = read_json(FOLDER / name / "card.json")
    else:
        run = found[0]
        kept, meta = {}, {}
        for step in run.checkpoints():
            tensors, meta = run.load_checkpoint(step)
            file = MODEL if step == meta["recipe"]["training"]["steps"] else f"step-{step:08d}.safetensors"
            meta = meta | {"recipe": wanted}
            write_tensors(
                FOLDER / name / file, {key: tensor.float() for key, tensor in tensors.items()}, meta
            )
            kept[file] = sha256(FOLDER / name / file)
        facts = run.record()
        document = {
            "name": name,
            "title": title,
            "summary": summary,
            "command": f"ordinate train recipes/{recipe}.toml --seed 0",
            "recipe": wanted,
            **{key: meta[key] for key in ("seed", "step", "averaged")},
            **{key: facts[key] for key in ("parameters", "samples_seen", "seconds", "scores")},
            "sha256": kept.pop(MODEL),
            "checkpoints": kept,
            "environment": facts["environment"],
        }
    scored(name, document, load_model(FOLDER / name / MODEL), Recipe.parse(document["recipe"]).task)


def make_compiled(name: str, made_in: dict[str, Any]) -> None:
    program, n, title, summary = COMPILED[name]
    compiled = compile_program(find_program(program), n)
    save(compiled, FOLDER / name)
    facts = describe(compiled)
    whole = all(known["whole"] for known in facts["inputs"])
    document = {
        "name": name,
        "title": title,
        "summary": f"{summary}; {n} of them",
        "command": f"ordinate compile {program} --n {n}",
        "program": {"name": program, "n": n, "whole": whole, "error_bound": facts["error_bound"]},
        "parameters": facts["parameters"],
        "sha256": sha256(FOLDER / name / MODEL),
        "environment": made_in,
    }
    scored(name, document, load(FOLDER / name), task_of(program, n, whole=whole))


def scored(name: str, document: dict[str, Any], model: Model, task: Task) -> None:
    """Write a card with the scores of the suite."""
    write_json(FOLDER / name / "card.json", document | {"suite": score(model, task)})
    sizes = {file.name: file.stat().st_size for file in (FOLDER / name).iterdir()}
    if max(sizes.values()) > LARGEST:
        sys.exit(f"{name} has {sizes}: a file of the package has at most {LARGEST} bytes")
    print(f"{name}: {sizes}")


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    made_in = environment()  # before anything of the repository is written
    done = [
        store.find(record.id)
        for store in map(Store, sys.argv[1:])
        for record in store.runs(status="done", seed=0)
    ]
    for name in TRAINED:
        make(done, name)
    for name in COMPILED:
        make_compiled(name, made_in)
    together = sum(file.stat().st_size for file in FOLDER.glob("*/*") if FACTS not in file.name)
    if together > ALL:
        sys.exit(f"all models have {together} bytes: at most {ALL}")
