"""Parts of a model that can be set to zero, layers, heads, classes of pairs, and the learned vectors of its classes."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from ordinate.attention import patched
from ordinate.attention.hooks import Patch
from ordinate.coordinates import Coordinates
from ordinate.encodings import ClassVectorEncoding, Combined
from ordinate.lab.architectures import ConcatTransformer
from ordinate.lab.architectures.concat import append_dummy
from ordinate.lab.evaluation.sweep import run_model
from ordinate.lab.explain.explanation import rounded
from ordinate.lab.explain.passes import weight_hooks
from ordinate.models import Encoder
from ordinate.relations import BoundRelation


@dataclass(frozen=True)
class Part:
    """A part, and what hooks do at some coordinates to set it to zero."""

    name: str
    kind: str
    """`layer`, `head` or `class`."""
    patches: Callable[[Coordinates], Mapping[str, Patch]]


def run_without(
    model: nn.Module, part: Part, x: Tensor, coordinates: Coordinates
) -> Float[Tensor, "batch token out"]:
    """The outputs of a model with a part set to zero."""
    with patched(model, part.patches(coordinates)):
        return run_model(model, x, coordinates)


def attention_parts(model: nn.Module) -> Iterator[Part]:
    """Every layer, and behind it every one of its heads."""
    for hook, layer in weight_hooks(model).items():
        place = hook.removesuffix(".weights")
        nothing = {f"{place}.output": torch.zeros_like}
        yield Part(f"layer {layer + 1}", "layer", partial(_always, nothing))
        heads = model.get_submodule(place).heads
        assert isinstance(heads, int)
        for head in range(heads):
            without = {f"{place}.values": partial(_without_head, head)}
            yield Part(f"layer {layer + 1}, head {head + 1}", "head", partial(_always, without))


def class_parts(model: nn.Module) -> Iterator[Part]:
    """Every class of pairs of the encoding, in all layers at once; none where it has no classes."""
    encoding = pairwise_encoding(model)
    if encoding is None:
        return
    first = 0
    for heads, bound in zip(encoding.heads, encoding.bound, strict=True):
        which = slice(first, first + heads)
        where = f"heads {first + 1} to {first + heads}: " if len(encoding.heads) > 1 else ""
        for number, name in enumerate(bound.names):
            yield Part(f"{where}{name}", "class", partial(_without_class, model, bound, number, which))
        first += heads


def _always(patches: Mapping[str, Patch], coordinates: Coordinates) -> Mapping[str, Patch]:
    return patches


def _without_head(
    head: int, values: Float[Tensor, "batch head token dim"]
) -> Float[Tensor, "batch head token dim"]:
    return values.index_fill(1, torch.tensor(head, device=values.device), 0.0)


def _without_class(
    model: nn.Module, bound: BoundRelation, number: int, heads: slice, coordinates: Coordinates
) -> dict[str, Patch]:
    if isinstance(model, ConcatTransformer):
        coordinates = append_dummy(coordinates)
    met: Counter[str] = Counter()

    def cut(
        name: str, masks: list[Bool[Tensor, "query key"]], weights: Float[Tensor, "*batch head query key"]
    ) -> Float[Tensor, "*batch head query key"]:
        mask = masks[met[name] % len(masks)].to(weights.device)
        met[name] += 1
        left = weights.clone()
        left[..., heads, :, :] = weights[..., heads, :, :].masked_fill(mask, 0.0)
        return left

    patches: dict[str, Patch] = {}
    for name, layer in weight_hooks(model).items():
        relations = relations_of(model, bound, layer)
        masks = [relation.pattern(coordinates).dense == number for relation in relations]
        patches[name] = partial(cut, name, masks)
    return patches


def relations_of(model: nn.Module, bound: BoundRelation, layer: int) -> list[BoundRelation]:
    """The relation in each loop that passes a layer, outside training."""
    return [bound.at_loop(loop) for loop in model.loops_of(layer)] if isinstance(model, Encoder) else [bound]


@dataclass(frozen=True)
class ClassVectors:
    """The vectors of neighbouring heads that share a relation; heads that share one table have one map."""

    relation: str
    heads: tuple[int, int]
    """The first head, and the one behind the last."""
    names: tuple[str, ...]
    vectors: Float[Tensor, "layer head cls dim"]

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        return {
            "relation": self.relation,
            "heads": list(self.heads),
            "names": list(self.names),
            "vectors": rounded(self.vectors),
        }


def pairwise_encoding(model: nn.Module) -> ClassVectorEncoding | None:
    """The encoding of a model that has classes of pairs, where there is one."""
    encoding = getattr(model, "encoding", None)
    parts = encoding.parts if isinstance(encoding, Combined) else [encoding]
    return next((part for part in parts if isinstance(part, ClassVectorEncoding)), None)


def class_vectors(model: nn.Module) -> tuple[ClassVectors, ...]:
    """The vectors of a model, group of heads by group; none where its encoding has no classes.

    >>> from ordinate.models import ResidualEncoder, build_model
    >>> from ordinate.lab.tasks import make_task
    >>> (found,) = class_vectors(build_model(ResidualEncoder(), make_task("addition", width=5), seed=0))
    >>> found.heads, tuple(found.vectors.shape), found.names[0]
    ((0, 4), (4, 1, 25, 16), '12 ahead')
    """
    encoding = pairwise_encoding(model)
    if encoding is None:
        return ()
    tables, found, first = iter(encoding.tables), [], 0
    for heads, bound in zip(encoding.heads, encoding.bound, strict=True):
        if bound.classes:
            vectors = next(tables).detach()
            found.append(
                ClassVectors(str(bound.relation), (first, first + heads), tuple(bound.names), vectors)
            )
        first += heads
    return tuple(found)
