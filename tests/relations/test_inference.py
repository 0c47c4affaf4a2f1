"""What is kept of positions are ordinary tensors: a model that was asked in inference mode can then be trained."""

import pytest
import torch

from ordinate.attention import ContentClass
from ordinate.encodings import ENCODINGS, Pairwise
from ordinate.kinds import choose
from ordinate.lab.tasks import make_task
from ordinate.models import ResidualEncoder, build_model
from ordinate.relations import relative, window
from tests.encodings.test_encodings import DEFINED

FIRST = 31
"""Lengths that no other test has, so that nothing of them is kept yet."""


def asked_then_trained(length, encoding, **options):
    task = make_task("sum", length=length)
    settings = ResidualEncoder(layers=1, heads=2, width=16, hidden=16, encoding=(encoding,), **options)
    model = build_model(settings, task, seed=0)
    batch = task.sample(2, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        asked = model.eval()(batch.input, batch.coordinates)
    trained = model(batch.input, batch.coordinates)
    trained.sum().backward()
    torch.testing.assert_close(trained, asked.clone())
    assert all(p.grad is not None for p in model.decode.parameters())


OPTIONS = DEFINED | {"upe": {"clip": 4, "fields": ["number"]}}


@pytest.mark.parametrize(("length", "name"), [*enumerate(OPTIONS, FIRST)])
def test_every_encoding(length, name):
    asked_then_trained(length, choose({"kind": name, **OPTIONS[name]}, ENCODINGS, "encoding"))


@pytest.mark.parametrize(("tokens", "kind"), [(80, {}), (500, {}), (81, {"attention": ContentClass()})])
def test_declared_relations_dense_and_sparse(tokens, kind):
    asked_then_trained(tokens, Pairwise(relation=relative(clip=2) * window(2)), **kind)
