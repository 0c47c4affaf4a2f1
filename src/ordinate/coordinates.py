"""Coordinates: where a token stands. The one word that tasks and positions share.

A token has a *field* (first operand, answer, text, ...) and an *ordinate*: its place inside that field.
"""

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import torch
from jaxtyping import Int
from numpy import ndarray
from torch import Tensor
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.utils._python_dispatch import _disable_current_modes

from ordinate.errors import OrdinateError


def watched() -> bool:
    """Whether tensors made now may be stand-ins, of `torch.compile`, `torch.export`, `torch.func` or a fake mode: what
    is computed from them is not to be kept."""
    modes = torch._C._len_torch_dispatch_stack() + len(torch._C._functorch.get_interpreter_stack() or ())
    return modes > 0 or torch.compiler.is_compiling()


HANDLES: "WeakValueDictionary[str, object]" = WeakValueDictionary()
_COUNT = itertools.count()


def handle_of(thing: object) -> str:
    """A name by which a compiled graph, which holds nothing but tensors and text, finds an object again."""
    handle = f"{type(thing).__name__}-{next(_COUNT)}"
    HANDLES[handle] = thing
    return handle


Numbers = Iterable[int] | Int[ndarray, "..."] | Int[Tensor, "..."]


@contextmanager
def ordinary_tensors() -> Iterator[None]:
    """What depends on positions only is worked out on the CPU with numbers, and kept: whatever device is the default,
    and also where a pass with fake tensors, in inference mode or inside of `torch.func` is the first to ask."""
    with (
        temporarily_clear_interpreter_stack(),
        torch.inference_mode(False),
        _disable_current_modes(),
        torch.device("cpu"),
    ):
        yield


class Coordinates:
    """Field and ordinate of every token of a sequence: a value that never changes.

    Hashable, so that whatever depends on positions only can be computed once and kept; the hash is worked out once, so
    that a sequence of a million tokens is found as fast as one of ten.

    >>> c = Coordinates.of(number=range(3), dummy=range(1))
    >>> c.field, c.ordinate, c.fields
    ((0, 0, 0, 1), (0, 1, 2, 0), ('number', 'dummy'))
    >>> c.label(1)
    'number 1'
    """

    def __init__(self, fields: Iterable[str], field: Numbers, ordinate: Numbers) -> None:
        self.fields = tuple(fields)
        self.handle = handle_of(self)
        self._field, self._ordinate = _whole_numbers(field), _whole_numbers(ordinate)
        if len(self._field) != len(self._ordinate):
            raise ValueError(
                f"every token needs a field and an ordinate: {len(self._field)} fields, "
                f"{len(self._ordinate)} ordinates"
            )
        if len(self._field) and not 0 <= self._field.min() <= self._field.max() < len(self.fields):
            raise ValueError(f"field numbers must index {self.fields}, got {sorted(set(self.field))}")

    @classmethod
    def of(cls, **ordinates: Numbers) -> "Coordinates":
        """Lay fields one after another, each with its ordinates in token order."""
        listed = [_whole_numbers(values) for values in ordinates.values()]
        field = np.repeat(np.arange(len(listed)), [len(values) for values in listed])
        return cls(ordinates, field, np.concatenate([_whole_numbers(()), *listed]))

    @cached_property
    def field(self) -> tuple[int, ...]:
        """For every token the number of its field in `fields`."""
        return tuple(self._field.tolist())

    @cached_property
    def ordinate(self) -> tuple[int, ...]:
        """For every token its place inside its field."""
        return tuple(self._ordinate.tolist())

    def __len__(self) -> int:
        return len(self._field)

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Coordinates):
            return self is other
        return (
            hash(self) == hash(other)
            and self.fields == other.fields
            and np.array_equal(self._field, other._field)
            and np.array_equal(self._ordinate, other._ordinate)
        )

    @cached_property
    def _hash(self) -> int:
        return hash((self.fields, self._field.tobytes(), self._ordinate.tobytes()))

    def __hash__(self) -> int:
        return self._hash

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("fields", "_field", "_ordinate")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, handle=handle_of(self))

    def __repr__(self) -> str:
        return f"Coordinates(fields={self.fields}, field={self.field}, ordinate={self.ordinate})"

    def __add__(self, other: "Coordinates") -> "Coordinates":
        """Append the tokens of `other`; fields of the same name are one field."""
        fields = self.fields + tuple(f for f in other.fields if f not in self.fields)
        place = np.array([fields.index(name) for name in other.fields], dtype=np.int64)
        return Coordinates(
            fields,
            np.concatenate([self._field, place[other._field]]),
            np.concatenate([self._ordinate, other._ordinate]),
        )

    def starts_with(self, other: "Coordinates") -> bool:
        """Whether the first tokens are those of `other`.

        >>> layout(text=3, answer=1).starts_with(layout(text=2)), layout(text=3).starts_with(layout(word=2))
        (True, False)
        """
        first = len(other)
        if first > len(self) or not np.array_equal(self._ordinate[:first], other._ordinate):
            return False
        names, others = np.array(self.fields), np.array(other.fields)
        return not first or bool((names[self._field[:first]] == others[other._field]).all())

    def label(self, token: int) -> str:
        """Return a reader's name of one token, used on axes of figures."""
        return f"{self.fields[self._field[token]]} {self._ordinate[token]}"

    @cached_property
    @ordinary_tensors()
    def field_tensor(self) -> Int[Tensor, " token"]:
        """The fields as a tensor."""
        return torch.from_numpy(self._field)

    @cached_property
    @ordinary_tensors()
    def ordinate_tensor(self) -> Int[Tensor, " token"]:
        """The ordinates as a tensor."""
        return torch.from_numpy(self._ordinate)


def layout(**fields: int | Numbers) -> Coordinates:
    """Coordinates of a sequence, field after field: how many tokens a field has, or their ordinates.

    >>> layout(number=3) == Coordinates.of(number=range(3))
    True
    >>> layout(first=[1, 0], answer=range(2)).ordinate  # digits may be written from the most significant one
    (1, 0, 0, 1)
    """
    return Coordinates.of(**{name: _ordinates(name, given) for name, given in fields.items()})


def _ordinates(name: str, given: Any) -> Int[ndarray, " token"]:
    try:
        if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
            return np.arange(given)
        if isinstance(
            given, (Tensor, ndarray, list, range)
        ):  # a tuple would read as sizes along several axes
            return _whole_numbers(given)
    except (ValueError, MemoryError):
        pass
    shown = repr(given) if len(repr(given)) <= 60 else f"{repr(given)[:57]}..."
    raise OrdinateError(
        f"layout({name}={shown}): write how many tokens it has, {name}=8, or a list of ordinates, {name}=[2, 1, 0]"
    )


def _whole_numbers(values: Any) -> Int[ndarray, " token"]:
    """A new array of int64; numbers with a fraction and anything that is not a list of numbers are a ValueError."""
    if isinstance(values, range):
        return np.arange(values.start, values.stop, values.step, dtype=np.int64)
    if isinstance(values, Tensor):
        values = values.detach().cpu().numpy()
    listed = np.array(values if isinstance(values, (ndarray, list, tuple)) else list(values))
    if listed.size == 0:
        listed = listed.reshape(-1).astype(np.int64)
    if listed.ndim != 1 or listed.dtype.kind not in "iu" or not np.can_cast(listed.dtype, np.int64):
        raise ValueError(f"ordinates must be whole numbers, one for each token, got {listed!r:.60}")
    return listed.astype(np.int64)
