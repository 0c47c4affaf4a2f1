"""The table of figures: names to modules, imported when a figure is asked for and not before."""

import subprocess
import sys
from importlib import import_module

import pytest

from ordinate.papers import FIGURES


def papers_imported(code):
    """The modules of single papers that a fresh Python has after some code."""
    show = "import sys; print(*(m for m in sys.modules if m.startswith('ordinate.papers.')))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{show}"], capture_output=True, text=True, check=True
    )
    below = [name.removeprefix("ordinate.papers.") for name in done.stdout.splitlines()[-1].split()]
    return {name.partition(".")[0] for name in below} & {name.partition("/")[0] for name in FIGURES}


def test_the_table_imports_no_figure():
    code = "from ordinate.papers import FIGURES; len(FIGURES); list(FIGURES); 'arena/values' in FIGURES"
    assert papers_imported(code) == set()


@pytest.mark.parametrize("name", ["symmetry/fig-2a", "beyond/addition-1000", "positional/rope"])
def test_a_figure_imports_no_other_paper(name):
    code = f"from ordinate.app.cli.main import main; main(['reproduce', {name!r}, '--list'])"
    assert papers_imported(code) == {name.partition("/")[0]}


def test_every_figure_of_a_module_is_in_the_table_and_the_other_way_round():
    found = {
        figure.name: module
        for module in set(FIGURES.modules.values())
        for figure in import_module(f"ordinate.papers.{module}").FIGURES
    }
    assert found == dict(FIGURES.modules)
    assert all(FIGURES[name].name == name for name in FIGURES)
    assert all((figure.plan is None) != (figure.compute is None) for figure in FIGURES.values())
    with pytest.raises(KeyError):
        FIGURES["symmetry/fig-2"]
