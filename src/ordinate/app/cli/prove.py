"""`ordinate prove`: whether a run is right at every length, or the shortest word that it gets wrong."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ordinate.app.cli.options import ModelName, StoreFolder
from ordinate.app.cli.output import Result, Table

if TYPE_CHECKING:
    from ordinate.lab.proofs import Proof

MOST_SYMBOLS = 40
"""Of a counterexample that are shown to a person."""


def prove(
    run: ModelName,
    step: Annotated[int | None, typer.Option(help="Step of the checkpoint; default the last.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Certificate; default proof.json in the folder of the run."),
    ] = None,
    store: StoreFolder = None,
) -> Result:
    """Compare a model of kind "scan" with the exact machine of its task, at every length.

    It is proven, and a certificate written that ordinate verify checks; or the shortest word is shown that it gets
    wrong; or it is said why neither could be decided. Exit code 1 unless proven.
    """
    import torch

    from ordinate.lab.proofs import prove as prove_run
    from ordinate.lab.runs import Store

    torch.set_num_threads(1)
    proof = prove_run(run, Store(store or Path("runs")), step, out)
    return Result(proof.to_dict(), _shown(proof), failed=proof.verdict != "proven")


def _shown(proof: "Proof") -> Iterator[Table | str]:
    facts = [
        ("states", proof.states),
        ("loops until the sets repeat", proof.levels),
        ("pairs of windows, of prefixes", "{}, {}".format(*proof.pairs)),
        ("smallest distance to a border", f"{proof.distance:.3g}"),
        ("largest bound of an error in float32", f"{proof.error:.3g}"),
    ]
    yield Table([proof.verdict, proof.reason], facts)
    if proof.word:
        more = f" ... ({len(proof.word)} tokens)" if len(proof.word) > MOST_SYMBOLS else ""
        yield f"word: {' '.join(proof.word[:MOST_SYMBOLS])}{more}"
        yield f"the answer to its last token is {proof.expected}, the model's {proof.answered}"
    document = proof.to_dict()
    yield from (f"assumed: {assumption}" for assumption in document["assumed"])
    if document["certificate"]:
        yield f"certificate: {document['certificate']}; check it with ordinate verify {document['certificate']}"
