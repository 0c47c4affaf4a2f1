"""`ordinate construct fixed`: memories at fixed lags as weights, and what they are worth."""

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.app.cli.options import Json
from ordinate.errors import OrdinateError, nearest

if TYPE_CHECKING:
    from ordinate.papers.theory.biases import Bias
    from ordinate.papers.theory.fits import Fit

SLOPES = ("optimised", "paper")
ORDERS = (1, 2, 3)
"""Orders n at which the bound of a theorem is shown."""

Heads = Annotated[int, typer.Option(min=1, help="Attention heads.")]
BiasName = Annotated[str, typer.Option("--bias", help="How heads fall with the lag: lin or log.")]
SlopesKind = Annotated[
    str, typer.Option("--slopes", help="Slopes of the model: optimised, or paper. Both are shown.")
]
LargestError = Annotated[
    float, typer.Option("--error", help="Refuse a model with a larger error at a memory; no model has 1.")
]


def fixed(
    lags: Annotated[str, typer.Option(metavar="T,T,...", help="How far back each memory is.")],
    heads: Heads = 8,
    bias: BiasName = "lin",
    slopes: SlopesKind = "optimised",
    readout: Annotated[str, typer.Option(help="What is read out of the memories: sum or product.")] = "sum",
    length: Annotated[
        int, typer.Option(min=1, max=1024, help="Tokens of a sequence; up to 16 all inputs are tried.")
    ] = 64,
    free: Annotated[
        bool, typer.Option("--free", help="Leave the sum of the softmax out, so that every token is right.")
    ] = False,
    error: LargestError = 0.5,
    json: Json = False,
) -> None:
    """Build a one-layer Transformer whose heads fetch tokens at fixed lags, and measure it in the sup norm."""
    from ordinate.app.cli.output import print_json
    from ordinate.app.cli.progress import SearchProgress
    from ordinate.papers.theory.biases import find_bias
    from ordinate.papers.theory.construct import build_model, find_readout, weights_of
    from ordinate.papers.theory.evaluate import evaluate_model
    from ordinate.papers.theory.fetch import needs
    from ordinate.papers.theory.fits import FLOAT64, paper_fit
    from ordinate.papers.theory.rates import fixed_rate, head_split
    from ordinate.papers.theory.slopes import check_heads, lag_kernels, optimise_slopes

    check_slopes(slopes)
    chosen_bias, chosen_readout = find_bias(bias), find_readout(readout)
    places = read_lags(lags)
    chosen_bias.check_lags(places, length)
    check_error(error)
    check_heads(chosen_bias, heads, length)
    split = head_split(heads, places, chosen_bias)
    kernels = lag_kernels(places, length)
    fits = {"paper": paper_fit(chosen_bias, heads, kernels)}
    if slopes == "paper":
        weights_of(fits["paper"], chosen_readout, normalised=not free)  # refused before the search
    with SearchProgress("slopes") as progress:
        fits["optimised"] = optimise_slopes(chosen_bias, heads, kernels, report=progress.report)
    fit = fits[slopes]
    weights = weights_of(fit, chosen_readout, normalised=not free)
    if fit.cost(FLOAT64) > error:
        worst = max(zip(fit.errors, places, strict=True))[1]
        enough = needs(chosen_bias, worst, min(error, 0.9))
        raise OrdinateError(
            f"{heads} {bias} heads with {slopes} slopes fetch lag {worst} to within "
            f"{fit.cost(FLOAT64):.3g} in float64, not {error:g}: {enough.heads} heads and {enough.digits:.2f} "
            f"digits are enough, float64 has {FLOAT64:.2f}"
        )
    model = build_model(chosen_bias, weights, normalised=not free)
    measured = evaluate_model(model, places, chosen_readout, length)
    document = {
        "kind": "fixed",
        "lags": places,
        "heads": heads,
        "bias": bias,
        "length": length,
        "normalised": not free,
        "readout": readout,
        "slopes": slopes,
        "constructions": [
            _proof(chosen_bias, places, split),
            *(described(name, found) for name, found in fits.items()),
        ],
        "bounds": {str(n): fixed_rate(places, heads, n, chosen_bias) for n in ORDERS},
        "model": {
            "parameters": sum(p.numel() for p in model.parameters()),
            "memory_errors": list(measured.memories),
            "output_error": measured.output,
            "output_exact": measured.exact,
            "inputs": measured.inputs,
        },
        "weights": {name: value.tolist() for name, value in weights._asdict().items()},
    }
    if json:
        print_json(document)
    else:
        _show(document)


def read_lags(text: str) -> list[int]:
    """Read lags as written on the command line.

    >>> read_lags("2,5")
    [2, 5]
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise OrdinateError(f"--lags {text!r} are not whole numbers: write --lags 2,5") from None


def described(name: str, found: "Fit") -> dict[str, Any]:
    """A fit as JSON."""
    return {
        "name": name,
        "coefficients": "best",
        "slopes": list(found.slopes),
        "errors": list(found.errors),
        "beyond": list(found.endless()),
        "largest_log10": log10(found.largest),
        "digits": found.digits,
        "float64_error": found.cost(),
        "held": found.held_by(),
    }


def _proof(bias: "Bias", lags: list[int], split: tuple[int, ...]) -> dict[str, Any]:
    """The construction of the proof: the heads are split, and each memory has a series of its own."""
    from ordinate.papers.theory.sums import indicator, measure

    rows = [measure(indicator(lag, bias), [terms])[0] for lag, terms in zip(lags, split, strict=True)]
    return {
        "name": "paper",
        "coefficients": "of the proof",
        "heads": list(split),
        "errors": [row.error for row in rows],
        "largest_log10": max(row.largest for row in rows),
    }


def _show(document: dict[str, Any]) -> None:
    from ordinate.app.cli.output import print_table, say
    from ordinate.lab.report.numbers import show_number
    from ordinate.papers.theory.evaluate import LISTED

    def numbers(values: list[float]) -> str:
        return ", ".join(map(show_number, values))

    rows = []
    for row in document["constructions"]:
        given = row.get("slopes")
        rows.append(
            [
                row["name"],
                row["coefficients"],
                f"{given[0]:g} .. {given[-1]:g}" if given else f"heads {', '.join(map(str, row['heads']))}",
                numbers(row["errors"]),
                "0" if row["largest_log10"] is None else f"10^{row['largest_log10']:.1f}",
                show_number(row.get("digits")),
                show_number(row.get("float64_error")),
            ]
        )
    lags = ", ".join(map(str, document["lags"]))
    print_table(
        ["slopes", "coefficients", "range", f"error at lags {lags}", "largest", "digits", "in float64"],
        rows,
        title=f"{document['heads']} {document['bias']} heads; an error of 1 is that of no model",
    )
    bounds = ", ".join(f"C({n}) {show_number(bound)}" for n, bound in document["bounds"].items())
    say(f"Theorem 3.1: error at most {bounds}; the C are not known")
    model = document["model"]
    say(
        f"model with {document['slopes']} slopes, {model['parameters']} parameters, {document['length']} tokens:"
    )
    say(f"  largest error at each memory, measured in float64: {numbers(model['memory_errors'])}")
    listed = document["length"] <= LISTED
    how = (
        f"over all {model['inputs']} inputs of +-1"
        if listed
        else "on the input that is worst but for rounding"
    )
    words = how if model["output_exact"] else "a bound but for rounding"
    say(f"  largest error of the {document['readout']}: {show_number(model['output_error'])}, {words}")


def check_slopes(slopes: str) -> None:
    """Refuse a kind of slopes that there is not."""
    if slopes not in SLOPES:
        raise OrdinateError(f"there is no kind of slopes {slopes!r}: {nearest(slopes, SLOPES)}")


def check_error(error: float) -> None:
    """Refuse an error that no model is better than."""
    if not 0 < error <= 1:
        raise OrdinateError(f"--error {error:g} is out of range: take more than 0 and at most 1")


def log10(value: float) -> float | None:
    """The logarithm of a number, None of 0."""
    return math.log10(value) if value > 0 else None
