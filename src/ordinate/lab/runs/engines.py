"""The one table of engines. A new one is a class of its own and a name in `ENGINES`."""

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.runs.engine import LocalEngine
from ordinate.lab.runs.jobs import Engine
from ordinate.lab.runs.ray_engine import RayEngine

ENGINES: dict[str, type[Engine]] = {"local": LocalEngine, "ray": RayEngine}


def open_engine(name: str, *, address: str | None = None, workers: int | None = None) -> Engine:
    """Return the engine with this name.

    >>> open_engine("local", workers=2).workers
    2
    """
    if name not in ENGINES:
        raise OrdinateError(f"there is no engine {name!r}: {nearest(name, ENGINES)}")
    return ENGINES[name].open(address, workers)
