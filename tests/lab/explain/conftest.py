"""Small models that answer nothing right, and one that adds by hand."""

import pytest
import torch

from ordinate.encodings import Pairwise
from ordinate.lab.tasks import make_task
from ordinate.models import ResidualEncoder, build_model
from ordinate.relations import aligned, window

ADDITION = make_task("addition", digits=3, width=4)


@pytest.fixture(scope="session")
def addition():
    return ADDITION


@pytest.fixture(scope="session")
def encoder():
    """Two layers over the places that addition needs."""
    relation = aligned() * window(back=2)
    settings = ResidualEncoder(
        layers=2, heads=2, width=16, hidden=16, encoding=(Pairwise(relation=(relation,)),)
    )
    return build_model(settings, ADDITION, seed=0).eval()


class ByHand(torch.nn.Module):
    """The reference of a task as a model: all probability on the right symbol."""

    def __init__(self, task):
        super().__init__()
        self.task, self.scale = task, torch.nn.Parameter(torch.tensor(100.0))

    def forward(self, x, coordinates):
        return self.scale * torch.nn.functional.one_hot(
            self.task.reference(x, coordinates), self.task.outputs
        )


@pytest.fixture(scope="session")
def by_hand():
    return ByHand
