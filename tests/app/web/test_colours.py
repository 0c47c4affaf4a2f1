"""What is written on the page can be read in both schemes."""

import re
from pathlib import Path

import numpy as np
import pytest

from ordinate.lab.report.style import contrast, night, rgb
from tests.browsing import needs_browser
from tests.contrast import ENOUGH
from tests.stylesheet import COLOUR, schemes, unreadable

STATIC = Path(__file__).parents[3] / "src" / "ordinate" / "app" / "web" / "static"
CSS = (STATIC / "style.css").read_text()
GROUNDS = ("page", "panel", "busy-back", "none-back", "cell")
"""What rules without a ground of their own may stand on: the page, panels, the open row, a row under the pointer."""


def test_every_colour_of_letters_can_be_read_on_every_ground():
    assert unreadable(CSS, GROUNDS) == []
    assert "opacity" not in CSS, "it would take contrast away"


def test_letters_without_contrast_are_found():
    faint = "p { color: #777777; background: #dddddd } a { color: #000000; background: #ffffff }"
    assert [rule for _, rule, _, _ in unreadable(f"{CSS} {faint}", GROUNDS)] == ["p", "p"]


def test_every_colour_of_the_sheet_is_declared_for_both_schemes():
    found = schemes(CSS)
    assert set(found["light"]) == set(found["dark"])
    named = {name for value in COLOUR.findall(CSS) for name in re.findall(r"var\(--([\w-]+)\)", value)}
    assert named <= set(found["light"])
    scripts = "".join(path.read_text() for path in (STATIC / "js").glob("*.js"))
    assert set(re.findall(r'"--([a-z-]+)"', scripts)) <= {*found["light"], "heads"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_maps_of_attention_run_from_the_ground_of_a_cell_to_what_stands_out_from_it(scheme):
    colours = schemes(CSS)[scheme]
    most = "#" + "".join(f"{int(part):02x}" for part in colours["heat"].split())
    assert contrast(rgb(colours["cell"]), rgb(most)) > ENOUGH


def test_pictures_of_verdicts_are_turned_over_in_the_dark():
    dark = CSS.partition(".picture img { filter:")[2]
    assert dark.startswith(" invert(1) hue-rotate(180deg); mix-blend-mode: screen;")
    # invert(1) and a half turn of the hue are what `night` does, but for the colours of ground and ink.
    colour = rgb("#0072b2")
    half_turn = 2 * (colour @ [0.213, 0.715, 0.072]) - colour
    ground, ink = (night(rgb(end)) for end in ("#ffffff", "#000000"))
    assert night(colour) == pytest.approx(ground + (1 - half_turn).clip(0, 1) * (ink - ground))


WRITTEN = """() => {
  const style = (element) => getComputedStyle(element);
  const above = (element) => (element ? [...above(element.parentElement), element] : []);
  const shown = (element) => element.checkVisibility() && element.getClientRects().length;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim(), element = walk.currentNode.parentElement;
    if (text && shown(element))
      found.push([text, style(element).color, above(element).map((each) => style(each).backgroundColor)]);
  }
  return found;
}"""
"""Every text that is shown, its colour, and the grounds on which it stands, the lowest first."""


def laid(colours):
    """The colour of some that lie on each other over white, from 0 to 1; each may let those below shine through.

    >>> laid(["rgb(0, 0, 0)", "rgba(255, 255, 255, 0.2)"]).tolist()
    [0.2, 0.2, 0.2]
    """
    ground = np.ones(3)
    for colour in colours:
        *parts, share = [*map(float, re.findall(r"[0-9.]+", colour)), 1.0][:4]
        ground = share * np.array(parts) / 255 + (1 - share) * ground
    return ground


PARTS = {
    "#playground": ".small-maps canvas",
    "#runs": ".badge.done",
    "#relations": "#class-count",
    "#verdicts": ".paper .figure",
}
OPENED = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("part", PARTS)
def test_everything_that_a_browser_shows_can_be_read(visit, part, scheme):
    page = visit(part, scheme=scheme)
    page.wait_for_selector(PARTS[part])
    page.evaluate(OPENED)
    found = page.evaluate(WRITTEN)
    assert len(found) > 20
    faint = [
        text for text, colour, grounds in found if contrast(laid(grounds), laid([*grounds, colour])) < ENOUGH
    ]
    assert faint == []
