"""The store: a folder of runs, `<root>/<name>-<key>/seed-<k>/`, with an index.

The key is the first 10 hex digits of the SHA-256 of the recipe's canonical JSON without its name: equal
recipes share a folder whatever the order of their keys, and any difference makes another folder.
"""

import hashlib
from difflib import get_close_matches
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import tomli_w

from ordinate.errors import OrdinateError
from ordinate.lab.runs.environment import environment
from ordinate.lab.runs.files import Pathish, write_text
from ordinate.lab.runs.index import Index
from ordinate.lab.runs.lock import in_turn
from ordinate.lab.runs.plain import canonical
from ordinate.lab.runs.record import (
    NAME,
    RunRecord,
    check_seed,
    is_run_folder,
    read_recipe,
    run_folders,
    run_id,
)
from ordinate.lab.runs.run import Run

_SHOWN = 5


class Store:
    """All runs under one folder.

    >>> store = Store("runs")                                                       # doctest: +SKIP
    >>> run = store.open({"name": "sum", "task": {"name": "sum"}}, seed=0)          # doctest: +SKIP
    >>> run.id                                                                      # doctest: +SKIP
    'sum-9f2b1c4d5e/seed-0'
    >>> [record.id for record in store.runs(task="sum", status="new")]              # doctest: +SKIP
    ['sum-9f2b1c4d5e/seed-0']
    """

    def __init__(self, root: Pathish = "runs") -> None:
        self.root = Path(root)

    @cached_property
    def index(self) -> Index:
        """The table of all runs, kept beside them."""
        return Index(self.root)

    def __repr__(self) -> str:
        return f"Store({str(self.root)!r})"

    def open(self, recipe: dict[str, Any], seed: int) -> Run:
        """Return the run of `recipe` with `seed`, making its folder when it is new."""
        name = check_name(recipe.get("name"))
        check_seed(seed)
        recipe = _for_toml(recipe, "")
        key = _key(recipe)
        path = self.root / f"{name}-{key}" / f"seed-{seed}"
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OrdinateError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from error
        run = Run(path)
        with in_turn(path.parent):
            if not (path / "recipe.toml").exists():
                write_text(path / "recipe.toml", tomli_w.dumps(recipe))
            elif _key(read_recipe(path)) != key:
                raise OrdinateError(
                    f"{path / 'recipe.toml'} was edited since the run was made: move that folder away"
                )
            if not (path / "run.json").exists():
                run.update(name=name, key=key, seed=seed, status="new", environment=environment())
        return run

    def runs(self, where: dict[str, Any] | None = None, **filters: Any) -> list[RunRecord]:
        """Return the runs that pass all filters: name (a glob), task, model, status, seed, where.

        >>> store.runs(name="sum-*", seed=[0, 1], where={"training.batch": 256})     # doctest: +SKIP
        """
        return self.index.select(where=where, **filters)

    def reindex(self) -> None:
        """Rebuild the index from the folders."""
        self.index.rebuild()

    def find(self, text: Pathish) -> Run:
        """Return the run with this id, or with the only id that begins so, or in this folder.

        >>> store.find("sum-9f")                                # doctest: +SKIP
        Run('sum-9f2b1c4d5e/seed-0')
        >>> store.find("elsewhere/sum-9f2b1c4d5e/seed-0")       # doctest: +SKIP
        Run('sum-9f2b1c4d5e/seed-0')
        """
        text = fspath(text)
        known = {run_id(path): path for path in run_folders(self.root)}
        wanted = text.strip().rstrip("/")
        if wanted in known:
            return Run(known[wanted])
        if wanted and is_run_folder(folder := _absolute(wanted)):
            inside = folder.parent.parent == _absolute(self.root)
            return Run(self.root / folder.parent.name / folder.name if inside else folder)
        matches = [id_ for id_ in known if wanted and id_.startswith(wanted)]
        if len(matches) == 1:
            return Run(known[matches[0]])
        if matches:
            raise OrdinateError(
                f"{text!r} begins {len(matches)} runs: write more of one of {_listed(matches)}"
            )
        raise OrdinateError(f"there is no run {text!r} in {self.root}: {_hint(wanted, list(known))}")


def recipe_key(recipe: dict[str, Any]) -> str:
    """Return the 10 hex digits that tell recipes apart; the name and values of None do not count.

    >>> recipe_key({"name": "a", "x": 1, "y": None}) == recipe_key({"name": "b", "x": 1})
    True
    """
    return _key(_for_toml(recipe, ""))


def _key(plain: dict[str, Any]) -> str:
    counted = {key: value for key, value in plain.items() if key != "name"}
    return hashlib.sha256(canonical(counted).encode()).hexdigest()[:10]


def check_name(name: object) -> str:
    """Return `name` if it can name a folder of runs.

    >>> check_name("sum-positional")
    'sum-positional'
    """
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise OrdinateError(
            f"a recipe cannot be named {name!r}: use letters, digits, '.', '_', '-', a letter or digit first"
        )
    return name


def _for_toml(value: Any, where: str) -> Any:
    """Return `value` with plain types only and without None, which TOML cannot write."""
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise OrdinateError(f"the recipe has the key {key!r} in {where or 'it'}: write it as text")
        return {
            key: _for_toml(item, f"{where}.{key}".lstrip("."))
            for key, item in value.items()
            if item is not None
        }
    if isinstance(value, list | tuple):
        if any(item is None for item in value):
            raise OrdinateError(f"the recipe's {where} holds None in a list: leave the entry out")
        return [_for_toml(item, where) for item in value]
    if isinstance(value, PathLike):
        return fspath(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise OrdinateError(
        f"the recipe's {where} is a {type(value).__name__}: use numbers, text, lists and tables"
    )


def _absolute(path: Pathish) -> Path:
    try:
        return Path(path).expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise OrdinateError(f"{fspath(path)!r} is neither a run's id nor a folder") from error


def _hint(wanted: str, ids: list[str]) -> str:
    if not ids:
        return "it has no runs yet"
    recipes = sorted({id_.split("/")[0] for id_ in ids})
    names = sorted({recipe.rsplit("-", 1)[0] for recipe in recipes})
    close = get_close_matches(wanted, [*ids, *recipes, *names], n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {_listed(recipes)}"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def flatten(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the settings under dotted keys; a list of one kind stands for that kind.

    >>> flatten({"name": "a", "model": {"encoding": [{"kind": "one-hot"}], "heads": 2}})
    {'name': 'a', 'model.encoding.kind': 'one-hot', 'model.heads': 2}
    """
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            value = value[0]
        if isinstance(value, dict):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def side_by_side(tables: list[dict[str, Any]], *, differing: bool = False) -> dict[str, list[Any]]:
    """Return for every key its value in each table (None where it is not there), all or only differing ones.

    >>> side_by_side([{"a": 1, "b": 2}, {"a": 1, "b": 3}], differing=True)
    {'b': [2, 3]}
    """
    keys = dict.fromkeys(key for table in tables for key in table)
    rows = {key: [table.get(key) for table in tables] for key in keys}
    return {key: row for key, row in rows.items() if not differing or any(value != row[0] for value in row)}
