"""Models with our attention from the files that `save_pretrained` wrote: as they were, or a refusal."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from safetensors.torch import load_file, load_model
from torch import nn
from transformers import GenerationConfig, PreTrainedModel

from ordinate.coordinates import Coordinates
from ordinate.encodings import Encoding
from ordinate.errors import OrdinateError
from ordinate.hub.attention import NAME, Standing, in_a_row
from ordinate.hub.entry import CONFIG, digest, read_config, read_entry
from ordinate.hub.put import Host, put_attention

WEIGHTS = "model.safetensors"
GENERATION = "generation_config.json"
PUT_IN = re.compile(r"(^|\.)(class_vectors|encodings)\.")
"""In the names of weights that `put_attention` made."""


def load(folder: str | Path, *, coordinates: Callable[[int], Coordinates] = in_a_row) -> Any:
    """The model that was saved after `put_attention`: the host of config.json, its attention, all weights.

    `coordinates`: those that `put_attention` was given, since a function is in no file.

    >>> model = load("with-shaw")    # doctest: +SKIP
    """
    folder = Path(folder)
    entry, kind = read_entry(folder), _kind(folder)
    _find_weights(folder)
    if digest(Standing(coordinates)(entry.trained)) != entry.coordinates:
        raise OrdinateError(
            f"tokens of {folder} have other coordinates: write load(folder, coordinates=...) with those that "
            "put_attention was given"
        )
    config = kind.config_class.from_pretrained(folder, attn_implementation=NAME)
    model = put_attention(
        kind(config),
        entry.encoding,
        coordinates=coordinates,
        form=entry.form,
        positions=entry.positions,
        trained=entry.trained,
    )
    try:
        _take_precision(model, folder / WEIGHTS)
        load_model(model, folder / WEIGHTS)
    except (SafetensorError, RuntimeError) as error:
        raise OrdinateError(
            f"{folder / WEIGHTS} does not hold the model of {CONFIG}: {_one_line(error)}"
        ) from None
    if model.can_generate() and (folder / GENERATION).is_file():
        model.generation_config = GenerationConfig.from_pretrained(folder)
    return model.eval()


def _take_precision(model: nn.Module, weights: Path) -> None:
    """The precision of every weight, which is not one for all in some hosts."""
    stored = {name: tensor.dtype for name, tensor in load_file(weights).items()}
    precision = torch.float32
    for name, parameter in model.named_parameters():
        precision = stored.get(name, precision)
        parameter.data = parameter.data.to(precision)
    for module in model.modules():
        if isinstance(module, Encoding):  # its buffers are in no file
            module.to(precision)


def load_class_vectors(model: Host, folder: str | Path) -> Host:
    """Read the class vectors alone, into a model with the same attention: one with another head, for example.

    Parameters of other encodings are read in the same way.
    """
    base, folder = getattr(model, "base_model", model), Path(folder)
    wanted = {name for name in base.state_dict() if PUT_IN.search(name)}
    if not wanted:
        raise OrdinateError("this model has no class vectors yet: write put_attention(model, ...) first")
    _find_weights(folder)
    read_entry(folder).check(base.config, folder)
    path = folder / WEIGHTS
    try:
        tensors = load_file(path)
        found = {name.removeprefix(f"{base.base_model_prefix}."): tensor for name, tensor in tensors.items()}
        base.load_state_dict({name: found[name] for name in wanted}, strict=False)
    except KeyError as error:
        raise OrdinateError(f"{path} holds no {error}: save a model after put_attention") from None
    except (SafetensorError, RuntimeError) as error:
        raise OrdinateError(f"{path} holds class vectors of another model: {_one_line(error)}") from None
    return model


def _kind(folder: Path) -> type[PreTrainedModel]:
    """The class of the host."""
    names = read_config(folder).get("architectures") or ["no model"]
    found = getattr(transformers, str(names[0]), None)
    if not (isinstance(found, type) and issubclass(found, PreTrainedModel)):
        raise OrdinateError(
            f"{folder / CONFIG} is of {names[0]}, which transformers does not have: make yours, then write "
            "put_attention(model, ...) and load_class_vectors(model, folder)"
        )
    return found


def _find_weights(folder: Path) -> None:
    if not (folder / WEIGHTS).is_file():
        raise OrdinateError(f"{folder} holds no {WEIGHTS}: write it with save_pretrained")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
