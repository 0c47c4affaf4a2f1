"""`ordinate doctor`: whether this machine is ready, and what to do where it is not."""

from dataclasses import asdict
from pathlib import Path

from ordinate.app.cli.options import StoreFolder
from ordinate.app.cli.output import Result, Table


def doctor(store: StoreFolder = None) -> Result:
    """Check the environment; each line is ok, warn or fail, with what to do."""
    from ordinate.lab.runs.health import checks

    found = checks(store or Path("runs"))
    failed = [check for check in found if check.status == "fail"]
    rows = [[check.status, check.name, check.found, check.advice] for check in found]
    warnings = sum(check.status == "warn" for check in found)
    return Result(
        {"ok": not failed, "checks": [asdict(check) for check in found]},
        [
            Table(["", "check", "found", "what to do"], rows),
            f"{len(found) - len(failed) - warnings} ok, {warnings} warn, {len(failed)} fail",
        ],
        failed=bool(failed),
    )
