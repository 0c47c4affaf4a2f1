"""The report of a compiled program: what it costs beside the theorem, what is proved, how its layers look."""

from pathlib import Path
from typing import Any

import torch

from ordinate.lab.explain.explanation import walk
from ordinate.lab.programs.files import load, read_description, read_labels
from ordinate.lab.programs.language.ranges import Range
from ordinate.lab.report.programs import MOST_TOKENS, draw_walk, example_inputs
from ordinate.lab.report.report import (
    Command,
    FigureSection,
    KeyValues,
    Report,
    Section,
    Table,
    Text,
)


def compiled_report(folder: Path) -> Report:
    """The report of the compiled program in a folder."""
    facts = read_description(folder)
    lead = f"{facts['summary'][0].upper()}{facts['summary'][1:]}, compiled for {facts['n']} processors."
    sections: list[Section] = [
        Table(
            ["", "this program", "theorem allows"],
            [
                ["rounds of communication", facts["rounds"], ""],
                ["words a processor and round", facts["words"], ""],
                ["layers", facts["layers"], facts["layer_bound"]],
                ["heads", facts["heads"], facts["head_bound"]],
                ["width", facts["width"], ""],
                ["hidden units", facts["hidden"], ""],
                ["parameters", facts["parameters"], ""],
            ],
            "The theorem of arXiv 2410.01686: 2 R ceil(log2 N) layers and 2 s heads for R rounds of s words.",
            "Costs",
            "costs",
        ),
        Text(_proved(facts), title="What is proved"),
        *_walk(folder, facts),
        KeyValues({"number format": facts["dtype"], "attention": _attention(facts)}, title="Weights"),
        Command(
            f"ordinate verify {facts['program']} --n {facts['n']} --dtype {facts['dtype']}{_reals(facts)}"
        ),
    ]
    return Report(str(facts["program"]), lead, sections)


def _proved(facts: dict[str, Any]) -> list[str]:
    ranges = [f"Input word {word}: {Range(**known)}." for word, known in enumerate(facts["inputs"])]
    return [
        *ranges,
        f"On these the model differs from the program by at most {facts['error_bound']:.3g} in {facts['dtype']}; "
        "other inputs are refused.",
    ]


def _walk(folder: Path, facts: dict[str, Any]) -> list[Section]:
    """The walk of an example, where its tokens can be told apart."""
    if facts["n"] > MOST_TOKENS:
        return [Text([f"Layers are drawn for up to {MOST_TOKENS} processors."], title="Layers")]
    inputs = example_inputs([Range(**known) for known in facts["inputs"]], facts["n"])
    figure = draw_walk(walk(load(folder), read_labels(facts), torch.from_numpy(inputs)))
    return [
        FigureSection(
            figure,
            "Rows are layers. A matrix shows where every token looks in a head; the table behind it what stands in "
            "the residual columns of an example. x is an input, c a constant of the position, r a received word, u a "
            "ReLU, v a value that is kept.",
            "Layers",
            name="layers",
        )
    ]


def _attention(facts: dict[str, Any]) -> str:
    return "query and key weights" if facts["dense"] else "tables of sources"


def _reals(facts: dict[str, Any]) -> str:
    return "" if all(known["whole"] for known in facts["inputs"]) else " --reals"
