"""A compiled program as a folder: `model.safetensors`, from which it is built again, and `program.json` to read."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from ordinate.attention import Attention, PositionalAttention, TableAttention
from ordinate.errors import OrdinateError
from ordinate.models import Transformer
from ordinate.models.transformer import append_dummy
from ordinate.positions.encodings import OneHot, Site, VectorEncoding
from ordinate.programs.compiler.bounds import error_bound
from ordinate.programs.compiler.compile import Compiled
from ordinate.programs.compiler.weights import with_queries_and_keys
from ordinate.runs.files import read_tensors, write_json, write_tensors
from ordinate.tasks.numbers.base import number_coordinates

MODEL = "model.safetensors"


def describe(compiled: Compiled) -> dict[str, Any]:
    """What a person wants to know about a compiled program."""
    program, dtype = compiled.program, compiled.model.encode.weight.dtype
    return {
        "program": program.name,
        "summary": program.summary,
        "inputs": [asdict(known) for known in program.ranges(compiled.n)],
        "dtype": str(dtype).removeprefix("torch."),
        **asdict(compiled.costs),
        "parameters": sum(p.numel() for p in compiled.model.parameters()),
        "error_bound": error_bound(compiled.allocation, dtype),
    }


def save(compiled: Compiled, folder: Path, *, dense: bool = False) -> None:
    """Write the model, with tables of sources or, on request, with query and key weights."""
    model = with_queries_and_keys(compiled.model) if dense else compiled.model
    facts = describe(compiled)
    sizes = {name: facts[name] for name in ("program", "n", "layers", "heads", "width", "hidden", "dtype")}
    meta = {**sizes, "features": model.features, "outputs": model.decode.out_features, "dense": dense}
    write_tensors(folder / MODEL, model.state_dict(), meta)
    write_json(folder / "program.json", {**facts, "dense": dense})


def load(folder: Path) -> Transformer:
    """The model that `save` wrote."""
    tensors, meta = read_tensors(folder / MODEL)
    try:
        n, width, heads, dtype = meta["n"], meta["width"], meta["heads"], getattr(torch, meta["dtype"])
        site = Site((append_dummy(number_coordinates(n)),), meta["layers"], heads, width)
        encoding = OneHot().build(site)
        attentions = [_attention(meta, tensors, encoding, layer) for layer in range(meta["layers"])]
        model = Transformer(
            meta["features"], meta["outputs"], meta["hidden"], attentions, encoding, embed_positions=True
        ).to(dtype)
        model.load_state_dict(tensors)
    except (KeyError, AttributeError, RuntimeError) as error:
        raise OrdinateError(
            f"{folder / MODEL} is no compiled program: write it with ordinate compile --out"
        ) from error
    return model.requires_grad_(False).eval()


def _attention(
    meta: dict[str, Any], tensors: dict[str, torch.Tensor], encoding: VectorEncoding, layer: int
) -> Attention:
    if meta["dense"]:
        return PositionalAttention(meta["width"], meta["heads"], encoding, layer)
    place = f"layers.{layer}.attention"
    return TableAttention(meta["width"], tensors[f"{place}.source"], tensors[f"{place}.weight"], layer)
