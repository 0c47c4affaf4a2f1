"""Programs by name. A new one is a function on values, a reference, and a line in one of the tables."""

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.programs.collection.arithmetic import ARITHMETIC
from ordinate.lab.programs.collection.automata import AUTOMATA
from ordinate.lab.programs.collection.fourier import FOURIER
from ordinate.lab.programs.collection.pointers import POINTERS
from ordinate.lab.programs.collection.scans import SCANS
from ordinate.lab.programs.collection.sorting import SORTING
from ordinate.lab.programs.program import Program

STATIC: tuple[Program, ...] = (*SCANS, *SORTING, *ARITHMETIC, *AUTOMATA, *FOURIER)
"""Programs that know beforehand who hears whom; those of `POINTERS` route messages by addresses in data."""

PROGRAMS: dict[str, Program] = {program.name: program for program in (*STATIC, *POINTERS)}


def find_program(name: str) -> Program:
    """The program of this name.

    >>> find_program("prefix-sun")
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: there is no program 'prefix-sun': did you mean 'prefix-sum'?
    """
    if name not in PROGRAMS:
        raise OrdinateError(f"there is no program {name!r}: {nearest(name, PROGRAMS)}")
    return PROGRAMS[name]
