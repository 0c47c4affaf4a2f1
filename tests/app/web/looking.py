"""What tests in a browser do with the page: keep a picture, wait, read the answer."""

import time
from pathlib import Path

PICTURES = Path(__file__).parents[3] / "build" / "page"


def keep(page, name):
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True)
    beyond = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert beyond <= 0, f"{name} is {beyond} pixels too wide"


def until(page, expression, arg=None, patience=30.0):
    """Wait until a function of the page says yes; the page's policy forbids that the page itself evaluates text.

    What it asks for may not be drawn yet: an error is a no.
    """
    deadline = time.monotonic() + patience
    asked = f"arg => {{ try {{ return ({expression})(arg) }} catch {{ return false }} }}"
    while not page.evaluate(asked, arg):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(50)


def answered(page):
    page.wait_for_selector(".digit-row.model")
    page.wait_for_selector("[aria-label=Answer][aria-busy=false]")
    rows: dict[str, str] = {}
    for row in page.locator(".digit-row").all():  # one a line, and a long answer has several lines
        name, symbols = (row.locator(part).inner_text() for part in (".name", ".symbols"))
        rows[name] = rows.get(name, "") + symbols.replace(" ", "")
    return rows
