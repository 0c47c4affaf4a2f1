"""Memories as the weights of a Transformer: what `ordinate construct` builds, and what it is worth, as a document.

>>> built = construct_fixed([2, 5], heads=8)
>>> built.document["kind"], built.document["model"]["parameters"] == sum(p.numel() for p in built.model.parameters())
('fixed', True)
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.architectures.memory import Ffn, MemoryTransformer
from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.memories import PROPOSITION_4_2, WORKED_EXAMPLE, AdaptiveMemory
from ordinate.lab.training.recipe import apply_change
from ordinate.papers.theory.adaptive import Plan, build_adaptive, check_errors, plan_layers, told_apart_heads
from ordinate.papers.theory.biases import find_bias
from ordinate.papers.theory.construct import build_model, find_readout, weights_of
from ordinate.papers.theory.evaluate import Evaluated, evaluate_adaptive, evaluate_model
from ordinate.papers.theory.fetch import Indexed, needs, proof_error
from ordinate.papers.theory.fits import FLOAT64, Fit, paper_fit
from ordinate.papers.theory.rates import dot_product_parameters, fixed_rate, head_split, nested_rate
from ordinate.papers.theory.slopes import check_heads, lag_kernels, optimise_slopes
from ordinate.papers.theory.sums import indicator, measure

SLOPES = ("optimised", "paper")
ORDERS = (1, 2, 3)
"""Orders n at which the bound of a theorem is shown."""
TARGETS = {"worked": WORKED_EXAMPLE, "prop-4.2": PROPOSITION_4_2}

Report = Callable[[int, int], None]
"""Called with the number of slopes tried, and of all."""
Sight = tuple[Indexed, int]
"""A memory as its heads see it, and how many heads there are."""


@dataclass(frozen=True)
class Constructed:
    """A model whose weights were written down, and all that is known of it; the keys of the document are stable."""

    model: nn.Module
    document: dict[str, Any]


def construct_fixed(
    lags: Sequence[int],
    *,
    heads: int = 8,
    bias: str = "lin",
    slopes: str = "optimised",
    readout: str = "sum",
    length: int = 64,
    normalised: bool = True,
    error: float = 0.5,
    report: Report = lambda done, total: None,
) -> Constructed:
    """One layer whose heads fetch tokens at fixed lags; an error above `error` at a memory is refused."""
    _check(slopes, error)
    places, chosen_bias, chosen_readout = list(lags), find_bias(bias), find_readout(readout)
    chosen_bias.check_lags(places, length)
    check_heads(chosen_bias, heads, length)
    split = head_split(heads, places, chosen_bias)
    kernels = lag_kernels(places, length)
    fits = {"paper": paper_fit(chosen_bias, heads, kernels)}
    if slopes == "paper":
        weights_of(fits["paper"], chosen_readout, normalised=normalised)  # refused before the search
    fits["optimised"] = optimise_slopes(chosen_bias, heads, kernels, report=report)
    fit = fits[slopes]
    weights = weights_of(fit, chosen_readout, normalised=normalised)
    if fit.cost(FLOAT64) > error:
        worst = max(zip(fit.errors, places, strict=True))[1]
        enough = needs(chosen_bias, worst, min(error, 0.9))
        raise OrdinateError(
            f"{heads} {bias} heads with {slopes} slopes fetch lag {worst} to within "
            f"{fit.cost(FLOAT64):.3g} in float64, not {error:g}: {enough.heads} heads and {enough.digits:.2f} "
            f"digits are enough, float64 has {FLOAT64:.2f}"
        )
    model = build_model(chosen_bias, weights, normalised=normalised)
    rows = [
        measure(indicator(lag, chosen_bias), [terms])[0] for lag, terms in zip(places, split, strict=True)
    ]
    proof = {
        **_proof([row.error for row in rows]),
        "heads": list(split),
        "largest_log10": max(row.largest for row in rows),
    }
    document = {
        "kind": "fixed",
        "lags": places,
        "heads": heads,
        "bias": bias,
        "length": length,
        "normalised": normalised,
        "readout": readout,
        "slopes": slopes,
        "constructions": [proof, *(_of_one(name, found) for name, found in fits.items())],
        "bounds": {str(n): fixed_rate(places, heads, n, chosen_bias) for n in ORDERS},
        "model": _measured(model, evaluate_model(model, places, chosen_readout, length)),
        "weights": {name: value.tolist() for name, value in weights._asdict().items()},
    }
    return Constructed(model, document)


def construct_adaptive(
    task: AdaptiveMemory,
    *,
    heads: int = 8,
    layers: int | None = None,
    bias: str = "lin",
    tmx: bool = False,
    slopes: str = "optimised",
    length: int = 12,
    error: float = 0.5,
    report: Report = lambda done, total: None,
) -> Constructed:
    """Feed-forward layers that write how far back a memory is, and attention without a softmax's sum that fetches it.

    Layers are those of Theorem 4.4 unless given.

    >>> built = construct_adaptive(adaptive_target(nesting=1), heads=6, length=8)
    >>> built.document["layers"], built.document["memories"][0]["layer"]
    (2, 2)
    """
    _check(slopes, error)
    plan = told_apart_heads(plan_layers(task, find_bias(bias), heads, layers), length)
    sights = tuple(zip(plan.seen(length), plan.heads, strict=True))
    fits = {"paper": _each(sights, lambda seen, count: paper_fit(seen, count, seen.indicator))}
    if slopes == "paper":
        check_errors(plan, fits["paper"], error, slopes)  # refused before the search
    fits["optimised"] = _each(
        sights, lambda seen, count: optimise_slopes(seen, count, seen.indicator, report=report)
    )
    check_errors(plan, fits[slopes], error, slopes)
    model = build_adaptive(plan, fits[slopes], tmx=tmx)
    measured = evaluate_adaptive(model, plan, fits[slopes], length)
    proof = _proof([proof_error(seen, count) for seen, count in sights])
    alone = len(plan.groups) - 1
    document = {
        "kind": "adaptive",
        "target": task.model_dump(mode="json"),
        "heads": heads,
        "bias": bias,
        "tmx": tmx,
        "length": length,
        "layers": plan.layers,
        "slopes": slopes,
        "memories": [
            {"layer": layer, "heads": plan.heads[number - 1], "lags": list(plan.lags[number - 1])}
            for layer, group in enumerate(plan.groups, 2)
            for number in group
        ],
        "tolerances": [value if value < float("inf") else None for value in plan.tolerances()],
        "constructions": [proof, *(_of_many(name, found) for name, found in fits.items())],
        "bounds": {str(n): nested_rate(plan.furthest, alone, heads, n, plan.bias) for n in ORDERS},
        "model": {**_measured(model, measured), **_sizes(plan, model)},
        "weights": {name: value.tolist() for name, value in model.state_dict().items() if bool(value.any())},
    }
    return Constructed(model, document)


def adaptive_target(
    target: str = "worked",
    *,
    nesting: int | None = None,
    memories: int | None = None,
    lags: Sequence[int] | None = None,
    length: int = 12,
    changes: Iterable[str] = (),
) -> AdaptiveMemory:
    """A target of the paper with K = `nesting` and M = `memories`, other lags, and changes as a recipe takes them.

    >>> task = adaptive_target(nesting=3, lags=[4, 1])
    >>> task.nesting, task.memories, task.within
    (3, 3, (1, 4))
    """
    if target not in TARGETS:
        raise OrdinateError(f"there is no target {target!r}: {nearest(target, TARGETS)}")
    start = TARGETS[target]
    table = {**start.model_dump(mode="json"), "length": length}
    name = table.pop("name")
    if nesting is not None or memories is not None:
        count = memories or max(nesting or 0, 1)
        table["memories"] = count
        table["nesting"] = min(start.nesting, count) if nesting is None else nesting
    if lags is not None:
        table["index"] = {"kind": "lookup", "lags": list(lags)}
        table["within"] = [min(lags), max(lags)]
    for change in changes:
        apply_change(table, change)
    if "name" in table:
        raise OrdinateError("--set name would be another task: adaptive-memory is what is constructed")
    task = make_task(name, **table)
    assert isinstance(task, AdaptiveMemory)
    return task


def _check(slopes: str, error: float) -> None:
    if slopes not in SLOPES:
        raise OrdinateError(f"there is no kind of slopes {slopes!r}: {nearest(slopes, SLOPES)}")
    if not 0 < error <= 1:
        raise OrdinateError(f"--error {error:g} is out of range: take more than 0 and at most 1")


def _each(sights: Sequence[Sight], made: Callable[[Indexed, int], Fit]) -> tuple[Fit, ...]:
    """A fit for each memory; memories that are seen alike share one."""
    known = {sight: made(*sight) for sight in dict.fromkeys(sights)}
    return tuple(known[sight] for sight in sights)


def _proof(errors: list[float]) -> dict[str, Any]:
    """The construction of the proof: the heads are split, and each memory has a series of its own."""
    return {"name": "paper", "coefficients": "of the proof", "errors": errors}


def _of_one(name: str, fit: Fit) -> dict[str, Any]:
    """A fit that serves all memories."""
    return {
        **_of_many(name, [fit]),
        "slopes": list(fit.slopes),
        "errors": list(fit.errors),
        "beyond": list(fit.endless()),
    }


def _of_many(name: str, fits: Sequence[Fit]) -> dict[str, Any]:
    """A fit for each memory."""
    largest = max(fit.largest for fit in fits)
    return {
        "name": name,
        "coefficients": "best",
        "slopes": [list(fit.slopes) for fit in fits],
        "errors": [fit.error for fit in fits],
        "largest_log10": math.log10(largest) if largest > 0 else None,
        "digits": max(fit.digits for fit in fits),
        "float64_error": max(fit.cost() for fit in fits),
        "held": all(fit.held_by() for fit in fits),
    }


def _measured(model: nn.Module, measured: Evaluated) -> dict[str, Any]:
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "memory_errors": list(measured.memories),
        "output_error": measured.output,
        "output_exact": measured.exact,
        "inputs": measured.inputs,
    }


def _sizes(plan: Plan, model: MemoryTransformer) -> dict[str, Any]:
    looks = plan.layers * plan.total_heads
    return {
        "dot_product_parameters": looks * dot_product_parameters(plan.width, tmx=False),
        "tmx_parameters": looks * dot_product_parameters(plan.width, tmx=True),
        "width": plan.width,
        "hidden": [part.up.out_features for part in model.modules() if isinstance(part, Ffn)],
    }
