"""Proposition 4.2: a target that attention without dot products cannot come near, and with them can."""

from ordinate.lab.architectures import Dp, DpFree, Memory
from ordinate.lab.evaluation.predicates import AtLeast, Between
from ordinate.lab.tasks.memories import PROPOSITION_4_2
from ordinate.papers.aims import Aim, Expresses, Place, Ratio, Shows, across
from ordinate.papers.figure import published
from ordinate.papers.memories.fixed import FIRST, SHARE, SIZES, described
from ordinate.papers.sheets import Column, Exact, Line, Sheet, Sheets, sheets_figure
from ordinate.papers.theory.norms import affine_minimax, affine_mse, all_inputs, content_lag

PUBLISHED: float = published("memories")["prop-4.2"]["bound"]


def minimax() -> float:
    """The sup-norm error that every attention without dot products has at least.

    >>> round(minimax(), 6)
    1.0
    """
    inputs = all_inputs([-1.0, 0.0, 1.0], 3)
    return affine_minimax(inputs, content_lag(inputs)).error


def best_affine() -> float:
    """What the best affine function leaves of the variance, over all inputs alike.

    >>> round(best_affine(), 3)
    0.528
    """
    inputs = all_inputs([-1.0, 0.0, 1.0], 3)
    target = content_lag(inputs)
    return affine_mse(inputs, target) / float(target.var())


@sheets_figure(
    "memories/prop-4.2",
    "Where dot products are needed",
    "The target x_{t - g(x_t)} with g(x) = x + 1 over -1, 0 and 1, for one layer of attention alone, with and "
    "without dot products; and the exact least error of all attention without them, by linear programming.",
    described("three seeds, about 10 minutes on 2 cores"),
)
def prop_4_2(scale: str) -> Sheets:
    """One layer of attention alone, with and without dot products."""
    size = SIZES[scale]
    task = PROPOSITION_4_2.model_copy(update={"length": size.length})
    lines: list[Line | Exact] = []
    for label, role, form in (
        ("with dot products", "positional", Dp()),
        ("without dot products", "standard", DpFree()),
    ):
        recipes = {}
        for heads in size.heads:
            layer = Memory(layers=1, heads=heads, ffn=False, encoding=(FIRST,), attention=form)
            recipes[heads] = size.recipe(f"4.2-{form.name}-{heads}", task, layer)
        lines.append(Line.over(recipes, label, role))
    xs = tuple(float(heads) for heads in size.heads)
    lines.append(Exact("best affine function", "baseline", xs, lambda heads: best_affine()))
    trained = Sheet("what is left of the variance", "heads", lines, SHARE, log_x=True)
    bound = Sheet(
        "largest error without dot products",
        "heads",
        [
            Exact("exact", "first", xs, lambda heads: minimax()),
            Exact("published bound", "second", xs, lambda heads: PUBLISHED),
        ],
        Column("largest error of all inputs"),
        log_x=True,
    )
    most = xs[-1]
    aims: list[Aim] = [
        Expresses(
            "Without dot products the largest error is at least 2/3, whatever the heads.",
            AtLeast(PUBLISHED),
            Place(bound.title, "exact", most),
        ),
        Expresses(
            "It is 1, the error of the zero function: the published bound is not sharp.",
            Between(1 - 1e-6, 1 + 1e-6),
            Place(bound.title, "exact", most),
        ),
        Shows(
            "Without dot products training leaves what the best affine function leaves, or more.",
            AtLeast(best_affine() - 0.01),
            Place(trained.title, "without dot products", most),
        ),
        Ratio(
            f"With dot products and {most:g} heads the error is at most a tenth of that.",
            AtLeast(10),
            *across(trained.title, "with dot products", "without dot products", most),
        ),
    ]
    return Sheets([trained, bound], aims, size.seeds, size.differs)


FIGURES = (prop_4_2,)
