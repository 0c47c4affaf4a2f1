"""Rows: what a section found, one number each, beside the target where there is one."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

Progress = Callable[[str], None]
"""Told in one line what is being measured."""


@dataclass(frozen=True)
class Row:
    """One number; `target` and `ok` are None for what is only reported."""

    measure: str
    value: float
    unit: str
    target: float | None = None
    ok: bool | None = None

    def to_dict(self, section: str) -> dict[str, Any]:
        """Stable keys for JSON."""
        return {"section": section, **asdict(self)}


def at_least(measure: str, value: float, unit: str, target: float) -> Row:
    """A row whose value has to reach the target.

    >>> at_least("ratio", 1.7, "x", 1.5).ok
    True
    """
    return Row(measure, value, unit, target, value >= target)


def at_most(measure: str, value: float, unit: str, target: float) -> Row:
    """A row whose value must not pass the target.

    >>> at_most("difference", 2e-4, "MSE", 1e-4).ok
    False
    """
    return Row(measure, value, unit, target, value <= target)
