"""Shares of batches among processes; trainings in several processes are in tests/slow."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.lab.architectures import Positional
from ordinate.lab.tasks import make_task
from ordinate.lab.training.machine import World
from ordinate.lab.training.member import loss
from ordinate.models import build_model

TASK = make_task("sum", length=3)


@given(st.integers(1, 9), st.integers(1, 5))
def test_shares_are_a_partition_and_their_weighted_mean_is_the_whole(count, size):
    batch = TASK.sample(count, generator=torch.Generator().manual_seed(count))
    model = build_model(Positional(width=4, hidden=4, layers=1), TASK, seed=0).double()
    scored = TASK.scored(batch.coordinates)

    def loss_of(part):
        return loss(model(part.input.double(), part.coordinates), part.target.double(), scored)

    shares = [World(rank, size).share(batch) for rank in range(size)]
    seen = torch.cat([part.input for part, weight in shares if weight])
    assert torch.equal(seen.flatten().sort().values, batch.input.flatten().sort().values)
    mean = sum(weight * loss_of(part) for part, weight in shares) / size
    torch.testing.assert_close(mean, loss_of(batch))


def test_a_process_alone_has_all(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    world, batch = World.here(), TASK.sample(4, generator=torch.Generator())
    assert world.first
    assert world.share(batch) == (batch, 1.0)
    assert world.broadcast_from_rank0("x") == "x"


def test_what_the_starter_says_is_read(monkeypatch):
    monkeypatch.setenv("RANK", "2")
    monkeypatch.setenv("WORLD_SIZE", "3")
    assert World.here() == World(2, 3)
    assert not World.here().first
