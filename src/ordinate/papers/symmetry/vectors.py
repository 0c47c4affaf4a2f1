"""Figures 11 and 12: the learned class vectors of every layer as pictures, and how spread out they are as a number."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure as Drawing
from torch import Tensor

from ordinate.encodings import ClassVectorEncoding
from ordinate.lab.evaluation.claims import AtLeast, AtMost, Predicate
from ordinate.lab.evaluation.statistics import summarise
from ordinate.lab.report.classes import ClassMap, class_maps
from ordinate.lab.runs import Run
from ordinate.lab.seeds import derive
from ordinate.lab.studies import Study
from ordinate.lab.training import Recipe, load_model
from ordinate.models import build_model
from ordinate.papers.curves import Curve
from ordinate.papers.figure import Document, Figure, Runs, claims_over_seeds
from ordinate.papers.symmetry.models import SCALES, described, differences
from ordinate.papers.symmetry.multiplication import products


def vectors_figure(
    name: str, title: str, multiplier: int, standing_out: tuple[str, ...], *, minutes: int
) -> Figure:
    """Class vectors of the models of another figure: rows are classes, columns coordinates, a panel for each layer."""

    def curves(scale: str) -> tuple[Curve, ...]:
        made = products(SCALES[scale], multiplier)
        return made["rpe"], made["upe"]

    def measure(study: Study, scale: str) -> Document:
        """The vectors of the first seed, and numbers of all seeds."""
        found = {
            curve.label: _map(curve.recipe, study.runs(curve.recipe), standing_out) for curve in curves(scale)
        }
        return {
            "settings": {
                "multiplier digits": multiplier,
                "seeds": len(study.seeds),
                **differences(study.recipes, [curve.recipe for curve in curves("paper")]),
            },
            "curves": found,
            "claims": claims_over_seeds(scale, _claims(found, standing_out)),
            "table": _table(found),
        }

    return Figure(
        f"symmetry/{name}",
        title,
        "What training has made of the key vectors of relative positions (rpe), and of uniform and relative ones "
        "(upe), in every layer. Dispersion is the effective share of classes that carry their energy.",
        described(minutes),
        draw=draw,
        caption="Vectors of the first seed, less their start; a row is a class of pairs, seen from the query.",
        plan=lambda scale: Runs(tuple(curve.recipe for curve in curves(scale)), SCALES[scale].seeds, measure),
        notes=lambda document: NOTES,
    )


NOTES = [
    "Dispersion of a layer: exp(entropy of the classes' shares of the squared distance to the mean vector), divided "
    "by the number of classes; the mean vector itself is invisible to softmax.",
    "Vectors are taken less their start, scaled as weight decay has left it: vectors that training never needed keep a "
    "random start, which would count as dispersed. The last column has them as they are.",
    "Distances that training shows with pads only are in the maps too.",
]


def draw(document: Document) -> Drawing:
    """A row of panels for each model, a panel for each layer."""
    maps = {
        label: ClassMap(curve["names"], np.array(curve["layers"]))
        for label, curve in document["curves"].items()
    }
    return class_maps(maps)


def _map(recipe: Recipe, runs: Sequence[Run], standing_out: tuple[str, ...]) -> Document:
    """The classes and the vectors of the first seed, and numbers of all seeds."""
    names: list[str] = []
    maps: list[list[list[float]]] = []
    spread: list[list[float] | None] = []
    whole: list[list[float] | None] = []
    out: list[list[bool] | None] = []
    for run in runs:
        if run.status != "done":
            for rows in (spread, whole, out):
                rows.append(None)
            continue
        encoding = load_model(run, (run.record().get("picked") or {}).get("step")).encoding
        start = build_model(recipe.model, recipe.task, seed=derive(run.seed, "weights")).encoding
        names, vectors = _vectors(encoding)
        layers = [less_start(*pair) for pair in zip(vectors, _vectors(start)[1], strict=True)]
        maps = maps or [[[round(float(v), 4) for v in row] for row in layer] for layer in layers]
        spread.append([dispersion(layer) for layer in layers])
        whole.append([dispersion(layer) for layer in vectors])
        tops = [energies(layer).topk(len(standing_out)).indices.tolist() for layer in layers]
        out.append([sorted(names[i] for i in top) == sorted(standing_out) for top in tops])
    return {"names": names, "layers": maps, "dispersion": spread, "with_start": whole, "stand_out": out}


def _claims(
    curves: dict[str, Any], standing_out: tuple[str, ...]
) -> tuple[tuple[str, list[float], Predicate], ...]:
    rows = " and ".join(standing_out)
    share = [np.nan if s is None else float(np.mean(s)) for s in curves["rpe"]["stand_out"]]
    pairs = zip(curves["upe"]["dispersion"], curves["rpe"]["dispersion"], strict=True)
    ratio = [
        np.nan if upe is None or rpe is None else float(np.mean(upe) / np.mean(rpe)) for upe, rpe in pairs
    ]
    return (
        (f"rpe: in every layer the vectors of {rows} stand out most.", share, AtLeast(1.0)),
        ("upe is less dispersed than rpe (ratio below 0.95).", ratio, AtMost(0.95)),
    )


def _vectors(encoding: object) -> tuple[list[str], Float[Tensor, "layer cls dim"]]:
    """The names of the classes and the vectors of the first head."""
    assert isinstance(encoding, ClassVectorEncoding)
    return encoding.bound[0].names, encoding.tables[0].detach()[:, 0]


def _table(curves: dict[str, Any]) -> dict[str, Any]:
    layers = max(len(curve["layers"]) for curve in curves.values())
    rows = []
    for label, curve in curves.items():
        ended = np.array([row for row in curve["dispersion"] if row is not None])
        cells = [f"{summarise(column).median:.3f}" for column in ended.T.tolist()]
        whole = [float(np.mean(row)) for row in curve["with_start"] if row is not None]
        cells.append(f"{summarise(whole).median:.3f}")
        rows.append([label, str(len(curve["names"])), *cells, f"{len(curve['dispersion'])}"])
    return {
        "headers": ["model", "classes", *(f"layer {n + 1}" for n in range(layers)), "with start", "seeds"],
        "rows": rows,
        "caption": "Dispersion of the class vectors, median over seeds.",
    }


def less_start(
    vectors: Float[Tensor, "cls dim"], start: Float[Tensor, "cls dim"]
) -> Float[Tensor, "cls dim"]:
    """What training has added: v - s v_0 with s = <v, v_0> / <v_0, v_0>, since weight decay scales the start.

    >>> import torch
    >>> start = torch.tensor([[3.0, 0.0], [0.0, 4.0]])
    >>> less_start(0.5 * start, start).tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    return vectors - (vectors * start).sum() / (start * start).sum() * start


def energies(vectors: Float[Tensor, "cls dim"]) -> Float[Tensor, " cls"]:
    """Each class's share of the squared distance to the mean vector, which softmax cannot see.

    >>> import torch
    >>> [round(share, 3) for share in energies(torch.tensor([[1.0], [1.0], [4.0]])).tolist()]
    [0.167, 0.167, 0.667]
    """
    squares = (vectors - vectors.mean(0)).double().square().sum(-1)
    return (squares / squares.sum().clamp_min(1e-300)).to(vectors.dtype)


def dispersion(vectors: Float[Tensor, "cls dim"]) -> float:
    """exp(entropy of the energies) / classes: 1 if all classes weigh alike, near 1 / classes if one stands out.

    >>> import torch
    >>> spike = torch.zeros(100, 4); spike[7] = 1.0
    >>> dispersion(spike) < 0.02 < 0.6 < dispersion(torch.randn(100, 4)) < 1.0
    True
    """
    share = energies(vectors)
    entropy = -(share * share.clamp_min(1e-30).log()).sum()
    return float(entropy.exp()) / len(vectors)


FIGURES = (
    vectors_figure(
        "fig-11", "Learned position vectors, multipliers of one digit", 1, ("1 ahead",), minutes=8
    ),
    vectors_figure(
        "fig-12",
        "Learned position vectors, multipliers of three digits",
        3,
        ("1 ahead", "2 ahead", "3 ahead"),
        minutes=60,
    ),
)
