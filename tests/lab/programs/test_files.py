"""A compiled program is written as a folder and read again."""

import numpy as np
import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.lab.architectures import ConcatTransformer, Positional, PositionalAttention
from ordinate.lab.programs.collection import PROGRAMS
from ordinate.lab.programs.compiler.compile import compile_program, run
from ordinate.lab.programs.files import load, save
from ordinate.lab.programs.table import TableAttention
from ordinate.lab.runs.files import read_json, write_tensors
from ordinate.lab.tasks import make_task
from ordinate.models import build_model


@pytest.mark.parametrize(("dense", "kind"), [(False, TableAttention), (True, PositionalAttention)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_is_read_computes_what_was_written(tmp_path, dense, kind, dtype):
    compiled = compile_program(PROGRAMS["prefix-min"], 8, dtype)
    save(compiled, tmp_path / "new" / "folder", dense=dense)
    model = load(tmp_path / "new" / "folder")
    assert all(type(block.attention) is kind for block in model.blocks)
    assert model.encode.weight.dtype == dtype
    inputs = compiled.program.sample(8, 20, np.random.default_rng(0))
    assert np.array_equal(run(model, inputs, 8, compiled.allocation), compiled(inputs))
    facts = read_json(tmp_path / "new" / "folder" / "program.json")
    assert (facts["program"], facts["n"], facts["error_bound"], facts["dense"]) == ("prefix-min", 8, 0, dense)


def test_the_dense_model_has_the_parameters_that_training_has(tmp_path):
    """A trained model M1 of the same sizes takes the compiled weights and answers its task without error."""
    compiled = compile_program(PROGRAMS["prefix-sum"], 8)
    save(compiled, tmp_path, dense=True)
    task = make_task("sum", length=8)
    costs = compiled.costs
    settings = Positional(
        input_positions=True, layers=costs.layers, heads=costs.heads, width=costs.width, hidden=costs.hidden
    )
    model = build_model(settings, task, seed=0)
    assert isinstance(model, ConcatTransformer)
    model.load_state_dict(load(tmp_path).state_dict())
    batch = task.sample(100, generator=torch.Generator().manual_seed(0), scale=10.0)
    with torch.no_grad():
        assert (model(batch.input, batch.coordinates) - batch.target).abs().max() < 1e-4


def test_another_file_is_refused(tmp_path):
    with pytest.raises(OrdinateError, match="cannot read"):
        load(tmp_path)
    write_tensors(tmp_path / "model.safetensors", {"x": torch.zeros(1)}, {"n": 3})
    with pytest.raises(OrdinateError, match="is no compiled program"):
        load(tmp_path)
