"""`ordinate construct`: memories as weights, and what they are worth."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from ordinate.app.cli.options import TaskOptions
from ordinate.app.cli.output import Result, Table
from ordinate.errors import OrdinateError
from ordinate.lab.report.numbers import show_number

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
) -> Result:
    """Build a one-layer Transformer whose heads fetch tokens at fixed lags, and measure it in the sup norm."""
    from ordinate.app.cli.progress import SearchProgress
    from ordinate.papers.construct import construct_fixed

    with SearchProgress("slopes") as progress:
        built = construct_fixed(
            read_lags(lags),
            heads=heads,
            bias=bias,
            slopes=slopes,
            readout=readout,
            length=length,
            normalised=not free,
            error=error,
            report=progress.report,
        )
    return Result(built.document, _fixed(built.document))


def adaptive(
    target: Annotated[
        str, typer.Option(help="The target to begin with: worked, the paper's example, or prop-4.2.")
    ] = "worked",
    nesting: Annotated[
        int | None, typer.Option(min=0, help="K, memories that are found one by the other.")
    ] = None,
    memories: Annotated[
        int | None, typer.Option(min=1, help="M, the number of all memories; default the nested ones only.")
    ] = None,
    lags: Annotated[
        str | None,
        typer.Option(metavar="T,T,...", help="How far back, for every value of the newest token, -1 first."),
    ] = None,
    options: TaskOptions = None,
    heads: Heads = 8,
    layers: Annotated[
        int | None,
        typer.Option(
            min=1, help="Layers; default those of Theorem 4.4. Up to M + 1, so that each memory has its own."
        ),
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
) -> Result:
    """Build a Transformer that fetches tokens where other tokens point, and measure it in the sup norm.

    Feed-forward layers write how far back a memory is, rounded; attention without the sum of a softmax fetches it.
    --set changes any other option of the task adaptive-memory.
    """
    from ordinate.app.cli.progress import SearchProgress
    from ordinate.papers.construct import adaptive_target, construct_adaptive

    task = adaptive_target(
        target,
        nesting=nesting,
        memories=memories,
        lags=None if lags is None else read_lags(lags),
        length=length,
        changes=options or (),
    )
    with SearchProgress("slopes") as progress:
        built = construct_adaptive(
            task,
            heads=heads,
            layers=layers,
            bias=bias,
            tmx=tmx,
            slopes=slopes,
            length=length,
            error=error,
            report=progress.report,
        )
    return Result(built.document, _adaptive(built.document))


def read_lags(text: str) -> list[int]:
    """Read lags as written on the command line.

    >>> read_lags("2,5")
    [2, 5]
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise OrdinateError(f"--lags {text!r} are not whole numbers: write --lags 2,5") from None


def _fixed(document: dict[str, Any]) -> Iterator[Table | str]:
    from ordinate.papers.theory.evaluate import LISTED

    lags, model = ", ".join(map(str, document["lags"])), document["model"]
    title = f"{document['heads']} {document['bias']} heads; an error of 1 is that of no model"
    yield _constructions(document, f"error at lags {lags}", title)
    yield f"Theorem 3.1: {_bounds(document)}"
    tokens = f"{model['parameters']} parameters, {document['length']} tokens"
    yield f"model with {document['slopes']} slopes, {tokens}:"
    yield _memory_errors(model)
    how = f"over all {model['inputs']} inputs of +-1"
    if document["length"] > LISTED:
        how = "on the input that is worst but for rounding"
    words = how if model["output_exact"] else "a bound but for rounding"
    yield f"  largest error of the {document['readout']}: {show_number(model['output_error'])}, {words}"


def _adaptive(document: dict[str, Any]) -> Iterator[Table | str]:
    target, model = document["target"], document["model"]
    yield (
        f"{target['memories']} memories, {target['nesting']} nested: {document['layers']} layers of "
        f"{document['heads']} {document['bias']} heads; an error of 1 is that of no model"
    )
    yield _constructions(document, "error at each memory")
    for number, memory in enumerate(document["memories"], 1):
        places = ", ".join(map(str, memory["lags"]))
        yield f"memory {number}: lags {places}, {memory['heads']} heads of layer {memory['layer']}"
    yield f"Theorem 4.4: {_bounds(document)}"
    yield (
        f"model with {document['slopes']} slopes, {model['parameters']} parameters, {document['length']} tokens; "
        f"scores by {'TMX' if document['tmx'] else 'dot products'}, which take "
        f"{model['dot_product_parameters']} parameters as dot products and {model['tmx_parameters']} as TMX:"
    )
    yield _memory_errors(model)
    how = f"over {model['inputs']} inputs" if model["output_exact"] else "a bound but for rounding"
    yield f"  largest error of the output: {show_number(model['output_error'])}, {how}"


def _constructions(document: dict[str, Any], errors: str, title: str = "") -> Table:
    headers = ["slopes", "coefficients", "range", errors, "largest", "digits", "in float64"]
    rows = [
        [
            row["name"],
            row["coefficients"],
            _range(row),
            ", ".join(map(show_number, row["errors"])),
            _power(row),
            show_number(row.get("digits")),
            show_number(row.get("float64_error")),
        ]
        for row in document["constructions"]
    ]
    return Table(headers, rows, title)


def _range(row: dict[str, Any]) -> str:
    """From the first slope to the last, of one fit for all memories or of one for each; or how heads are split."""
    slopes = row.get("slopes")
    if not slopes:
        return f"heads {', '.join(map(str, row['heads']))}" if "heads" in row else ""
    if isinstance(slopes[0], list):
        every = [slope for one in slopes for slope in one]
        return f"{min(every):g} .. {max(every):g}"
    return f"{slopes[0]:g} .. {slopes[-1]:g}"


def _power(row: dict[str, Any]) -> str:
    """The largest coefficient, where it is known."""
    if "largest_log10" not in row:
        return ""
    return "0" if row["largest_log10"] is None else f"10^{row['largest_log10']:.1f}"


def _bounds(document: dict[str, Any]) -> str:
    bounds = ", ".join(f"C({n}) {show_number(bound)}" for n, bound in document["bounds"].items())
    return f"error at most {bounds}; the C are not known"


def _memory_errors(model: dict[str, Any]) -> str:
    errors = ", ".join(map(show_number, model["memory_errors"]))
    return f"  largest error at each memory, measured in float64: {errors}"
