"""Models proven right at every length: exact machines, learned from short words by scans whose states are rounded.

What no sample can show: of every seed the figure says whether it is proven, or which word is the shortest that it gets
wrong. Seeds are none of those that settings were chosen on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure as Drawing

from ordinate.coordinates import Coordinates
from ordinate.lab.evaluation.claims import AtLeast, Claim
from ordinate.lab.proofs import prove
from ordinate.lab.proofs.prove import exact
from ordinate.lab.report.heat import Heat, heat_maps
from ordinate.lab.report.numbers import show_number
from ordinate.lab.runs import Run
from ordinate.lab.studies import Study
from ordinate.lab.training import Recipe, load_model
from ordinate.papers.figure import SMOKE, Document, Figure

FIRST_SEED = 100
"""Settings were chosen on seeds below."""
MILLION = 10**6
CHOSEN = (
    "Settings were chosen on seeds 0 to 9 of these machines, by whether they were proven; the seeds shown begin "
    f"at {FIRST_SEED}, and each was trained once."
)


@dataclass(frozen=True)
class Row:
    """One machine: the recipe that it is learned by, with what it changes, and how many seeds."""

    machine: str
    seeds: int
    base: str = "proven-language"
    changes: tuple[str, ...] = ()

    def recipe(self, *more: str) -> Recipe:
        """The recipe, named after the machine."""
        named = (f"name=proven-{self.machine}", f"task.of={self.machine}")
        return Recipe.read(self.base, (*named, *self.changes, *more))


ARITHMETIC = tuple(Row(name, 10, "proven-addition") for name in ("addition", "subtraction", "comparison"))
LANGUAGES = (
    Row("parity", 10),
    Row("even-pairs", 5),
    Row("first", 5),
    Row("repeat-01", 5),
    Row("modular-counting", 5, changes=("model.width=6",)),
)
FAST = ("training.steps=20", "training.samples=200", "evaluation.count=20", "evaluation.axes.length=[6]")


@dataclass(frozen=True)
class Proofs:
    """What a scale trains and proves."""

    rows: tuple[Row, ...]
    more: tuple[str, ...] = ()
    claims: bool = False

    def study(self, store: Path) -> Study:
        """Every machine with its seeds."""
        recipes = tuple(row.recipe(*self.more) for row in self.rows)
        seeds = {recipe.name: row.seeds for recipe, row in zip(recipes, self.rows, strict=True)}
        most = max(seeds.values())
        return Study(recipes, tuple(range(FIRST_SEED, FIRST_SEED + most)), store, seeds)

    def measure(self, study: Study, scale: str) -> Document:
        """Prove every run."""
        found = {
            row.machine: [proven(run) for run in study.runs(recipe)]
            for row, recipe in zip(self.rows, study.recipes, strict=True)
        }
        return {
            "settings": {"seeds": f"from {FIRST_SEED} on", "trained on": self._trained_on(study)},
            "machines": found,
            "claims": [
                self._claim(name, runs, scale).to_dict() for name, runs in found.items() if self.claims
            ],
            "table": table(found),
            "note": None if self.claims else "one seed, no verdict",
        }

    def _trained_on(self, study: Study) -> str:
        longest = {
            row.machine: max(r.task.lengths()) for row, r in zip(self.rows, study.recipes, strict=True)
        }
        return ", ".join(f"{name}: at most {length} symbols" for name, length in longest.items())

    def _claim(self, machine: str, runs: list[Document], scale: str) -> Claim:
        share = float(np.mean([run["verdict"] == "proven" for run in runs]))
        bound = 1.0 if machine in ("addition", "subtraction", "comparison", "parity") else 0.8
        wanted = "all seeds" if bound == 1 else "at least four of five seeds"
        sentence = f"{machine}: {wanted} are proven right at every length (share of {len(runs)} seeds)."
        return Claim.of_exact(sentence, share, AtLeast(bound), None, scale)  # type: ignore[arg-type]


def proven(run: Run) -> Document:
    """What is known of one run: verdict, reason, states, scores, and the sum of a million nines and one."""
    facts = run.facts()
    told = {name: facts[name] for name in ("seed", "seconds", "parameters", "scores")}
    if run.status != "done":
        return {**told, "verdict": "failed", "reason": str(facts["error"]), "states": 0, "wrong_at": None}
    proof = prove(run)
    checked = {
        "verdict": proof.verdict,
        "reason": proof.reason,
        "states": proof.states,
        "levels": proof.levels,
    }
    wrong = {"wrong_at": len(proof.word) or None}
    return {**told, **checked, **wrong, "million": nines(run, MILLION)}


def nines(run: Run, digits: int) -> bool | None:
    """Whether a model adds one to so many nines; None for models that do not add.

    The carry starts at the first column and goes through all of them.
    """
    task = Recipe.parse(run.recipe).task
    if getattr(getattr(task, "of", None), "name", "") != "addition":
        return None
    machine, letters = exact(task)
    column = {symbol: place for place, symbol in enumerate(machine.symbols)}
    word = torch.full((1, digits), column["90"])
    word[0, 0], word[0, -1] = column["91"], column["00"]
    model = load_model(run).eval()
    with torch.no_grad():
        answered = model(letters[word].to(model.encode.weight), Coordinates.of(token=range(digits))).argmax(
            -1
        )
    return bool((answered == machine.run(word)).all())


def table(found: Mapping[str, list[Document]]) -> Document:
    """One row a machine."""
    headers = ["machine", "proven", "not proven", "states", "parameters", "seconds", "a million nines + 1"]
    rows = []
    for name, runs in found.items():
        good = [run for run in runs if run["verdict"] == "proven"]
        states = sorted(run["states"] for run in good)
        wrong = [
            f"wrong at {run['wrong_at']}" if run["wrong_at"] else run["verdict"]
            for run in runs
            if run not in good
        ]
        sums = [run["million"] for run in runs if run.get("million") is not None]
        rows.append(
            [
                name,
                f"{len(good)} of {len(runs)}",
                ", ".join(wrong),
                f"{states[0]} to {states[-1]}" if states else "",
                show_number(runs[0]["parameters"]),
                show_number(round(float(np.nanmedian([run["seconds"] or np.nan for run in runs])), 1)),
                f"{sum(sums)} of {len(sums)}" if sums else "",
            ]
        )
    caption = (
        "Seeds proven right at every length; of the others, the length of the shortest word that is wrong."
    )
    return {"headers": headers, "rows": rows, "caption": caption}


def draw(document: Document) -> Drawing:
    """Shares of seeds: exact in training's range, at the longest length measured, and proven."""
    machines: Mapping[str, list[Document]] = document["machines"]
    names = list(machines)[::-1]
    columns = ["as trained", "1000 symbols", "proven"]
    values = np.full((1, len(names), len(columns)), np.nan)
    for row, name in enumerate(names):
        runs = machines[name]
        for column, point in enumerate(("validation", "length=1000")):
            scores = [run["scores"].get(point) for run in runs if point in run["scores"]]
            if scores:
                values[0, row, column] = np.mean([float(score) for score in scores])
        values[0, row, 2] = np.mean([run["verdict"] == "proven" for run in runs])
    cells = np.ndindex(len(names), len(columns))
    words = {(row, column): "not asked" for row, column in cells if np.isnan(values[0, row, column])}
    shares = "% exact, mean over seeds; % of seeds"
    heat = Heat("learned from short words", shares, "", names, columns, values, percent=True, words=words)
    return heat_maps([heat], columns=1)


def caption(document: Document) -> str:
    """What is seen."""
    proved = sum(run["verdict"] == "proven" for runs in document["machines"].values() for run in runs)
    count = sum(map(len, document["machines"].values()))
    return (
        f"{proved} of {count} models are proven: every word of every length is answered as by the exact machine. "
        "A sample of 1000 symbols cannot show that."
    )


def notes(document: Document) -> list[str]:
    """How settings were chosen, and where certificates are."""
    return [
        CHOSEN,
        "A proof enumerates the states that can occur, level by level, together with those of the exact machine, until "
        "nothing new comes; its certificate lies in the folder of the run, and `ordinate verify` checks it anew.",
        "Told is the relation: a step joins neighbouring stretches that double, and digits stand in columns.",
    ]


def _plan(scale: str) -> Proofs:
    if scale == "smoke":
        return Proofs((Row("addition", 1, "proven-addition"),), FAST)
    if scale == "demo":
        return Proofs((Row("addition", 1, "proven-addition"),))
    return Proofs((*ARITHMETIC, *LANGUAGES), ("evaluation.axes.length=[100,1000]",), claims=True)


PROVEN = Figure(
    "beyond/proven",
    "Proven right at every length",
    "Exact machines learned from short words by models that pass on rounded states: of every seed whether it is proven "
    "right at every length, or the shortest word that it gets wrong.",
    {
        "smoke": SMOKE,
        "demo": "one adder, half a minute; no verdict",
        "laptop": "ten seeds of arithmetic and parity, five of other languages, some minutes on 2 cores",
    },
    draw=draw,
    caption=caption,
    plan=_plan,
    notes=notes,
)

FIGURES = (PROVEN,)
