"""Drawings inside a page: the SVG as part of the HTML, its ink in the colours of the page's scheme.

A picture behind `<img>` keeps its own colours; one that is part of the page can follow light, dark and print.
"""

import re
from collections import Counter
from hashlib import sha256

from ordinate.lab.report.style import DARK, INK, LUMA, PAPER, rgb

_PROLOGUE = re.compile(r"^.*?(?=<svg)|<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", re.DOTALL)
_ROOT = re.compile(r"<svg[^>]*?\bviewBox=\"([^\"]*)\"[^>]*>")
_NAMED = re.compile(r"\b(id=\"|href=\"#|url\(#)([^\")]*)")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
_SPACE = re.compile(r"\s*\n\s*")
_PLACES = re.compile(r"\b[dxy]=\"[^\"]*\"|translate\([^)]*\)")
_FINE = re.compile(r"(\.\d\d)\d+")
_GROUP = re.compile(r"<g id=\"[^\"]*\"")
_SHAPE = re.compile(r"<path id=\"([^\"]*)\" ([^>]*)/>")
_USED = re.compile(r"(?<=<use href=\"#)[^\"]*")
_WORD = re.compile(r"(?:<use href=\"#[^\"]*\"(?: transform=\"translate\([^)]*\)\")?/>){2,}")


def variable(colour: str) -> str:
    """The colour as the page's scheme has it; a colour that no scheme changes stays as it is.

    >>> variable("#0072B2"), variable("#053061")
    ('var(--c-0072b2)', '#053061')
    """
    return f"var(--c-{colour[1:].lower()})" if colour.lower() in _KNOWN else colour


_KNOWN = {colour.lower(): dark for colour, dark in DARK.items()}


def palette(*, dark: bool) -> str:
    """Declare the colours of figures for one scheme.

    >>> "--c-000000: #e8eaed;" in palette(dark=True)
    True
    """
    return " ".join(f"--c-{light[1:]}: {night if dark else light};" for light, night in _KNOWN.items())


def night_filter() -> str:
    """What `ordinate.lab.report.style.night` does, as a filter of SVG that a page in its dark scheme puts on images."""
    ground, ink = rgb(DARK[PAPER]), rgb(DARK[INK])
    rows = [[*((row == column) - 2 * part for column, part in enumerate(LUMA)), 0.0, 1.0] for row in range(3)]
    matrix = " ".join(f"{number:.3g}" for row in [*rows, [0.0, 0.0, 0.0, 1.0, 0.0]] for number in row)
    channels = "".join(
        f'<feFunc{name} type="linear" slope="{high - low:.4f}" intercept="{low:.4f}"/>'
        for name, low, high in zip("RGB", ground.tolist(), ink.tolist(), strict=True)
    )
    return (
        '<filter id="night" x="0" y="0" width="1" height="1" color-interpolation-filters="sRGB">'
        f'<feColorMatrix values="{matrix}"/><feComponentTransfer>{channels}</feComponentTransfer></filter>'
    )


def inline_svg(svg: str, label: str) -> str:
    """The drawing as an element of a page; `label` is escaped and says what it shows.

    Names inside it get a prefix of their own, so that two drawings of a page never answer for each other. Places are
    kept to a hundredth of a point, and groups without their names, which nothing asks for: pages stay small.

    >>> inline_svg('<svg viewBox="0 0 1 1"><path style="fill: #000000"/></svg>', "A square")
    '<svg viewBox="0 0 1 1" role="img" aria-label="A square"><path style="fill: var(--c-000000)"/></svg>'
    """
    prefix = f"d{sha256((label + svg).encode()).hexdigest()[:8]}-"
    short: dict[str, str] = {}
    text = _PROLOGUE.sub("", svg).replace("xlink:href=", "href=")
    text = _ROOT.sub(rf'<svg viewBox="\1" role="img" aria-label="{_plain(label)}">', text, count=1)
    text = _NAMED.sub(
        lambda match: match[1] + short.setdefault(match[2], f"{prefix}{len(short):x}"), _GROUP.sub("<g", text)
    )
    text = _PLACES.sub(lambda match: _FINE.sub(r"\1", match[0]), text)
    text = _COLOUR.sub(lambda match: variable(match[0]), text)
    return _SPACE.sub(" ", text).replace("> <", "><").strip()


def share_shapes(page: str) -> str:
    """Keep each shape that drawings of a page define (letters above all) once, ahead of everything, and each word, too.

    With them stands the filter for images in the dark scheme.

    >>> one = '<svg><defs><path id="a" d="M 0 0"/></defs><use href="#a"/></svg>'
    >>> share_shapes(one + one.replace('"a"', '"b"').replace("#a", "#b")).count("M 0 0")
    1
    """
    shapes: dict[str, str] = {}
    names: dict[str, str] = {}

    def take(match: re.Match[str]) -> str:
        names[match[1]] = shapes.setdefault(match[2], f"shape-{len(shapes):x}")
        return ""

    page = _SHAPE.sub(take, page).replace("<defs></defs>", "")
    page = _USED.sub(lambda match: names[match[0]], page)
    often = (word for word, times in Counter(_WORD.findall(page)).items() if times > 1)
    words = {word: f"word-{number:x}" for number, word in enumerate(often)}
    page = _WORD.sub(lambda match: _use(words[match[0]]) if match[0] in words else match[0], page)
    defined = "".join(f'<path id="{name}" {shape}/>' for shape, name in shapes.items())
    defined += "".join(f'<g id="{name}">{word}</g>' for word, name in words.items())
    if "<image" in page or "<img" in page:
        defined += night_filter()
    return f'<svg class="shapes" aria-hidden="true"><defs>{defined}</defs></svg>\n{page}' if defined else page


def _use(name: str) -> str:
    return f'<use href="#{name}"/>'


def _plain(label: str) -> str:
    return label.replace("\\", r"\\")
