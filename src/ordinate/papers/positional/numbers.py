"""Numbers of other lengths, from fewer samples, as integers: what else the first paper measures on its five tasks."""

from ordinate.lab.evaluation.predicates import AtLeast, AtMost, Within
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Adam, Recipe
from ordinate.papers.aims import Aim, Leads, Place, Ratio, Shows, Widens, across, along
from ordinate.papers.figure import published
from ordinate.papers.positional.value_scale import MODELS, SCALES, SIZES, TASKS, both, described
from ordinate.papers.sheets import ACCURACY, Line, Sheet, Sheets, sheets_figure

MANY = {
    "samples": 500_000,
    "batch": 2048,
    "steps": 2001 * 245,
    "optimizer": Adam(learning_rate=1e-4),
}
"""As published for sequences of all lengths."""

BY_SCALE = "scale c of the values"


@sheets_figure(
    "positional/variable-length",
    "Sequences of one to eight numbers",
    "Mean squared error on sequences of 1 to 8 numbers from [-2c, 2c], for models trained on all these lengths and "
    "values from [-2, 2].",
    described("three tasks, three seeds, about 20 minutes on 2 cores"),
)
def variable_length(scale: str) -> Sheets:
    """Value generalization on sequences of 1 to 8 numbers."""
    size = SIZES[scale]
    tasks = {"smoke": TASKS[:1], "laptop": ("sum", "min", "sort"), "paper": TASKS}[scale]
    sheets, aims = [], []
    for task in tasks:
        any_length, more = make_task(task, length=8, variable=True), MANY if scale == "paper" else {}
        recipes = both(size, f"variable-{task}", any_length, {"scale": SCALES}, **more)
        lines = [Line.along("scale", recipe, label, label) for label, recipe in recipes.items()]
        sheets.append(Sheet(task, BY_SCALE, lines, trained_to=1.0))
        aims += [
            Ratio(
                f"{task}: in distribution the two models are comparable (error of standard / positional).",
                Within(10),
                *across(task, "positional", "standard", 1.0),
            ),
            Ratio(
                f"{task}: at c = 10 positional is better by an order of magnitude, at every length up to 8.",
                AtLeast(10),
                *across(task, "positional", "standard", 10.0),
            ),
        ]
    return Sheets(sheets, aims, size.seeds, size.differs)


@sheets_figure(
    "positional/sample-size",
    "What more samples buy",
    "Mean squared error of models trained on a fixed set of samples, over its size: in distribution, and on values "
    "three times as large.",
    described("two tasks, four sizes, three seeds, about 35 minutes on 2 cores"),
)
def sample_size(scale: str) -> Sheets:
    """Both models from few and from many samples, in distribution and at c = 3."""
    size = SIZES[scale]
    counts = {
        "smoke": (20, 40),
        "laptop": (5000, 10_000, 20_000, 50_000),
        "paper": tuple(range(5000, 50_001, 5000)),
    }[scale]
    tasks = {"smoke": ("sum",), "laptop": ("sum", "min"), "paper": TASKS}[scale]
    sheets, aims = [], []
    for task in tasks:
        recipes: dict[str, dict[int, Recipe]] = {}
        for label, model in MODELS.items():
            name, chosen, axes = f"samples-{task}-{label}", make_task(task, length=8), {"scale": (3.0,)}
            recipes[label] = {
                m: size.recipe(f"{name}-{m}", chosen, model, axes, **_epochs(scale, m)) for m in counts
            }
        for where, point in (("in distribution", "validation"), ("c = 3", "scale=3")):
            lines = [Line.over(recipes[label], label, label, point) for label in MODELS]
            sheets.append(Sheet(f"{task}, {where}", "training samples", lines, log_x=True))
        aims += _sample_aims(task, counts)
    equal = "All sets get equal steps; published are equal epochs, so more steps for more samples."
    return Sheets(sheets, aims, size.seeds, f"{size.differs} {equal}" if size.differs else "")


def _epochs(scale: str, samples: int) -> dict[str, int]:
    """Equal epochs as published; equal steps on a laptop, where few samples are seen more often."""
    if scale == "paper":
        return {"samples": samples, "steps": 2001 * (samples // 1000)}
    return {"samples": samples, **({"steps": 2500} if scale == "laptop" else {})}


def _sample_aims(task: str, counts: tuple[int, ...]) -> list[Aim]:
    xs = tuple(float(m) for m in counts)
    few, many = xs[0], xs[-1]
    inside, outside = f"{task}, in distribution", f"{task}, c = 3"
    falls = [
        Ratio(
            f"{task}: the error of {label} in distribution falls with samples.",
            AtLeast(1),
            *along(inside, label, many, few),
        )
        for label in MODELS
    ]
    return [
        *falls,
        Ratio(
            f"{task}: the error of positional at c = 3 falls with samples.",
            AtLeast(1),
            *along(outside, "positional", many, few),
        ),
        Ratio(
            f"{task}: the error of standard at c = 3 does not (at most halved).",
            AtMost(2),
            *along(outside, "standard", many, few),
        ),
        Widens(
            f"{task}: so the gap at c = 3 grows with samples (slope of log ratio over log samples).",
            AtLeast(0),
            tuple(Place(outside, "positional", m) for m in xs),
            tuple(Place(outside, "standard", m) for m in xs),
            xs,
        ),
    ]


@sheets_figure(
    "positional/input-length",
    "Models for longer inputs",
    "Mean squared error on values three times as large as in training, for models of 2 to 32 numbers with "
    "log2(n) + 1 layers.",
    described("sum to 32 numbers and min to 16, three seeds, about 40 minutes on 2 cores"),
)
def input_length(scale: str) -> Sheets:
    """A model for each length, with log2(n) + 1 layers, at c = 3."""
    size = SIZES[scale]
    lengths: dict[str, dict[str, tuple[int, ...]]] = {
        "smoke": {"sum": (2, 4)},
        "laptop": {"sum": (2, 4, 8, 16, 32), "min": (2, 4, 8, 16)},
        "paper": dict.fromkeys(TASKS, (2, 4, 8, 16, 32)),
    }
    steps = {"steps": 1600} if scale == "laptop" else {}
    sheets: list[Sheet] = []
    aims: list[Aim] = []
    for task, ns in lengths[scale].items():
        lines = []
        for label, model in MODELS.items():
            name, axes = f"length-{task}-{label}", {"scale": (3.0,)}
            recipes = {
                n: size.recipe(f"{name}-{n}", make_task(task, length=n), model, axes, **steps) for n in ns
            }
            lines.append(Line.over(recipes, label, label, "scale=3"))
        sheets.append(Sheet(f"{task}, c = 3", "length n", lines, log_x=True))
        aims += [
            Ratio(
                f"{task}: positional is better at c = 3 on {n} numbers.",
                AtLeast(1),
                *across(f"{task}, c = 3", "positional", "standard", float(n)),
            )
            for n in ns
        ]
    return Sheets(sheets, aims, size.seeds, size.differs)


@sheets_figure(
    "positional/accuracy",
    "Integers within ten per cent",
    "Share of sequences of 8 integers from [-2c, 2c] with every answer within 10 % (or 0.1), for models trained on "
    "numbers, or on integers alone, from [-2, 2].",
    described("three tasks, three seeds, about 30 minutes on 2 cores"),
)
def accuracy(scale: str) -> Sheets:
    """Integers in the test, all answers of a sequence within 10 %.

    What was published tells that inputs are integers, not whether those of training are, too. Trained on five integers,
    from -2 to 2, a model has no reason to be right between them or beyond; both ways of training are shown.
    """
    size = SIZES[scale]
    known = published("positional")["accuracy"]
    tasks = {"smoke": ("median",), "laptop": ("median", "sum", "sort"), "paper": TASKS}[scale]
    sheets: list[Sheet] = []
    aims: list[Aim] = []
    for task in tasks:
        tested, whole = (
            make_task(task, length=8, integer_tests=True),
            make_task(task, length=8, integers=True),
        )
        numbers = both(size, f"tested-{task}", tested, {"scale": SCALES})
        integers = both(size, f"integers-{task}", whole, {"scale": SCALES})
        lines = []
        for label, look in (("positional", "hybrid"), ("standard", "baseline")):
            marks = dict(zip(SCALES, known.get(task, {}).get(label, []), strict=False))
            lines += [
                Line.along("scale", numbers[label], label, label, marks),
                Line.along("scale", integers[label], f"{label}, trained on integers", look),
            ]
        sheets.append(Sheet(task, BY_SCALE, lines, column=ACCURACY, trained_to=1.0))
        aims += [
            Leads(
                f"{task}: at c = {c:g} positional is right on more sequences, by 10 points of 100 or more.",
                AtLeast(0.1),
                *across(task, "positional", "standard", c),
            )
            for c in (2.0, 5.0)
        ]
        aims += [
            Shows(
                f"{task}: standard is right on less than a tenth at c = 5.",
                AtMost(0.1),
                Place(task, "standard", 5.0),
            ),
            Leads(
                f"{task}: trained on integers alone, positional is right on fewer at c = 2, by 10 points or more.",
                AtLeast(0.1),
                *across(task, "positional", "positional, trained on integers", 2.0),
            ),
        ]
    return Sheets(sheets, aims, size.seeds, size.differs)


FIGURES = (variable_length, sample_size, input_length, accuracy)
