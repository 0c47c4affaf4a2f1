"""`ordinate construct adaptive`: memories that tokens point at, as weights, and what they are worth."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.app.cli.construct import (
    ORDERS,
    BiasName,
    Heads,
    LargestError,
    SlopesKind,
    check_error,
    check_slopes,
    log10,
    read_lags,
)
from ordinate.app.cli.options import Json, TaskOptions
from ordinate.errors import OrdinateError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ordinate.lab.tasks.memories import AdaptiveMemory
    from ordinate.models.memory import MemoryTransformer
    from ordinate.papers.theory.adaptive import Plan
    from ordinate.papers.theory.evaluate import Evaluated
    from ordinate.papers.theory.fetch import Indexed
    from ordinate.papers.theory.fits import Fit


def adaptive(
    target: Annotated[
        str, typer.Option(help="The target to begin with: worked, the paper's example, or prop-4.2.")
    ] = "worked",
    nesting: Annotated[
        int | None, typer.Option(min=0, help="K, memories that are found one by the other.")
    ] = None,
    memories: Annotated[
        int | None, typer.Option(min=1, help="M, all memories; as many as are nested without.")
    ] = None,
    lags: Annotated[
        str | None,
        typer.Option(metavar="T,T,...", help="How far back, for every value of the newest token, -1 first."),
    ] = None,
    options: TaskOptions = None,
    heads: Heads = 8,
    layers: Annotated[
        int | None, typer.Option(min=1, help="Those of Theorem 4.4 without; up to M + 1, a memory each.")
    ] = None,
    bias: BiasName = "lin",
    tmx: Annotated[
        bool, typer.Option("--tmx", help="Scores of the lag minus the token, without dot products.")
    ] = False,
    slopes: SlopesKind = "optimised",
    length: Annotated[
        int, typer.Option(min=2, max=256, help="Tokens of a sequence; up to 16 all inputs are tried.")
    ] = 12,
    error: LargestError = 0.5,
    json: Json = False,
) -> None:
    """Build a Transformer that fetches tokens where other tokens point, and measure it in the sup norm.

    Feed-forward layers write how far back a memory is, rounded; attention without the sum of a softmax fetches it.
    --set changes any other option of the task adaptive-memory.
    """
    from ordinate.app.cli.output import print_json
    from ordinate.app.cli.progress import SearchProgress
    from ordinate.papers.theory.adaptive import build_adaptive, check_errors, plan_layers, told_apart_heads
    from ordinate.papers.theory.biases import find_bias
    from ordinate.papers.theory.evaluate import evaluate_adaptive
    from ordinate.papers.theory.fits import paper_fit
    from ordinate.papers.theory.slopes import optimise_slopes

    check_slopes(slopes)
    check_error(error)
    chosen_bias = find_bias(bias)
    task = chosen_target(target, nesting, memories, lags, options, length)
    plan = told_apart_heads(plan_layers(task, chosen_bias, heads, layers), length)
    sights = tuple(zip(plan.seen(length), plan.heads, strict=True))
    fits = {"paper": _each(sights, lambda seen, count: paper_fit(seen, count, seen.indicator))}
    if slopes == "paper":
        check_errors(plan, fits["paper"], error, slopes)  # refused before the search
    with SearchProgress("slopes") as progress:
        fits["optimised"] = _each(
            sights, lambda seen, count: optimise_slopes(seen, count, seen.indicator, report=progress.report)
        )
    check_errors(plan, fits[slopes], error, slopes)
    model = build_adaptive(plan, fits[slopes], tmx=tmx)
    measured = evaluate_adaptive(model, plan, fits[slopes], length)
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
        "constructions": [_proof(sights), *(_described(name, found) for name, found in fits.items())],
        "bounds": _bounds(plan, heads),
        "model": _sizes(plan, model, measured),
        "weights": _weights(model),
    }
    if json:
        print_json(document)
    else:
        _show(document)


def chosen_target(
    target: str,
    nesting: int | None,
    memories: int | None,
    lags: str | None,
    options: list[str] | None,
    length: int,
) -> "AdaptiveMemory":
    """The task to construct.

    >>> task = chosen_target("worked", 3, None, "4,1", None, 12)
    >>> task.nesting, task.memories, task.within
    (3, 3, (1, 4))
    """
    from ordinate.lab.tasks import make_task
    from ordinate.lab.tasks.memories import PROPOSITION_4_2, WORKED_EXAMPLE, AdaptiveMemory
    from ordinate.lab.training.recipe import apply_change

    targets = {"worked": WORKED_EXAMPLE, "prop-4.2": PROPOSITION_4_2}
    if target not in targets:
        raise OrdinateError(f"there is no target {target!r}: {nearest(target, targets)}")
    start = targets[target]
    table = {**start.model_dump(mode="json"), "length": length}
    name = table.pop("name")
    if nesting is not None or memories is not None:
        count = memories or max(nesting or 0, 1)
        table["memories"] = count
        table["nesting"] = min(start.nesting, count) if nesting is None else nesting
    if lags is not None:
        places = read_lags(lags)
        table["index"] = {"kind": "lookup", "lags": places}
        table["within"] = [min(places), max(places)]
    for option in options or ():
        apply_change(table, option)
    if "name" in table:
        raise OrdinateError("--set name would be another task: adaptive-memory is what is constructed")
    task = make_task(name, **table)
    assert isinstance(task, AdaptiveMemory)
    return task


def _each(sights: "Sequence[tuple[Indexed, int]]", made: Any) -> "tuple[Fit, ...]":
    """A fit for each memory; memories that are seen alike share one."""
    known = {sight: made(*sight) for sight in dict.fromkeys(sights)}
    return tuple(known[sight] for sight in sights)


def _proof(sights: "Sequence[tuple[Indexed, int]]") -> dict[str, Any]:
    """The construction of the proof: each memory has a series of its own."""
    from ordinate.papers.theory.fetch import proof_error

    return {
        "name": "paper",
        "coefficients": "of the proof",
        "errors": [proof_error(seen, count) for seen, count in sights],
    }


def _described(name: str, fits: "Sequence[Fit]") -> dict[str, Any]:
    """Fits of all memories as JSON."""
    return {
        "name": name,
        "coefficients": "best",
        "slopes": [list(found.slopes) for found in fits],
        "errors": [found.error for found in fits],
        "largest_log10": log10(max(found.largest for found in fits)),
        "digits": max(found.digits for found in fits),
        "float64_error": max(found.cost() for found in fits),
        "held": all(found.held_by() for found in fits),
    }


def _bounds(plan: "Plan", heads: int) -> dict[str, float]:
    """The factor beside C(n), for memories that are alone in a layer and those that share the last."""
    from ordinate.papers.theory.rates import nested_rate

    alone = len(plan.groups) - 1
    return {str(n): nested_rate(plan.furthest, alone, heads, n, plan.bias) for n in ORDERS}


def _sizes(plan: "Plan", model: "MemoryTransformer", measured: "Evaluated") -> dict[str, Any]:
    """What the model is, and what was measured of it."""
    from ordinate.models.memory import Ffn
    from ordinate.papers.theory.rates import dot_product_parameters

    looks = plan.layers * plan.total_heads
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "dot_product_parameters": looks * dot_product_parameters(plan.width, tmx=False),
        "tmx_parameters": looks * dot_product_parameters(plan.width, tmx=True),
        "width": plan.width,
        "hidden": [part.up.out_features for part in model.modules() if isinstance(part, Ffn)],
        "memory_errors": list(measured.memories),
        "output_error": measured.output,
        "output_exact": measured.exact,
        "inputs": measured.inputs,
    }


def _weights(model: "MemoryTransformer") -> dict[str, Any]:
    """All parameters that are not zero throughout, by their names."""
    return {name: value.tolist() for name, value in model.state_dict().items() if bool(value.any())}


def _power(row: dict[str, Any]) -> str:
    """The largest coefficient; those of the proof are not listed."""
    if "largest_log10" not in row:
        return ""
    return "0" if row["largest_log10"] is None else f"10^{row['largest_log10']:.1f}"


def _show(document: dict[str, Any]) -> None:
    from ordinate.app.cli.output import print_table, say
    from ordinate.lab.report.numbers import show_number

    def numbers(values: list[float]) -> str:
        return ", ".join(map(show_number, values))

    target, model = document["target"], document["model"]
    rows = []
    for row in document["constructions"]:
        given = [slope for one in row.get("slopes", ()) for slope in one]
        rows.append(
            [
                row["name"],
                row["coefficients"],
                f"{min(given):g} .. {max(given):g}" if given else "",
                numbers(row["errors"]),
                _power(row),
                show_number(row.get("digits")),
                show_number(row.get("float64_error")),
            ]
        )
    say(
        f"{target['memories']} memories, {target['nesting']} nested: {document['layers']} layers of "
        f"{document['heads']} {document['bias']} heads; an error of 1 is that of no model"
    )
    print_table(
        ["slopes", "coefficients", "range", "error at each memory", "largest", "digits", "in float64"], rows
    )
    for number, memory in enumerate(document["memories"], 1):
        places = ", ".join(map(str, memory["lags"]))
        say(f"memory {number}: lags {places}, {memory['heads']} heads of layer {memory['layer']}")
    bounds = ", ".join(f"C({n}) {show_number(bound)}" for n, bound in document["bounds"].items())
    say(f"Theorem 4.4: error at most {bounds}; the C are not known")
    say(
        f"model with {document['slopes']} slopes, {model['parameters']} parameters, {document['length']} tokens; "
        f"scores by {'TMX' if document['tmx'] else 'dot products'}, which take "
        f"{model['dot_product_parameters']} parameters as dot products and {model['tmx_parameters']} as TMX:"
    )
    say(f"  largest error at each memory, measured in float64: {numbers(model['memory_errors'])}")
    how = f"over {model['inputs']} inputs" if model["output_exact"] else "a bound but for rounding"
    say(f"  largest error of the output: {show_number(model['output_error'])}, {how}")
