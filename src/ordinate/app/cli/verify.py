"""`ordinate verify`: a card for any model file; for programs and compiled models the proof that they are right."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.app.cli.options import Seed
from ordinate.app.cli.output import Result, Table
from ordinate.app.cli.programs import LISTED, Format, Processors, Reals, number_format, program_of
from ordinate.errors import OrdinateError, nearest
from ordinate.lab.report.numbers import show_number

if TYPE_CHECKING:
    from ordinate.lab.programs.verify import Verification


def verify(
    what: Annotated[
        str,
        typer.Argument(
            metavar="FILE|PROGRAM",
            help="A model file, the folder of a run or of a compiled program, a model of the package; the certificate "
            "of a proof; or a program.",
        ),
    ],
    n: Processors = LISTED,
    count: Annotated[
        int | None, typer.Option(min=1, help="Random inputs; default 10000 up to n = 256, 200 beyond.")
    ] = None,
    dtype: Format = "float32",
    reals: Reals = False,
    seed: Seed = 0,
) -> Result:
    """Hash, check and score a model file; or compare reference, machine and weights of a program.

    A file is scored on the fixed samples of its task's suite. One that is too large, changed, of another kind or a
    pickle is refused. A certificate of ordinate prove is checked anew against the weights that it names. Options
    other than --json are of programs.
    """
    import torch

    from ordinate.lab.proofs import check_certificate, is_certificate
    from ordinate.lab.zoo.verify import verify_file

    torch.set_num_threads(1)
    path = _path(what)
    if path is None:
        return _program(what, n, count, dtype, reals, seed)
    if (n, count, dtype, reals, seed) != (LISTED, None, "float32", False, 0):
        raise OrdinateError(
            f"{what} is a file, which is scored on a fixed suite: leave out all options but --json"
        )
    if is_certificate(path):
        checked = check_certificate(path)
        return Result(checked, _checked(checked), failed=not checked["holds"])
    found = verify_file(path)
    return Result({**found.document, "holds": found.holds}, _card(found.document), failed=not found.holds)


def _path(what: str) -> Path | None:
    """The file or folder that is meant, a model of the package included; none where a program is."""
    from ordinate.lab.programs.collection import PROGRAMS
    from ordinate.lab.zoo.cards import FOLDER, names

    if what in names():
        return FOLDER / what
    if what in PROGRAMS:
        return None
    path = Path(what)
    if path.exists() or path.suffix or len(path.parts) > 1:
        return path
    raise OrdinateError(f"there is no file and no program {what!r}: {nearest(what, [*names(), *PROGRAMS])}")


def _card(card: dict[str, Any]) -> Iterator[Table | str]:
    trained = card["kind"] == "trained"
    made = [("program", card["program"]), ("processors", card["n"])] if not trained else []
    if trained:
        made = [(fact, card[fact]) for fact in ("recipe", "model", "seed", "step")]
    facts = [("file", card["file"]), ("SHA-256", card["sha256"]), ("bytes", card["bytes"]), *made]
    yield Table(["model", ""], [*facts, ("task", card["task"]), ("parameters", card["parameters"])])
    suite = card["suite"]
    rows = [
        [
            f"{point['axis']}={point['value']:g}",
            "in" if point.get("in_distribution") else "out",
            *(
                ["refused", "", point["refused"]]
                if "refused" in point
                else [f"{point['accuracy']:.1%}", show_number(point["mse"]) if "mse" in point else "", ""]
            ),
        ]
        for point in suite["points"]
    ]
    title = (
        f"{suite['count']} samples a point, seed {suite['seed']}; {'one seed, ' if trained else ''}no verdict"
    )
    yield Table(["point", "distribution", "accuracy", "mean squared error", "why"], rows, title)
    yield from _remarks(card)


def _checked(proof: dict[str, Any]) -> Iterator[Table | str]:
    facts = ("weights", "sha256", "task", "states", "levels", "distance", "error")
    yield Table(["proof", ""], [(name, proof[name]) for name in facts if name in proof])
    yield f"holds: {proof['claim']}" if proof["holds"] else f"does NOT hold: {proof['broken']}"


def _remarks(card: dict[str, Any]) -> list[str]:
    """What the hash was compared with, and what was proved."""
    named = f"the card of {card['card']} has this hash" if card["card"] else "no card beside the file"
    sealed = "as it was written, by its seal" if card["sealed"] else "the file carries no seal"
    said = [f"{named}; {sealed}"]
    if card["apart"]:
        said.append(f"scores are not those of the card at {', '.join(card['apart'])}")
    if card["kind"] == "compiled":
        bound = f"proven error bound {card['error_bound']:.3g}, largest difference {card['worst']:.3g}"
        agree = {True: "weights are those of the compiler", None: "queries and keys are written out"}
        said.append(
            f"{bound}; {agree.get(card['weights_as_compiled'], 'weights are NOT those of the compiler')}"
        )
    return said


def _program(name: str, n: int, count: int | None, dtype: str, reals: bool, seed: int) -> Result:
    from ordinate.lab.programs.verify import verify as compare

    found = compare(program_of(name, reals), n, count=count, dtype=number_format(dtype), seed=seed)
    document = {**found.to_dict(), "dtype": dtype, "seed": seed}
    return Result(document, _compared(found, dtype), failed=not found.holds)


def _compared(found: "Verification", dtype: str) -> Iterator[Table | str]:
    program, n = found.compiled.program, found.compiled.n
    rows = [
        [d.kind, d.inputs, f"{d.machine:.3g}", f"{d.weights:.3g}", _or_none(d.dense)]
        for d in found.differences
    ]
    headers = ["inputs", "count", "machine - reference", "weights - machine", "queries and keys - machine"]
    yield Table(headers, rows, f"{program.name} on {n} processors in {dtype}: largest differences")
    yield f"proven error bound: {found.bound:.3g}"
    for word, known in enumerate(program.ranges(n)):
        yield f"input word {word}: {known}; anything else is refused"
    shortest, longest = found.lengths
    yield f"lengths: {longest}" if shortest == longest else f"lengths: {shortest} to {longest}"
    yield "all agree" if found.holds else "they do not agree within the bound"


def _or_none(difference: float | None) -> str:
    return "too large to write" if difference is None else f"{difference:.3g}"
