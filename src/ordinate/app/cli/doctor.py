"""`ordinate doctor`: whether this machine is ready, and what to do where it is not."""

from dataclasses import asdict
from pathlib import Path

import typer

from ordinate.app.cli.failures import FAILED
from ordinate.app.cli.options import Json, StoreFolder


def doctor(store: StoreFolder = None, json: Json = False) -> None:
    """Check the environment; each line is ok, warn or fail, with what to do."""
    from ordinate.app.cli.health import checks
    from ordinate.app.cli.output import print_json, print_table, say

    found = checks(store or Path("runs"))
    failed = [check for check in found if check.status == "fail"]
    if json:
        print_json({"ok": not failed, "checks": [asdict(check) for check in found]})
    else:
        rows = [[check.status, check.name, check.found, check.advice] for check in found]
        print_table(["", "check", "found", "what to do"], rows)
        warnings = sum(check.status == "warn" for check in found)
        say(f"{len(found) - len(failed) - warnings} ok, {warnings} warn, {len(failed)} fail")
    if failed:
        raise typer.Exit(FAILED)
