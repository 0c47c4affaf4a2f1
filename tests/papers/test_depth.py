"""The depth of compiled programs: counted, within the theorem, drawn."""

from ordinate.lab.programs.collection import PROGRAMS, STATIC
from ordinate.papers import FIGURES
from ordinate.papers.positional import depth as module
from tests.papers.inline import Inline

FIGURE = FIGURES["positional/depth"]
PANELS_AS_SHIPPED = module.PANELS
PANELS = {"log n": ("prefix-sum", "addition"), "log² n": ("sort",)}
DRAWN = [PROGRAMS[name] for names in PANELS.values() for name in names]


def test_programs_are_counted_and_within_the_theorem(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "STATIC", DRAWN)  # three of them: all take longer
    monkeypatch.setattr(module, "PANELS", PANELS)
    result = FIGURE.reproduce("smoke", tmp_path, engine=Inline())
    rows = result.document["rows"]
    assert {(row["program"], row["n"]) for row in rows} == {(p.name, n) for p in DRAWN for n in (8, 16)}
    assert all(row["layers"] <= row["layer_bound"] and row["heads"] <= row["head_bound"] for row in rows)
    depth, heads, scan = result.claims
    assert depth.measured.estimate == max(row["layers"] / row["layer_bound"] for row in rows)
    assert (heads.measured.estimate, scan.measured.estimate) == (1, 0)
    assert {claim.verdict for claim in result.claims} == {None}
    above, below, sorts, _ = FIGURE.draw(result.document).axes
    assert (above.get_xscale(), above.get_yscale(), below.get_yscale()) == ("log", "linear", "log")
    assert [len(axes.lines) for axes in (above, below, sorts)] == [2, 4, 1]
    assert [list(line.get_ydata()) for line in below.lines[:2]] == [[3, 4], [18, 32]]
    assert len(result.table[1]) == 2 * len(DRAWN)


def test_the_figure_draws_programs_that_are_static():
    assert {name for names in PANELS_AS_SHIPPED.values() for name in names} <= {p.name for p in STATIC}
