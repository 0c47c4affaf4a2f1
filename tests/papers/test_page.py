"""The page of several figures: what it says in front of them."""

import pytest

from ordinate.papers import FIGURES, figures_report
from tests.papers.stored import stored


@pytest.mark.parametrize(
    ("name", "lead"),
    [("arena/values", "1 figure."), ("beyond/cascades", "1 figure."), ("memories/exp-1b", "1 figure. ")],
)
def test_a_page_names_the_paper_of_its_figures_and_figures_of_our_own_have_none(name, lead):
    found = figures_report([(FIGURES[name], stored(name))], "title").lead
    assert found.startswith(lead)
    assert (found != lead) == ("arXiv" in found)


@pytest.mark.parametrize(("name", "judged"), [("arena/values", False), ("beyond/cascades", True)])
def test_verdicts_stand_in_front_where_something_is_claimed(name, judged):
    figure, document = FIGURES[name], stored(name)
    for report in (figure.report(document), figures_report([(figure, document)], "title")):
        assert (report.sections[0].title == "Verdicts") is judged
