"""The depth of compiled programs: counted, within the theorem, drawn."""

from ordinate.papers import FIGURES
from ordinate.programs.collection import STATIC
from ordinate.runs import LocalEngine

FIGURE = FIGURES["positional/depth"]


def test_every_static_program_is_counted_and_within_the_theorem(tmp_path):
    result = FIGURE.reproduce("smoke", tmp_path, engine=LocalEngine(workers=1))
    rows = result.document["rows"]
    assert {(row["program"], row["n"]) for row in rows} == {(p.name, n) for p in STATIC for n in (8, 16, 32)}
    assert all(row["layers"] <= row["layer_bound"] and row["heads"] <= row["head_bound"] for row in rows)
    depth, heads, scan = result.claims
    assert depth.measured.estimate == max(row["layers"] / row["layer_bound"] for row in rows)
    assert (heads.measured.estimate, scan.measured.estimate) == (1, 0)
    assert {claim.verdict for claim in result.claims} == {None}
    above, below, sorts, _ = FIGURE.draw(result.document).axes
    assert (above.get_xscale(), above.get_yscale(), below.get_yscale()) == ("log", "linear", "log")
    assert [len(axes.lines) for axes in (above, below, sorts)] == [5, 10, 3]
    assert [list(line.get_ydata()) for line in below.lines[:2]] == [[3, 4, 5], [18, 32, 50]]
    assert len(result.table[1]) == 2 * len(STATIC)
