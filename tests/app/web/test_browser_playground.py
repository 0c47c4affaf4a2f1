"""The playground in a real browser: nothing of an answer stands beside another question."""

import pytest
import torch

from ordinate.lab.tasks import TASKS
from tests.app.web.looking import answered, until
from tests.browsing import needs_browser

pytestmark = needs_browser

ADDITION = (".badge", ".digit-row", ".small-maps", "text=4218")
"""What the answer to the sum that the page opens with is seen by."""


def task_menu(page):
    return page.get_by_label("Task", exact=True)


def opened(visit):
    page = visit()
    answered(page)
    page.wait_for_selector(".small-maps canvas")
    return page


def shown(page, selectors):
    return [each for each in selectors if page.locator(each).locator("visible=true").count()]


def test_tasks_with_models_come_first_and_the_others_under_a_heading_of_their_own(visit):
    page = opened(visit)
    menu = task_menu(page)
    played = menu.locator(":scope > option").all_text_contents()
    others = menu.locator(":scope > optgroup[label='exact answers only'] > option").all_text_contents()
    assert menu.locator("option").all_text_contents() == [*played, *others]
    assert {"addition", "sum"} <= set(played)
    assert {"k-hop", "median"} <= set(others)


def test_every_task_of_the_menu_is_answered_at_once(visit):
    page = opened(visit)
    alert = page.locator(".playground > [role=alert]")
    tasks = task_menu(page).locator("option").all_text_contents()
    assert len(tasks) == len(TASKS)
    for task in tasks:
        task_menu(page).select_option(task)
        until(page, "() => document.querySelector('input[type=text]').value")
        page.wait_for_selector("[aria-label=Answer][aria-busy=false] .digit-row.right")
        assert not alert.is_visible(), f"{task}: {alert.inner_text()}"


def test_lengths_beyond_what_the_page_asks_of_a_task_are_not_proposed(visit):
    page = opened(visit)
    task_menu(page).select_option("k-hop")
    assert page.get_by_label("Symbols").input_value() == "64"


def test_another_task_takes_the_answer_of_the_last_one_away_at_once(visit):
    page = opened(visit)
    waiting = []
    page.route("**/api/answer", lambda route: waiting.append(route))
    task_menu(page).select_option("median")
    until(page, "() => !document.querySelector('input[type=text]').value")
    assert shown(page, ADDITION) == []
    for route in waiting:
        route.continue_()
    page.wait_for_selector("text=No model of this task has been trained here yet")


@pytest.mark.refusals
@pytest.mark.parametrize("bad", ["12 * abc", "7" * 1001 + " + 1"])
def test_an_input_that_is_refused_has_no_answer_beside_it(visit, bad):
    page = opened(visit)
    entry = page.get_by_role("textbox", name="Input")
    entry.fill(bad)
    page.keyboard.press("Enter")
    page.wait_for_selector(".playground > [role=alert]")
    assert shown(page, ADDITION) == []
    assert entry.input_value() == bad
    entry.fill("123 + 4095")
    page.keyboard.press("Enter")
    page.wait_for_selector(".small-maps canvas")
    assert shown(page, ADDITION) == list(ADDITION)


@pytest.mark.refusals
def test_a_length_that_is_refused_has_no_answer_beside_it(visit):
    page = opened(visit)
    page.get_by_label("Digits").fill("5000")
    page.wait_for_selector("[role=alert] >> text=choose 1 to 1000")
    assert shown(page, ADDITION) == []
    assert page.get_by_role("textbox", name="Input").input_value() == ""


def test_attention_to_the_last_input_is_not_waited_for(visit):
    page = visit()
    waiting, left = [], []
    page.route("**/api/attention", lambda route: waiting.append(route))
    page.on("requestfailed", lambda request: left.append(request.url.rsplit("/", 1)[1]))
    answered(page)
    until(page, "() => document.body.textContent.includes('Computing')")
    task_menu(page).select_option("median")
    page.wait_for_selector("text=Choose a model to see what it looks at")
    assert len(waiting) == 1
    assert left == ["attention"]


BRIGHTEST = """() => [...document.querySelectorAll('.small-maps canvas')].map(canvas => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const opacity = data.filter((_, byte) => byte % 4 === 3);
  return [Math.max(...opacity) / 255, opacity.reduce((sum, value) => sum + value / 255, 0) / opacity.length];
})"""


@pytest.mark.parametrize("model", ["Relation", "Absolute"])
def test_every_map_of_attention_uses_all_of_its_colours(visit, model):
    page = opened(visit)
    page.get_by_role("textbox", name="Input").fill("12345678901234567890 + 9876543210987654321")  # 43 tokens
    page.keyboard.press("Enter")
    menu = page.get_by_label("Model", exact=True)
    page.wait_for_selector("text=all 20 places")
    with page.expect_response("**/api/attention"):
        menu.select_option(menu.locator("option", has_text=model).get_attribute("value"))
    until(page, "() => document.querySelector('.small-maps canvas').width === 43")
    for strongest, mean in page.evaluate(BRIGHTEST):
        assert strongest == 1
        assert mean > 0.02


def test_attention_opens_at_the_head_that_tells_tokens_apart_most(visit):
    page = visit()
    with page.expect_response("**/api/attention") as response:
        answered(page)
    layers = response.value.json()["attention"]
    spread = {
        (layer, head): torch.tensor(weights).std().item()
        for layer, heads in enumerate(layers, start=1)
        for head, weights in enumerate(heads, start=1)
    }
    layer, head = max(spread, key=spread.get)
    assert (layer, head) != (1, 1)
    page.wait_for_selector(f"h3 >> text=Layer {layer}, head {head}")
    assert (
        page.get_by_label(f"Layer {layer}, head {head}", exact=True).get_attribute("aria-pressed") == "true"
    )
    most = max(weight for row in layers[layer - 1][head - 1] for weight in row)
    ticks = page.locator(".ramp .ticks").first.locator("span").all_inner_texts()
    assert ticks == ["0.0 %", f"{25 * most:.1f} %", f"{100 * most:.1f} %"]
