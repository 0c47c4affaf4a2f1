"""The language of programs: values, ranges, and functions on them."""

from ordinate.lab.programs.language.functions import (
    absolute,
    all_of,
    any_of,
    broadcast,
    butterfly,
    clip,
    gather,
    lookup,
    maximum,
    minimum,
    permute,
    powers,
    receive,
    relu,
    select,
    shift,
)
from ordinate.lab.programs.language.ranges import FLAG, Range
from ordinate.lab.programs.language.value import OWN, Value

__all__ = [
    "FLAG",
    "OWN",
    "Range",
    "Value",
    "absolute",
    "all_of",
    "any_of",
    "broadcast",
    "butterfly",
    "clip",
    "gather",
    "lookup",
    "maximum",
    "minimum",
    "permute",
    "powers",
    "receive",
    "relu",
    "select",
    "shift",
]
