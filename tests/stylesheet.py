"""Colours of a stylesheet: whether every colour of letters can be read on every ground that there is for it."""

import re

from ordinate.lab.report.style import contrast, rgb
from tests.contrast import ENOUGH

RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
COLOUR = re.compile(r"(?<![-\w])color:\s*([^;}]+)")
GROUND = re.compile(r"background(?:-color)?:\s*([^;}]+)")
HEX = re.compile(r"#[0-9a-fA-F]{6}")


def schemes(css):
    """The variables of the light and of the dark scheme."""
    css = css.partition("@media print")[0]
    light, dark = re.findall(r":root\s*\{([^}]*)\}", css)
    declared = [dict(re.findall(r"--([\w-]+):\s*([^;]+);", block)) for block in (light, dark)]
    return {"light": declared[0], "dark": declared[0] | declared[1]}


def resolved(value, variables):
    """The colour that a value stands for; None for `inherit`, `transparent` and the like."""
    name = re.fullmatch(r"var\(--([\w-]+)\)", value.strip())
    colour = variables.get(name[1], "") if name else value.strip()
    return colour if HEX.fullmatch(colour) else None


def unreadable(css, grounds=("page", "panel")):
    """Rules whose letters cannot be read: on their own ground, or where they have none on each of the grounds."""
    found = []
    for scheme, variables in schemes(css).items():
        for selector, body in RULE.findall(css.partition("@media print")[0]):
            colour, ground = COLOUR.search(body), GROUND.search(body)
            letters = resolved(colour[1], variables) if colour else None
            behind = resolved(ground[1], variables) if ground else None
            if behind is None and letters is None:
                continue
            one = letters or variables["ink"]
            found += [
                (scheme, selector.strip().splitlines()[-1], one, other)
                for other in ([behind] if behind else [variables[name] for name in grounds])
                if contrast(rgb(one), rgb(other)) < ENOUGH
            ]
    return found
