"""Files: the same figure gives the same bytes."""

from xml.etree import ElementTree

import pytest

from ordinate.lab.report.curves import value_curves
from ordinate.lab.report.drawing import figure_bytes, save_figure


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_same_data_gives_the_same_bytes(panels, kind):
    figure = value_curves(panels[:1])
    first = figure_bytes(figure, kind)
    assert first == figure_bytes(figure, kind), "saved twice"
    assert first == figure_bytes(value_curves(panels[:1]), kind), "drawn twice"


def test_writes_png_and_svg_beside_each_other(panels, tmp_path):
    paths = save_figure(value_curves(panels[:1]), tmp_path / "new" / "fig-2.a")
    assert [p.name for p in paths] == ["fig-2.a.png", "fig-2.a.svg"]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    assert ElementTree.parse(paths[1]).getroot().tag.endswith("svg")
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == ["fig-2.a.png", "fig-2.a.svg"]


def test_files_hold_no_date_and_no_version(panels):
    svg = figure_bytes(value_curves(panels[:1]), "svg").decode()
    assert "dc:date" not in svg
    assert "dc:creator" not in svg
    assert b"Software" not in figure_bytes(value_curves(panels[:1]), "png")
