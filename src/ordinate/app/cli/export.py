"""`ordinate export`: the model of a run as a folder that `transformers` opens."""

import secrets
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from ordinate.app.cli.options import Step, StoreFolder
from ordinate.app.cli.output import Result
from ordinate.errors import OrdinateError


def export(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="Id of a run, the beginning of one, or its folder.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to write, not there yet.")],
    step: Step = None,
    store: StoreFolder = None,
) -> Result:
    """Write config, weights and a card, for `AutoModel.from_pretrained` of transformers."""
    if find_spec("transformers") is None:
        raise OrdinateError("export needs one more package: write pip install 'ordinate[hf]'")
    if out.exists():
        raise OrdinateError(f"{out} is there already: choose another --out")

    from ordinate.lab.export import OrdinateModel
    from ordinate.lab.runs import Store
    from ordinate.lab.zoo.opened import find_run

    found = find_run(Store(store or Path("runs")), run)
    model = OrdinateModel.of(found, step)
    unfinished = out.with_name(f".{out.name}.{secrets.token_hex(4)}.tmp")
    try:
        model.save_pretrained(unfinished)
        unfinished.rename(out)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    files = [str(path) for path in sorted(out.iterdir())]
    document = {"run": found.id, "path": str(out), "parameters": model.num_parameters(), "files": files}
    return Result(document, [*files, f'Try: import ordinate.lab.export; AutoModel.from_pretrained("{out}")'])
