"""Relations for readers: a table of the classes and a picture of the class matrix, as text."""

from ordinate.coordinates import Coordinates
from ordinate.relations.bound import BoundRelation
from ordinate.relations.pattern import ABSENT
from ordinate.relations.relation import Relation

SIGNS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def show(relation: Relation, coordinates: Coordinates, most: int = 24) -> str:
    """The relation, its classes with the number of their pairs, and the matrix: `.` is absent, `+` is plain.

    >>> from ordinate.relations import aligned, window
    >>> print(show(aligned() * window(back=1), Coordinates.of(digit=range(3))))
    aligned() * window(back=1): 2 classes, 5 of 9 pairs attended
      0  digit to digit, same place    3
      1  digit to digit, 1 back        2
    <BLANKLINE>
    digit 0   0 . .
    digit 1   1 0 .
    digit 2   . 1 0
    """
    bound = BoundRelation(relation, [coordinates])
    pattern = bound.pattern(coordinates)
    counts = pattern.label.bincount(minlength=bound.classes + 1).tolist()
    tokens = len(coordinates)
    lines = [f"{relation}: {bound.classes} classes, {len(pattern.query)} of {tokens**2} pairs attended"]
    names = bound.names
    wide = max([len(name) for name in names[:most]] + [5])
    lines += [f"  {_sign(i)}  {name:{wide}}  {counts[i]:>3}" for i, name in enumerate(names[:most])]
    if len(names) > most:
        lines.append(f"  and {len(names) - most} more")
    if counts[-1]:
        lines.append(f"  +  {'plain':{wide}}  {counts[-1]:>3}")
    shown = range(min(tokens, 2 * most))
    labels = [coordinates.label(i) for i in shown]
    column = max(len(label) for label in labels)
    matrix = [
        " ".join("." if c == ABSENT else "+" if c == bound.classes else _sign(c) for c in row[: len(shown)])
        for row in pattern.dense[: len(shown)].tolist()
    ]
    lines += ["", *(f"{label:{column}}   {row}" for label, row in zip(labels, matrix, strict=True))]
    if tokens > len(shown):
        lines.append(f"and {tokens - len(shown)} more tokens")
    return "\n".join(lines)


def _sign(number: int) -> str:
    return SIGNS[number] if number < len(SIGNS) else "#"
