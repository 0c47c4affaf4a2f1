"""Other models on numbers: smaller ones, the six of the ablation, and rotary positions."""

from ordinate.encodings import OneHot, Rope
from ordinate.lab.architectures import ABLATION, Standard
from ordinate.lab.evaluation.predicates import AtLeast, AtMost
from ordinate.lab.report.style import BLACK, BLUE, GREEN, PURPLE, SKY, VERMILION
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Recipe
from ordinate.papers.aims import Aim, Place, Ratio, across
from ordinate.papers.figure import published
from ordinate.papers.positional.numbers import BY_SCALE
from ordinate.papers.positional.value_scale import SCALES, SIZES, described, recipe_for
from ordinate.papers.sheets import Line, Sheet, Sheets, sheets_figure

HIDDEN = (2, 4, 8, 16)
WHAT = {
    "M0": "standard",
    "M1": "positional, P in X",
    "M2": "no positions",
    "M3": "hybrid",
    "M4": "RoPE",
    "M5": "positional",
}
LOOKS = {"M0": VERMILION, "M1": SKY, "M2": BLACK, "M3": GREEN, "M4": PURPLE, "M5": BLUE}
"""The six models, in the words of a legend, and how they look."""


FULL = {"positional": "M5", "standard": "M0"}
"""The models of the value-scale figure in the ablation."""
FEWER = {"laptop": {"steps": 2500}}
"""Six models and many small ones, some of which train at half the pace of the two."""


def _full(task: str, model: str, scale: str) -> Recipe:
    """The model of the value-scale figure, whose runs are shared; a small one of its own where all is small."""
    return _variant(scale, task, FULL[model]) if scale == "smoke" else recipe_for(task, model, scale)


def _variant(scale: str, task: str, name: str) -> Recipe:
    """One model of the ablation; as published its runs are shared with the value-scale figure."""
    for model, same in FULL.items():
        if scale == "paper" and name == same:
            return recipe_for(task, model, scale)
    return SIZES[scale].recipe(
        f"{task}-{name}",
        make_task(task, length=8),
        ABLATION[name],
        {"scale": SCALES},
        **FEWER.get(scale, {}),
    )


def _tasks(scale: str) -> tuple[str, ...]:
    return ("sum",) if scale == "smoke" else ("sum", "min")


@sheets_figure(
    "positional/small-models",
    "Smaller standard models",
    "Mean squared error on values ten times as large as in training, for standard models of one and four layers "
    "with 2 to 16 hidden units: is it too many parameters that make them fail?",
    described("two tasks, three seeds, about 30 minutes on 2 cores, less after ablation"),
)
def small_models(scale: str) -> Sheets:
    """Standard models of one and four layers with narrow perceptrons, at c = 10."""
    size = SIZES[scale]
    hidden = HIDDEN[:1] if scale == "smoke" else HIDDEN
    sheets: list[Sheet] = []
    aims: list[Aim] = []
    for task in _tasks(scale):
        one = {m: _small(scale, task, 1, m) for m in hidden}
        four = {m: _small(scale, task, 4, m) for m in hidden} | {64: _variant(scale, task, "M0")}
        whole = {64: _variant(scale, task, "M5")}
        lines = [
            Line.over(one, "standard, 1 layer", "second", "scale=10"),
            Line.over(four, "standard, 4 layers", "standard", "scale=10"),
        ]
        every = [Line.over(whole, "positional, 4 layers", "positional", "scale=10"), *lines]
        sheets.append(Sheet(f"{task}, c = 10", "hidden units of the perceptrons", every, log_x=True))
        aims += [
            Ratio(
                f"{task}: standard with {line.label.split(', ')[1]} and {m} hidden units is worse than positional by "
                "an order of magnitude at c = 10.",
                AtLeast(10),
                Place(f"{task}, c = 10", "positional, 4 layers", 64.0),
                Place(f"{task}, c = 10", line.label, float(m)),
            )
            for line in lines
            for m in hidden
        ]
    return Sheets(sheets, aims, size.seeds, size.differs)


def _small(scale: str, task: str, layers: int, hidden: int) -> Recipe:
    return SIZES[scale].recipe(
        f"small-{task}-{layers}-{hidden}",
        make_task(task, length=8),
        Standard(layers=layers, hidden=hidden),
        {"scale": SCALES},
        **FEWER.get(scale, {}),
    )


@sheets_figure(
    "positional/ablation",
    "Where positions enter",
    "Mean squared error over the scale of the values for six models: positions appended to the tokens, used for "
    "the attention weights, both, or neither.",
    described("two tasks, three seeds, about 40 minutes on 2 cores"),
)
def ablation(scale: str) -> Sheets:
    """Where positions enter: the input, the attention, both, or nowhere."""
    size = SIZES[scale]
    sheets: list[Sheet] = []
    aims: list[Aim] = []
    for task in _tasks(scale):
        lines = [
            Line.along("scale", _variant(scale, task, name), f"{name} {WHAT[name]}", LOOKS[name])
            for name in ABLATION
        ]
        sheets.append(Sheet(task, BY_SCALE, lines, trained_to=1.0))
        labels = {name: line.label for name, line in zip(ABLATION, lines, strict=True)}
        aims += [
            Ratio(
                f"{task}: at c = 10 {good}, with weights from positions only, is better than {bad} by an order of "
                "magnitude.",
                AtLeast(10),
                *across(task, labels[good], labels[bad], 10.0),
            )
            for good in ("M5", "M1")
            for bad in ("M0", "M2", "M3", "M4")
        ]
    return Sheets(sheets, aims, size.seeds, size.differs)


@sheets_figure(
    "positional/rope",
    "Rotary positions",
    "Mean squared error over the scale of the values for standard attention with rotary positions.",
    described("two tasks, three seeds, about 15 minutes on 2 cores, less after value-scale"),
)
def rope(scale: str) -> Sheets:
    """Rotary positions that rotate, beside those published, which did not."""
    size = SIZES[scale]
    known = published("positional")["rope"]
    sheets: list[Sheet] = []
    aims: list[Aim] = []
    for task in _tasks(scale):
        rotated = Standard(encoding=(OneHot(), Rope()))
        recipe = size.recipe(f"rope-{task}", make_task(task, length=8), rotated, {"scale": SCALES})
        marks = {float(c): value for c, value in known.get(task, {}).items()}
        lines = [
            Line.along("scale", _full(task, "positional", scale), "positional", "positional"),
            Line.along("scale", _full(task, "standard", scale), "standard", "standard", marks),
            Line.along("scale", recipe, "standard with RoPE", PURPLE),
        ]
        sheets.append(Sheet(task, BY_SCALE, lines, trained_to=1.0))
        at_ten = Place(task, "standard with RoPE", 10.0)
        aims += [
            Ratio(
                f"{task}: RoPE does not help the standard model at c = 10 (error at most halved).",
                AtMost(2),
                at_ten,
                Place(task, "standard", 10.0),
            ),
            Ratio(
                f"{task}: positional is better than RoPE by an order of magnitude at c = 10.",
                AtLeast(10),
                Place(task, "positional", 10.0),
                at_ten,
            ),
        ]
    note = (
        "The published code turned every position of a head by the same angle, which leaves all scores as they were: "
        "its model is the standard one, and its published values are the hollow marks on that line."
    )
    return Sheets(sheets, aims, size.seeds, f"{note} {size.differs}".strip())


FIGURES = (small_models, ablation, rope)
