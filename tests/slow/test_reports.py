"""All stored results as pages in a real browser: small, readable by pointer and by keyboard, nothing from outside."""

from pathlib import Path

import pytest

from ordinate.app.cli.main import main
from ordinate.papers import FIGURES
from tests.browsing import chromium, needs_browser, open_page  # noqa: F401
from tests.contrast import faint
from tests.papers.stored import STORED, stored

ROOT = Path(__file__).parent.parent.parent
PAPERS = sorted(path.name for path in (ROOT / "results").iterdir() if path.is_dir())


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for paper in PAPERS:
        assert main(["report", str(ROOT / "results" / paper), "--out", str(folder / f"{paper}.html")]) == 0
    assert main(["report", str(ROOT / "results"), "--out", str(folder / "all.html")]) == 0
    return folder


def test_every_page_is_small(pages):
    for page in pages.iterdir():
        assert page.stat().st_size < 5_000_000, page.name


@needs_browser
@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_figures_are_read_by_pointer_and_keys(open_page, pages, paper, width, scheme):  # noqa: F811
    page = open_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"file://{pages / paper}.html")
    tip, plate = page.locator(".reading"), page.locator(".plate").first
    assert tip.is_hidden()
    plate.focus()
    page.keyboard.press("ArrowRight")
    first = tip.inner_text()
    page.keyboard.press("ArrowRight")
    assert tip.inner_text() != first
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    plate.scroll_into_view_if_needed()
    box = page.locator(".drawing").first.bounding_box()
    share = 0.6 if paper == "arena" else 0.3  # names of rows take the left of the arena's maps
    page.mouse.move(box["x"] + share * box["width"], box["y"] + 0.25 * box["height"])
    assert tip.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert box["x"] + box["width"] <= width, "the whole figure is on the screen"
    button = page.get_by_role("button", name="Enlarge").first
    assert button.is_visible() == (width == 390)
    if (paper, width) == ("arena", 390):
        button.click()
        assert page.locator(".drawing").first.bounding_box()["width"] > width
        assert page.evaluate("document.documentElement.scrollWidth") == width
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


@needs_browser
def test_without_scripts_the_figure_is_there(open_page, pages):  # noqa: F811
    page = open_page(java_script_enabled=False)
    page.goto(f"file://{pages / PAPERS[0]}.html")
    assert page.locator(".plate svg").first.is_visible()
    assert page.locator(".hint").count() == 0


@needs_browser
@pytest.mark.parametrize("paper", PAPERS)
def test_nothing_is_cut_on_paper(pages, open_page, paper):  # noqa: F811
    page = open_page(viewport={"width": 794, "height": 1123}, color_scheme="dark")  # A4
    page.emulate_media(media="print")
    page.goto((pages / f"{paper}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 794
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@pytest.mark.parametrize("name", STORED)
def test_everything_that_is_written_in_a_stored_figure_can_be_read_in_both_schemes(name):
    for section in FIGURES[name].report(stored(name)).figures():
        assert faint(section.figure) == []
