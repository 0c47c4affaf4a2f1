"""Weights from files: the model of a run, and first weights of a training.

A training may start from a compiled program or from an earlier run, with noise on the weights if asked. They are copied
into the store, under the hash of what they hold, and the recipe names the hash: a run depends on the weights and not on
where they once lay, and goes on when that folder is gone.
"""

import hashlib
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Run, Store, read_tensors, write_tensors
from ordinate.lab.seeds import derive, generator
from ordinate.lab.training.recipe import Initial, Recipe
from ordinate.models import Model, build_model

FOLDER = "initial"
"""Of a store, beside its runs."""
COMPILED = "model.safetensors"
"""In the folder of a compiled program."""


def load_model(run: Run | str | Path, step: int | None = None) -> Model:
    """Return the model of a run at a step (the last one by default), or of a checkpoint file.

    >>> model = load_model("runs/sum-1a2b3c4d5e/seed-0")                    # doctest: +SKIP
    """
    if isinstance(run, str | Path):
        path = Path(run)
        if path.is_file():
            return restore(*read_tensors(path), where=str(path))
        run = Run(path)
    return restore(*run.load_checkpoint(step), where=run.id)


def restore(tensors: dict[str, Tensor], meta: dict[str, Any], where: str) -> Model:
    """The model whose weights these are, built from the recipe in the meta of a checkpoint."""
    try:
        recipe = Recipe.parse(meta["recipe"])
        model = build_model(recipe.model, recipe.task, seed=0)
        model.to(next(iter(tensors.values())).dtype)
        model.load_state_dict(tensors)
    except (KeyError, RuntimeError, StopIteration) as error:
        first = str(error).strip().splitlines()[0]
        raise OrdinateError(f"{where} does not hold a model of this library: {first}") from None
    return model.eval()


def starting_from(recipe: Recipe, source: str, store: Store, *, noise: float = 0.0) -> Recipe:
    """The recipe, to start from the weights of a compiled program, of a run or of a checkpoint file.

    The weights must fit the recipe's model; a copy of them is kept in the store.

    >>> starting_from(recipe, "compiled/prefix-sum", Store("runs")).training.initial     # doctest: +SKIP
    Initial(weights='6c1f0a52be6f1c3d', noise=0.0)
    """
    tensors, meta = _read(source, store)
    if any(name.endswith("attention.source") for name in tensors):
        raise OrdinateError(
            f"{source} holds tables of sources, which cannot be trained: write it with ordinate compile --dense"
        )
    model = _model(meta)
    _check(build_model(recipe.model, recipe.task, seed=0), tensors, model)
    initial = Initial(weights=_hash(tensors), noise=noise)
    if not weights_file(store, initial.weights).exists():
        write_tensors(weights_file(store, initial.weights), tensors, {"model": model})
    training = recipe.training.model_copy(update={"initial": initial})
    return recipe.model_copy(update={"training": training})


def untrained_model(recipe: Recipe, seed: int, store: Store) -> Model:
    """The model of a seed with its first weights, random or those that the recipe starts from."""
    model = build_model(recipe.model, recipe.task, seed=derive(seed, "weights"))
    if recipe.training.initial is not None:
        start_from(model, recipe.training.initial, store, seed=seed)
    return model


def start_from(model: Model, initial: Initial, store: Store, *, seed: int) -> None:
    """Give a model the weights that a recipe starts from; noise depends on the seed alone."""
    path = weights_file(store, initial.weights)
    if not path.is_file():
        raise OrdinateError(
            f"the weights {initial.weights} to start from are not in {store.root}: add --init FOLDER"
        )
    tensors, meta = read_tensors(path)
    _check(model, tensors, meta["model"])
    model.load_state_dict(tensors)
    if initial.noise:
        add_noise(model, initial.noise, generator(seed, "initial noise"))


def add_noise(model: nn.Module, size: float, draw: torch.Generator) -> None:
    """Add normal noise to every unit's weights and bias: `size` times the root mean square of its weights.

    >>> linear = nn.Linear(2, 2)
    >>> with torch.no_grad():
    ...     _ = linear.weight.copy_(torch.tensor([[0.0, 0.0], [3.0, 4.0]])), linear.bias.zero_()
    >>> add_noise(linear, 0.1, torch.Generator().manual_seed(0))
    >>> linear.weight[0].tolist(), bool((linear.weight[1] != torch.tensor([3.0, 4.0])).all())
    ([0.0, 0.0], True)
    """
    with torch.no_grad():
        for module in model.modules():
            own = dict(module.named_parameters(recurse=False))
            scales = {name: _scale(value) for name, value in own.items()}
            if {"weight", "bias"} <= set(own):
                scales["bias"] = scales["weight"].reshape(own["bias"].shape)
            for name, value in own.items():
                noise = torch.randn(value.shape, generator=draw, dtype=torch.float64)
                value.add_((size * scales[name].cpu() * noise).to(value))


def _scale(value: Tensor) -> Float[Tensor, "..."]:
    """The root mean square of every row; of single numbers their size."""
    squares = value.double().square()
    return squares.sqrt() if value.ndim < 2 else squares.mean(-1, keepdim=True).sqrt()


def weights_file(store: Store, key: str) -> Path:
    """Where a store keeps weights to start from."""
    return store.root / FOLDER / f"{key}.safetensors"


def _read(source: str, store: Store) -> tuple[dict[str, Tensor], dict[str, Any]]:
    path = Path(source)
    if (path / COMPILED).is_file():
        return read_tensors(path / COMPILED)
    if path.is_file():
        return read_tensors(path)
    return store.find(source).load_checkpoint()


def _hash(tensors: dict[str, Tensor]) -> str:
    """16 hex digits of names, formats, shapes and numbers."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        value = tensors[name].contiguous()
        digest.update(f"{name} {value.dtype} {list(value.shape)}".encode())
        digest.update(value.view(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:16]


def _model(meta: dict[str, Any]) -> dict[str, Any]:
    """The settings of a model that fits the weights, as far as they are known."""
    if "recipe" in meta:
        return dict(meta["recipe"]["model"])
    if not {"layers", "heads", "width", "hidden"} <= set(meta):
        return {}
    sizes = {"layers": meta["layers"], "heads": meta["heads"], "width": meta["width"]}
    return {"kind": "positional", "input_positions": True, **sizes, "hidden": meta["hidden"]}


def _check(model: Model, tensors: dict[str, Tensor], known: dict[str, Any]) -> None:
    """Refuse weights of other names or shapes, and say which settings fit them."""
    wanted = {name: list(value.shape) for name, value in model.state_dict().items()}
    given = {name: list(value.shape) for name, value in tensors.items()}
    if wanted == given:
        return
    name = next(n for n in (*wanted, *given) if wanted.get(n) != given.get(n))
    here, there = (sizes.get(name, "missing") for sizes in (wanted, given))
    settings = {key: value for key, value in known.items() if not isinstance(value, list)}
    hint = " ".join(f"--set model.{key}={str(value).lower()}" for key, value in settings.items())
    raise OrdinateError(
        f"the weights to start from do not fit the recipe's model ({name}: {there} there, {here} here): "
        f"{f'write {hint}, and the length they are for' if hint else 'write the model that they are of'}"
    )
