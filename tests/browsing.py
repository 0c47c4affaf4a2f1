"""A Chromium for tests. What a script of a page throws makes the test fail, unless it is marked `faults`."""

import pytest
from tools.browser import find, options

BROWSER = find()
needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium here: `python tools/browser.py` tries to get one"
)


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=options())
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium, request):
    """Open an empty page with the options of a context, such as `viewport` and `color_scheme`."""
    contexts, thrown = [], []

    def open_(**context):
        contexts.append(chromium.new_context(**context))
        page = contexts[-1].new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: thrown.append(str(error)))
        return page

    yield open_
    for context in contexts:
        context.close()
    assert bool(thrown) == (request.node.get_closest_marker("faults") is not None), thrown
