"""What this machine can do is checked before a training starts."""

import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.lab.training import Recipe, train
from ordinate.lab.training.machine import check_memory, resolve_device

RECIPE = Recipe.parse(
    {
        "name": "large",
        "task": {"name": "sum"},
        "model": {"kind": "positional"},
        "training": {"steps": 2, "batch": 4096},
    }
)


def test_more_seeds_than_memory_are_refused_with_the_limit(tmp_path):
    with pytest.raises(OrdinateError, match=r"1000000 seeds at once need about .* GiB .* at most \d+ seeds"):
        train(RECIPE, range(1_000_000), store=str(tmp_path))
    assert not list(tmp_path.iterdir())


def test_no_seeds_are_refused():
    with pytest.raises(OrdinateError, match="0 seeds cannot be trained"):
        check_memory(RECIPE, 0)


def test_a_few_seeds_are_welcome():
    check_memory(RECIPE, 2)


def test_auto_takes_what_is_there():
    assert resolve_device("auto").type in ("cuda", "mps", "cpu")
    assert resolve_device("cpu") == torch.device("cpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(OrdinateError, match="'cuda' is not there"):
        resolve_device("cuda")
