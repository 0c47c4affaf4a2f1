"""Pictures of the page for the documents: `python tools/screenshots.py` writes them to docs/img."""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Page, sync_playwright  # noqa: E402
from tests.app.web.serving import served  # noqa: E402
from tools.browser import find, options  # noqa: E402

IMAGES = ROOT / "docs" / "img"
SIZE = {"width": 1280, "height": 1080}


def playground(page: Page) -> None:
    page.wait_for_selector(".small-maps canvas")
    page.get_by_label("Digits").fill("20")
    page.locator(".digit-row.second mark").nth(1).wait_for()
    page.wait_for_selector("[aria-label=Answer][aria-busy=false]")
    page.wait_for_selector(".small-maps canvas", timeout=60_000)
    page.get_by_role("heading", name="Playground").click()


def relations(page: Page) -> None:
    page.wait_for_selector("#class-count")
    page.locator(".grid canvas").hover(position={"x": 200, "y": 200})


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as store,
        served(Path(store), ROOT / "results") as shown,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=find(), args=options())
        for name, prepare in (("playground", playground), ("relations", relations)):
            page = browser.new_page(viewport=SIZE)
            page.goto(f"{shown.url}/#{name}")
            prepare(page)
            page.screenshot(path=IMAGES / f"page-{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
