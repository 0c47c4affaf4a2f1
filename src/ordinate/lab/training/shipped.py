"""The recipes that come with the package, by name: `addition-1000`, `published/abacus`."""

from pathlib import Path
from typing import Any

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.runs import read_json

PACKAGE = Path(__file__).parents[2]
FOLDER = next(
    (folder for folder in (PACKAGE / "recipes", PACKAGE.parents[1] / "recipes") if folder.is_dir()),
    PACKAGE / "recipes",
)
"""Inside of an installed package; in a source checkout at its root."""
TIMES = FOLDER / "times.json"
"""Hours of every recipe, as `ordinate recipes --time --json` measured them, with the machine it ran on."""


def shipped() -> dict[str, Path]:
    """Every recipe of the package by its name.

    >>> "addition-1000" in shipped(), "published/abacus" in shipped()
    (True, True)
    """
    return {
        path.relative_to(FOLDER).with_suffix("").as_posix(): path for path in sorted(FOLDER.rglob("*.toml"))
    }


def find_recipe(given: str | Path) -> Path:
    """The file of a recipe: a path, or the name of one that comes with the package.

    >>> find_recipe("addition-1000").name
    'addition-1000.toml'
    >>> find_recipe("adition-1000")
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: there is no recipe 'adition-1000': did you mean 'addition-1000'?
    """
    path, known = Path(given), shipped()
    if path.exists():
        return path
    if str(given) in known:
        return known[str(given)]
    beside = {str(other) for folder in (path.parent, Path("recipes")) for other in folder.glob("*.toml")}
    raise OrdinateError(
        f"there is no recipe {str(given)!r}: {nearest(str(given), sorted({*known, *beside}))}"
    )


def about(path: Path) -> str:
    """What a recipe says of itself: the first line of its comment."""
    with path.open(encoding="utf-8") as file:
        return file.readline().removeprefix("#").strip()


def times() -> dict[str, Any]:
    """Hours of every recipe as they were measured once, and on which machine: the stored `measure_times`."""
    found: dict[str, Any] = read_json(TIMES)
    return found
