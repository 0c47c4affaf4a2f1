"""What is measured along a training is that of the weights of that step."""

import pytest

from ordinate.training import Recipe, train


@pytest.mark.parametrize("kind", ["positional", "standard"])
def test_scores_at_the_end_do_not_depend_on_measuring_before(tmp_path, kind):
    found = []
    for every in (None, 4):
        document = {
            "name": "tiny",
            "task": {"name": "sum", "length": 4},
            "model": {"kind": kind, "width": 8, "hidden": 8, "layers": 1},
            "training": {"steps": 8, "batch": 16},
            "evaluation": {"count": 40, **({"every": every} if every else {})},
        }
        (run,) = train(Recipe.parse(document), [0], store=str(tmp_path))
        found.append(run.record()["scores"])
    assert found[0] == found[1]
    (along,) = [row for row in run.metrics() if "validation" in row]
    assert along["validation"] != found[0]["validation"]
