"""A compiled program as a folder: `model.safetensors`, from which it is built again, and `program.json` to read.

The folder opens wherever that of a run does: the model is an ordinary one of the library, which refuses inputs outside
the ranges that it was compiled for.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ordinate.encodings import BuildSpec, OneHot, VectorEncoding
from ordinate.errors import OrdinateError
from ordinate.lab.architectures import ConcatAttention, ConcatTransformer, PositionalAttention
from ordinate.lab.architectures.concat import append_dummy
from ordinate.lab.programs.compiler.bounds import error_bound
from ordinate.lab.programs.compiler.compile import Compiled
from ordinate.lab.programs.compiler.labels import Labels, Message, labels
from ordinate.lab.programs.compiler.weights import with_queries_and_keys
from ordinate.lab.programs.language.ranges import Range
from ordinate.lab.programs.program import check_ranges
from ordinate.lab.programs.table import TableAttention
from ordinate.lab.runs.files import read_json, read_tensors, write_json, write_tensors
from ordinate.lab.tasks.numbers import number_coordinates

MODEL, FACTS = "model.safetensors", "program.json"


def is_compiled(folder: Path) -> bool:
    """Whether a folder is that of a compiled program."""
    return (folder / MODEL).is_file() and (folder / FACTS).is_file()


def read_description(folder: Path) -> dict[str, Any]:
    """What `describe` told of a compiled program."""
    facts = read_json(folder / FACTS)
    if not isinstance(facts, dict) or not {"program", "n", "inputs", "columns"} <= set(facts):
        raise OrdinateError(
            f"{folder / FACTS} does not describe a compiled program: compile it again with --out"
        )
    return facts


def read_labels(facts: dict[str, Any]) -> Labels:
    """The labels in a description."""
    messages = (
        [Message(head["source"], tuple(head["words"])) for head in layer] for layer in facts["messages"]
    )
    return Labels(tuple(map(tuple, facts["columns"])), tuple(map(tuple, messages)))


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
        **labels(compiled.allocation).to_dict(),
    }


def save(compiled: Compiled, folder: Path, *, dense: bool = False) -> None:
    """Write the model, with tables of sources or, on request, with query and key weights."""
    model = with_queries_and_keys(compiled.model) if dense else compiled.model
    facts = describe(compiled)
    kept = ("program", "inputs", "n", "layers", "heads", "width", "hidden", "dtype")
    sizes = {name: facts[name] for name in kept}
    meta = {**sizes, "features": model.features, "outputs": model.decode.out_features, "dense": dense}
    write_tensors(folder / MODEL, model.state_dict(), meta)
    write_json(folder / FACTS, {**facts, "dense": dense})


def load(folder: Path) -> ConcatTransformer:
    """The model that `save` wrote; it refuses inputs outside the stated ranges."""
    return restore(*read_tensors(folder / MODEL), where=folder / MODEL)


def restore(tensors: dict[str, torch.Tensor], meta: dict[str, Any], where: Path) -> ConcatTransformer:
    """The model whose weights these are, built from the meta beside them."""
    try:
        n, width, heads, dtype = meta["n"], meta["width"], meta["heads"], getattr(torch, meta["dtype"])
        spec = BuildSpec((append_dummy(number_coordinates(n)),), meta["layers"], heads, width)
        encoding = OneHot().build(spec)
        attentions = [_attention(meta, tensors, encoding, layer) for layer in range(meta["layers"])]
        model = ConcatTransformer(
            meta["features"], meta["outputs"], meta["hidden"], attentions, encoding, embed_positions=True
        ).to(dtype)
        model.load_state_dict(tensors)
        ranges = [Range(**known) for known in meta["inputs"]]
    except (KeyError, AttributeError, RuntimeError, TypeError) as error:
        raise OrdinateError(
            f"{where} is no compiled program: write it with ordinate compile --out"
        ) from error

    def check(_: nn.Module, given: tuple[Any, ...]) -> None:
        check_ranges(meta["program"], ranges, given[0].double().numpy())

    model.register_forward_pre_hook(check)
    return model.requires_grad_(False).eval()


def _attention(
    meta: dict[str, Any], tensors: dict[str, torch.Tensor], encoding: VectorEncoding, layer: int
) -> ConcatAttention:
    if meta["dense"]:
        return PositionalAttention(meta["width"], meta["heads"], encoding, layer)
    place = f"layers.{layer}.attention"
    return TableAttention(meta["width"], tensors[f"{place}.source"], tensors[f"{place}.weight"], layer)
