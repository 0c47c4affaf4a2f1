"""Models with our attention from the files that `save_pretrained` wrote: as they were, or a refusal."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import transformers
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import nn
from transformers import PreTrainedModel
from transformers.utils import logging

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.hub.attention import NAME
from ordinate.hub.entry import CONFIG, digest, read_config, read_entry
from ordinate.hub.places import Standing, in_a_row
from ordinate.hub.put import Host, put_attention

WEIGHTS = "model.safetensors"
PUT_IN = re.compile(r"(^|\.)(class_vectors|encodings)\.")
"""In the names of weights that `put_attention` made."""


def load(folder: str | Path, *, coordinates: Callable[[int], Coordinates] = in_a_row) -> Any:
    """The model that was saved after `put_attention`: the host of config.json, its attention, all weights.

    `coordinates`: those that `put_attention` was given, since a function is in no file.

    >>> model = load("with-shaw")    # doctest: +SKIP
    """
    folder = Path(folder)
    entry, kind = read_entry(folder), _kind(folder)
    stored = _stored(folder)
    if digest(Standing(coordinates)(entry.trained)) != entry.coordinates:
        raise OrdinateError(
            f"tokens of {folder} have other coordinates: write load(folder, coordinates=...) with those that "
            "put_attention was given"
        )
    try:
        with _in_silence():
            model, told = kind.from_pretrained(folder, attn_implementation=NAME, output_loading_info=True)
        plain = set(model.state_dict())
        put_attention(
            model,
            entry.encoding,
            coordinates=coordinates,
            form=entry.form,
            positions=entry.positions,
            trained=entry.trained,
        )
        _read(model, stored, plain, told)
        model.config._name_or_path = ""
    except (SafetensorError, RuntimeError, OSError) as error:
        raise OrdinateError(
            f"{folder / WEIGHTS} does not hold the model of {CONFIG}: {_one_line(error)}"
        ) from None
    return model.eval()


def _read(model: nn.Module, stored: dict[str, Path], plain: set[str], told: dict[str, Any]) -> None:
    """What was put in; and whether the weights of the host are all there, and no others."""
    names = set(model.state_dict(keep_vars=True))
    ours = {name for name in names if PUT_IN.search(name)}
    missing = (told["missing_keys"] & names) | (ours - stored.keys())
    unexpected = {name for name in told["unexpected_keys"] if name not in ours} | (
        plain - names - told["missing_keys"]
    )
    if missing or unexpected:
        raise RuntimeError(f"Missing: {sorted(missing)}, unexpected: {sorted(unexpected)}")
    parameters = dict(model.named_parameters())
    for name in ours:
        with safe_open(stored[name], "pt") as file:
            tensor = file.get_tensor(name)
        if tensor.shape != parameters[name].shape:
            raise RuntimeError(
                f"size mismatch for {name}: {list(tensor.shape)} instead of {list(parameters[name].shape)}"
            )
        parameters[name].data = tensor
    for parameter in model.parameters():
        parameter.data = (
            parameter.data.clone()
        )  # from where a file begins in memory, sums can round otherwise


def _stored(folder: Path) -> dict[str, Path]:
    """The file of every weight: one for all, or those of an index."""
    index = folder / f"{WEIGHTS}.index.json"
    if index.is_file():
        return {name: folder / file for name, file in json.loads(index.read_text())["weight_map"].items()}
    _find_weights(folder)
    try:
        with safe_open(folder / WEIGHTS, "pt") as file:
            return dict.fromkeys(file.keys(), folder / WEIGHTS)
    except SafetensorError as error:
        raise OrdinateError(
            f"{folder / WEIGHTS} does not hold the model of {CONFIG}: {_one_line(error)}"
        ) from None


@contextmanager
def _in_silence() -> Iterator[None]:
    """What transformers would say of weights that it does not know is said of none here."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


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
