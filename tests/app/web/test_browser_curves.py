"""Curves in a real browser: every range of values is drawn, and what cannot be drawn is said."""

import math

import pytest

from tests.browsing import needs_browser

pytestmark = needs_browser

LOWEST = [10 ** (-6 + 6 * k / 190) for k in range(191)]
JUST_BELOW = [0.9717e-4, 9.87e-05, 9.999e-3, math.nextafter(1e-3, 0), 1e-3, math.nextafter(1e-3, 1)]
RANGES = [
    *([low, 2.139] for low in [*LOWEST, *JUST_BELOW]),
    *([value, value] for value in (1e-6, 0.25, 1.0, 10.0)),  # one value has no range
    *([1e-45, 1e-40], [1e-300, 1e300], [5e-324, 1.0]),
]

DRAW = """async ranges => {
  const { chart } = await import('/js/chart.js');
  const place = document.createElement('div');
  place.style.width = '300px';
  document.getElementById('main').replaceChildren(place);
  const failed = [];
  for (const [low, high] of ranges) {
    const curve = chart(place, { series: [{ label: 'loss', look: 0 }], x: 'step', y: 'loss', logY: true });
    curve.show([[0, 1, 2], [high, Math.sqrt(low) * Math.sqrt(high), low]]);
    await new Promise(setTimeout);
    const canvas = place.querySelector('canvas');
    const drawn = canvas && canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean);
    if (!drawn) failed.push([low, high, place.textContent]);
    curve.close();
    place.replaceChildren();
  }
  return failed;
}"""


def test_curves_of_every_range_are_drawn(visit):
    page = visit("#relations")
    page.wait_for_selector("#class-count")
    page.set_default_timeout(120_000)
    assert page.evaluate(DRAW, RANGES) == []


def test_a_logarithmic_axis_ends_at_powers_of_ten_around_the_values(visit):
    page = visit("#relations")
    asked = [[9.7e-5, 2.1], [1e-3, 1.0], [0.2, 0.3], [1.0, 1.0], [5e-324, 1e300], [None, None]]
    ends = page.evaluate(
        "async pairs => { const { decades } = await import('/js/chart.js'); return pairs.map(p => decades(...p)); }",
        asked,
    )
    assert ends == [[1e-5, 10], [1e-3, 1], [0.1, 1], [1, 10], [1e-20, 1e20], [0.1, 1]]


def test_the_key_of_a_curve_is_a_piece_of_it(visit):
    page = visit()
    page.locator(".u-marker").nth(1).wait_for()
    keys = page.locator(".u-marker").evaluate_all(
        "all => all.map(key => getComputedStyle(key).borderTopStyle)"
    )
    assert keys[1:] == [
        "solid",
        "dotted",
        "dashed",
        "dotted",
    ]  # the first one is that of the axis, which is not shown


WRITTEN = """async () => {
  const { chart } = await import('/js/chart.js');
  const place = document.createElement('div');
  place.style.width = '1800px';
  document.getElementById('main').replaceChildren(place);
  const written = [], write = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
    written.push(text);
    write.call(this, text, ...at);
  };
  chart(place, { series: [{ label: 'loss', look: 0 }], x: 'step', y: 'loss' }).show([[50, 60], [1, 2]]);
  return written.slice(written.indexOf('step') + 1, written.indexOf('loss'));
}"""


def test_steps_are_whole(visit):
    page = visit("#relations")
    page.wait_for_selector("#class-count")
    assert page.evaluate(WRITTEN) == [str(step) for step in range(50, 61)]


BROKEN = "window.uPlot = class { constructor() { throw new RangeError('no room') } };"


@pytest.mark.faults
def test_what_cannot_be_drawn_is_said_in_its_place(visit, page_url, done):
    page = visit("#relations")
    page.route(
        "**/uPlot.iife.min.js", lambda route: route.fulfill(body=BROKEN, content_type="text/javascript")
    )
    page.goto(f"{page_url}/?again#runs/{done}")
    page.wait_for_selector(".chart [role=alert] >> text=could not draw the curve of loss: no room")
    page.wait_for_selector("h3 >> text=Scores")  # the rest is there
