"""Pictures of explanations name every token, and stay within their paper."""

import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg

from ordinate.lab.architectures import Decoder
from ordinate.lab.explain import Ablated, Ablation, class_vectors, explain
from ordinate.lab.report.answers import answer_places
from ordinate.lab.report.classes import class_maps, map_of
from ordinate.lab.report.explanation import ablation_bars, attention_grid, output_labels, used_positions
from ordinate.lab.tasks import make_task
from ordinate.models import ResidualEncoder, build_model


@pytest.fixture(scope="module")
def found():
    task = make_task("addition", digits=3, width=4)
    model = build_model(ResidualEncoder(layers=2, heads=3, width=12, hidden=8), task, seed=0)
    return model, explain(model, task, "199+1")


def texts(figure):
    """Everything that is written, and whether all of it is on the paper."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    paper = figure.bbox
    found = figure.findobj(match=lambda artist: hasattr(artist, "get_text"))
    shown = [text for text in found if text.get_visible() and text.get_text().strip()]
    for text in shown:
        if any(
            letter.isalpha() for letter in text.get_text()
        ):  # ticks beyond a scale are there, and not drawn
            box = text.get_window_extent(renderer)
            assert paper.x0 - 2 <= box.x0 <= box.x1 <= paper.x1 + 2, text.get_text()
            assert paper.y0 - 2 <= box.y0 <= box.y1 <= paper.y1 + 2, text.get_text()
    return [text.get_text() for text in shown]


def test_attention_has_a_panel_a_head_and_names_all_tokens(found):
    figure = attention_grid(found[1])
    assert len(figure.axes) == 2 * 3 + 1
    written = texts(figure)
    assert "layer 2, head 3" in written
    for label in ("· first 3", "9 first 0", "+ second 4", "1 second 0"):
        assert written.count(label) == 2 + 3  # left of both layers, under all heads
    assert torch.tensor(figure.axes[4].images[0].get_array().data).equal(found[1].attention[1, 1])


def test_used_positions_are_beside_each_other(found):
    figure = used_positions(found[1])
    written = texts(figure)
    assert {"attention rollout", "effect of a change on the model", "effect on the right answer"} <= set(
        written
    )
    assert set(output_labels(found[1])) <= set(written)


def test_the_answer_place_by_place(found):
    written = texts(answer_places(found[1]))
    assert written.count("carry in") == 1
    assert {"first", "second", "answer", "right", "probability", "place"} <= set(written)


def test_long_answers_go_on_in_bands_and_labels_thin_out():
    task = make_task("addition", digits=40)
    model = build_model(ResidualEncoder(layers=1, heads=1, width=8, hidden=8), task, seed=0)
    long = explain(model, task, "1" * 40 + "+2")
    assert texts(answer_places(long)).count("answer") == 2
    written = texts(attention_grid(long))
    assert 30 < len({label for label in written if "first" in label or "second" in label}) <= 52


def test_fields_that_share_places_have_rows_of_their_own():
    task = make_task("k-hop", length=6, hops=1)
    found = explain(build_model(Decoder(layers=1), task, seed=0), task, "1 abcabc")
    assert {"answer hops", "answer letter"} <= set(texts(answer_places(found)))


def test_maps_of_classes_and_bars_of_parts(found):
    (vectors,) = class_vectors(found[0])
    figure = class_maps({"": map_of(vectors)})
    assert {"layer 1", "layer 2", vectors.names[0]} <= set(texts(figure))
    rows = (Ablated("layer 1", "layer", 0.5, -0.5, 1.0), Ablated("same place", "class", 0.9, -0.1, 0.2))
    assert {"layer 1", "same place", "class"} <= set(
        texts(ablation_bars(Ablation("length", 3.0, 10, 1.0, 0.0, rows)))
    )
