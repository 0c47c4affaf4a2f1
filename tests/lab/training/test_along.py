"""What is measured along a training is that of the weights of that step."""

import pytest
import torch

from ordinate.lab.architectures import Positional
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Recipe, train
from ordinate.models import build_model


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


def test_a_loop_of_ones_own_that_never_changes_the_mode_sees_every_step():
    task = make_task("sum", length=4)
    model = build_model(Positional(layers=1, width=8, hidden=8), task, seed=0)
    optimizer = torch.optim.Adam(model.parameters(), 0.01, fused=True)
    batch = task.sample(8, generator=torch.Generator().manual_seed(0))
    seen = []
    for _ in range(3):
        with torch.no_grad():
            seen.append(model(batch.input, batch.coordinates))
        model(batch.input, batch.coordinates).square().mean().backward()
        optimizer.step()
    assert not torch.equal(seen[0], seen[1])
    assert not torch.equal(seen[1], seen[2])
