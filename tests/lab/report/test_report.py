"""A report is one whole HTML file: verdicts first, everything escaped, nothing from outside."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.lab.evaluation.claims import AtLeast, Claim, Within
from ordinate.lab.evaluation.statistics import Interval
from ordinate.lab.report.curves import Panel, Series, training_curves, value_curves
from ordinate.lab.report.report import (
    CSS,
    SCRIPT,
    Command,
    FigureSection,
    KeyValues,
    Report,
    Table,
    Text,
    VerdictTable,
    badge,
    render,
    write_report,
)
from ordinate.lab.report.sections import LARGEST_SVG

VOID = {"meta", "img", "br", "link"}
EVIL = "<script>alert('1')</script> & \"quotes\""


class Page(HTMLParser):
    """Reads a page, checks that tags close in order, keeps tags, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text += data
        elif self.open[-1] == "script":
            self.scripts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def evil_panel() -> Panel:
    return Panel(EVIL, EVIL, EVIL, [Series(EVIL, "positional", [1, 2], [[1.0, 2.0]])])


def claim(low=20.0, high=30.0, *, sentence="A beats B.", seeds=5, failed=0, scale="laptop") -> Claim:
    return Claim(sentence, Interval(25.0, low, high, 0.95), AtLeast(10), 1498.0, seeds, failed, scale)


@pytest.fixture
def report(panels) -> Report:
    return Report(
        "positional/value-scale",
        "Five tasks.",
        [
            Text(["First.", "Second."], title="What was done"),
            FigureSection(value_curves(panels[3:]), "Error against scale."),
            VerdictTable(
                [claim(), claim(1.0, 2.0), claim(5.0, 15.0, failed=1), claim(scale="smoke", seeds=1)]
            ),
            Table(["task", "MSE"], [["sum", 0.0585], ["sort", None]], "Medians."),
            KeyValues({"steps": 4000, "averaged": False}),
            Command("ordinate reproduce positional/value-scale"),
        ],
    )


def test_is_whole_and_asks_nothing_of_the_network(report):
    text = render(report)
    page = Page(text)
    assert text.startswith("<!doctype html>")
    assert [script.get("type") for script in page.all("script")] == ["application/json", None]
    assert not any("src" in script for script in page.all("script"))
    assert not page.all("link")
    for _, attributes in page.tags:
        for name in ("src", "href", "srcset", "action"):
            assert (attributes.get(name) or "data:").startswith(("data:", "#"))
    assert not re.search(r"https?://|url\((?!#)|@import", text)
    assert len(text) < 5_000_000


def test_verdicts_come_first(report):
    page = Page(render(report))
    words = ["Verdicts", "What was done", "Error against scale.", "Medians.", "Settings", "How to rerun"]
    places = [page.text.index(word) for word in words]
    assert places == sorted(places)


def test_says_each_verdict_in_words_with_its_numbers(report):
    text = Page(render(report)).text
    assert "4 claims: 1 supported, 1 contradicted, 1 inconclusive, 1 no verdict." in text
    for word in ("25 [20, 30]", "at least 10", "1498", "(1 failed)", "smoke", "one seed"):
        assert word in text


def test_badges_differ_without_colour():
    badges = {Page(badge(v)).text for v in ("supported", "contradicted", "inconclusive", None)}
    assert badges == {"✓ supported", "✗ contradicted", "? inconclusive", "○ no verdict"}


def test_a_smoke_report_shows_no_verdict():
    text = Page(render(Report("t", "", [VerdictTable([claim(scale="smoke")])]))).text
    assert "no verdict" in text
    assert not re.search("supported|contradicted|inconclusive", text)


@pytest.mark.parametrize(("seeds", "warned"), [(3, True), (5, True), (6, False)])
def test_few_seeds_are_said_to_promise_less(seeds, warned):
    text = Page(VerdictTable([claim(seeds=seeds)]).body()).text
    assert ("promise less" in text) == warned


@pytest.mark.parametrize(
    "section",
    [
        Text([EVIL], title=EVIL),
        Table([EVIL], [[EVIL]], EVIL, title=EVIL),
        KeyValues({EVIL: EVIL}, title=EVIL),
        Command(EVIL, title=EVIL),
        FigureSection(training_curves([evil_panel()]), EVIL, title=EVIL, alt=EVIL),
        VerdictTable([claim(sentence=EVIL)], title=EVIL),
    ],
    ids=lambda section: type(section).__name__,
)
def test_all_text_is_escaped(section):
    page = Page(render(Report(EVIL, EVIL, [section])))
    *data, script = page.scripts
    assert script == SCRIPT
    assert len(page.all("script")) == len(page.scripts) == 1 + isinstance(section, FigureSection)
    assert "<" not in "".join(data)
    assert [panel["title"] for found in map(json.loads, data) for panel in found] == [EVIL] * len(data)
    assert page.text.count(EVIL) >= 4


@given(st.text(alphabet=st.characters(exclude_categories=["C"])))
def test_any_text_survives(text):
    assert Page(render(Report("t", "l", [Text([text])]))).text.count(text) >= 1


def test_every_figure_has_words_for_those_who_do_not_see_it(panels):
    figure = value_curves(panels[:1])
    page = Page(
        render(Report("t", "", [FigureSection(figure, "Caption."), FigureSection(figure, "C.", alt="Alt.")]))
    )
    shapes, *images = page.all("svg")
    assert shapes["aria-hidden"] == "true"
    assert [image["aria-label"] for image in images] == ["Caption.", "Alt."]
    assert all(image["role"] == "img" for image in images)


def test_a_large_drawing_goes_in_as_png():
    rng = np.random.default_rng(0)
    loss = Series("a", "positional", list(range(5000)), rng.lognormal(size=(10, 5000)).tolist())
    body = FigureSection(training_curves([Panel("t", "step", "loss", [loss])]), "Noise.").body()
    assert "data:image/png;base64," in body
    assert len(body) < 2 * LARGEST_SVG


def test_tables_round_numbers_and_set_them_right():
    page = Table(
        ["task", "MSE", "ratio", "averaged"],
        [["sum", 0.058512, Interval(4.0, 2.0, 8.0, 0.95), True], ["sort", None, "none", False]],
    ).body()
    assert '<td class="number">0.0585</td>' in page
    assert '<td class="number">n/a</td>' in page
    assert "4 [2, 8]" in page
    assert "<td>yes</td>" in page


def test_a_row_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="2 headers but a row of 1"):
        Table(["a", "b"], [[1]])


def test_unknown_numbers_and_empty_sections_still_make_a_page():
    unknown = Claim("Nothing finished.", Interval.unknown(0.95), Within(10), None, 3, 3, "laptop")
    sections = [VerdictTable([unknown]), VerdictTable([]), Table([], []), Text([]), KeyValues({})]
    text = Page(render(Report("t", "", sections))).text
    assert "n/a [n/a, n/a]" in text
    assert "inconclusive" in text


def test_is_written_whole_and_the_same_each_time(report, tmp_path):
    path = write_report(report, tmp_path / "out" / "report.html")
    assert path.read_text(encoding="utf-8") == render(report)
    assert list(path.parent.iterdir()) == [path]


def test_a_figure_is_never_wider_than_a_phone_unless_it_is_enlarged():
    wide = [rule.strip() for rule in CSS.split("}") if "min-width: var(--readable)" in rule]
    assert [rule.rpartition("{")[0].split("{")[-1].strip() for rule in wide] == [".drawing.large"]
    assert 'classList.toggle("large")' in SCRIPT
