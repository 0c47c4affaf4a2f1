"""`ordinate runs --pack` and `--unpack`: runs that go to another machine, and come back."""

from pathlib import Path
from typing import Any

from ordinate.errors import OrdinateError


def pack_runs(store: Any, records: list[Any], file: Path, whole: bool, json: bool) -> None:
    """Write the runs of these records to a file."""
    from ordinate.app.cli.output import print_json, say
    from ordinate.lab.runs.archive import pack

    if not records:
        raise OrdinateError(f"no runs to pack in {store.root}: ordinate runs lists what there is")
    packed = pack(store, file, [record.id for record in records], whole=whole)
    size = file.stat().st_size
    if json:
        print_json({"file": str(file), "bytes": size, "whole": whole, "packed": packed})
        return
    left = len(records) - len(packed)
    left_out = f", {left} left out that have not ended or cannot be read" if left else ""
    say(f"{file}: {len(packed)} runs, {size / 1000:.0f} kB{left_out}")


def unpack_runs(store: Any, file: Path, json: bool) -> None:
    """Bring the runs of a file into the store."""
    from ordinate.app.cli.output import print_json, say
    from ordinate.lab.runs.archive import unpack

    added, kept = unpack(file, store)
    if json:
        print_json({"store": str(store.root), "added": added, "kept": kept})
        return
    say(f"{store.root}: {len(added)} runs from {file}, {len(kept)} stayed as they were")
