"""The page of one explained input: what can be said in words, its pictures, and what its parts are worth."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from ordinate.lab.explain import Ablation, ClassVectors, Explanation
from ordinate.lab.report.answers import answer_places
from ordinate.lab.report.classes import class_maps, map_of
from ordinate.lab.report.explanation import ablation_bars, attention_grid, used_positions
from ordinate.lab.report.programs import MOST_TOKENS, draw_walk
from ordinate.lab.report.report import (
    Command,
    FigureSection,
    KeyValues,
    Report,
    Section,
    Table,
    Text,
    write_report,
)
from ordinate.lab.zoo.opened import Opened

PAGE = "explanation.html"


@dataclass(frozen=True)
class Picture:
    """A picture with the name of its files, and what the page says of it."""

    name: str
    title: str
    caption: str
    draw: Callable[[], Figure]


def pictures(
    explanation: Explanation, classes: tuple[ClassVectors, ...], ablation: Ablation | None
) -> list[Picture]:
    """What there is to draw."""
    found = [
        Picture("answer", "Answer", _about_places(explanation), lambda: answer_places(explanation)),
        Picture(
            "used",
            "Which input each output used",
            "Rollout follows attention weights alone. The effect of a change is measured: every input symbol is "
            "changed in turn, and the outputs compared. On the right is what the right answer does under the same "
            "changes. Grey inputs are never changed on their own.",
            lambda: used_positions(explanation),
        ),
        Picture(
            "attention",
            "Attention",
            "Every head of every layer: queries down, keys across, each token with its field and ordinate.",
            lambda: attention_grid(explanation),
        ),
    ]
    if classes:
        found.append(
            Picture(
                "classes",
                "Vectors of the classes of pairs",
                "A row is a class of pairs, a column a coordinate; heads lie side by side.",
                lambda: class_maps({_named(one, len(classes)): map_of(one) for one in classes}),
            )
        )
    if explanation.columns is not None and len(explanation.tokens) <= MOST_TOKENS + 1:
        steps = explanation.columns
        found.append(
            Picture(
                "columns",
                "Columns, layer by layer",
                "Rows are layers. A matrix shows where every token looks in a head; the table behind it what stands in "
                "the residual columns. x is an input, c a constant of the position, r a received word, u a ReLU, v a "
                "value that is kept.",
                lambda: draw_walk(steps),
            )
        )
    if ablation is not None:
        found.append(
            Picture(
                "ablation",
                "What parts are worth",
                f"Accuracy on {ablation.count} samples at {ablation.axis} {ablation.value:g}, one part set to zero.",
                lambda: ablation_bars(ablation),
            )
        )
    return found


@dataclass(frozen=True)
class Explained:
    """A model with the explanation of one input, its vectors of classes, and what was found without its parts.

    >>> found = find_model("addition-relation")                                            # doctest: +SKIP
    >>> explanation = explain(found.load(), found.task, found.task.parse("123+95"))        # doctest: +SKIP
    >>> Explained(found, explanation).write(Path("explanation"))                           # doctest: +SKIP
    """

    model: Opened
    explanation: Explanation
    classes: tuple[ClassVectors, ...] = ()
    ablation: Ablation | None = None

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        found = self.model
        return {
            "run": found.id,
            "path": str(found.path),
            "model": found.kind,
            "step": found.step,
            "note": found.note,
            "explanation": self.explanation.to_dict(),
            "classes": [one.to_dict() for one in self.classes],
            "ablation": None if self.ablation is None else self.ablation.to_dict(),
        }

    def write(
        self, out: Path, command: str = "", report: Callable[[int, int], None] = lambda done, total: None
    ) -> list[Path]:
        """Write every picture as PNG and SVG, and the page; return all paths, the page first."""
        found, explanation = self.model, self.explanation
        drawn, files = [], []
        all_pictures = pictures(explanation, self.classes, self.ablation)
        for number, picture in enumerate(all_pictures):
            section = FigureSection(picture.draw(), picture.caption, picture.title)
            files += section.save(out / picture.name)
            drawn.append(section)
            report(number + 1, len(all_pictures))
        sections: list[Section] = [Text(findings(explanation), title="In words"), *drawn]
        if explanation.columns is not None and len(explanation.tokens) > MOST_TOKENS + 1:
            sections.append(Text([f"Columns are drawn for up to {MOST_TOKENS} processors."], title="Columns"))
        if self.ablation is not None:
            rows = [[row.part, row.kind, row.accuracy, row.change, row.loss] for row in self.ablation.rows]
            sections.append(
                Table(
                    ["part", "kind", "accuracy", "change", "loss"], rows, title="Accuracy without each part"
                )
            )
        facts = {"model": found.kind, "task": found.task.name, "run": found.id, "step": found.step}
        sections.append(KeyValues({**facts, "about": found.note}))
        if command:
            sections.append(Command(command))
        page = write_report(Report(f"{explanation.input}", _lead(found, explanation), sections), out / PAGE)
        return [page, *files]


def findings(explanation: Explanation) -> list[str]:
    """What can be said in words."""
    outputs = explanation.outputs
    wrong = [output for output in outputs if not output.correct]
    said = [f"The model answers {explanation.answer}; the right answer is {explanation.right}."]
    if explanation.first_wrong is None:
        said[0] = f"The model answers {explanation.answer}, which is right."
    else:
        first = outputs[explanation.first_wrong]
        said.append(
            f"{len(wrong)} of {len(outputs)} outputs are wrong, the first at "
            f"{_place(explanation, first.token)}: {_value(first.answer)} instead of {_value(first.right)}."
        )
    if explanation.carries is not None:
        cascades = explanation.carries.cascades
        if cascades:
            low, high = max(cascades, key=lambda cascade: cascade[1] - cascade[0])
            said.append(
                f"{len(cascades)} cascades of carries; the longest starts at place {low} and ends at place {high}."
                if len(cascades) > 1
                else f"One cascade of carries, from place {low} to place {high}."
            )
        else:
            said.append("Nothing is carried.")
    return said


def _about_places(explanation: Explanation) -> str:
    text = "Green answers are right, red ones wrong."
    if explanation.carries is not None:
        text += " An orange line joins the carries that one cascade hands on."
    return text


def _named(classes: ClassVectors, groups: int) -> str:
    first, last = classes.heads
    return "" if groups == 1 else f"heads {first + 1} to {last}"


def _place(explanation: Explanation, token: int) -> str:
    where = explanation.tokens[token]
    return f"{where.field} {where.ordinate}"


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def _lead(found: Opened, explanation: Explanation) -> str:
    verdict = "right" if explanation.correct else "wrong"
    return f"Task {found.task.name}, {found.kind} model {found.id}. The answer {explanation.answer} is {verdict}."
