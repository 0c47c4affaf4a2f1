"""The logits of distance in Inkling as class vectors: both say r_i . a_c, c the distance up to where it ends."""

from importlib import import_module
from typing import Any

import torch
from torch import nn

from ordinate.encodings import BuildSpec, ClassVectorEncoding, Pairwise
from ordinate.errors import OrdinateError
from ordinate.relations import causal, relative, window


def from_inkling(module: nn.Module, *, heads: int = 1) -> Pairwise:
    """The table of an `InklingRelativeLogits`, or of the layer that has one, as class vectors of a relation.

    Classes are the distances 0 .. rel_extent - 1 back; keys that are further away are plain. All heads share the
    vectors, and what looks for them is not the query but `r_proj` of the layer: position_bias[i, j] = r_i . a_{i - j}.

    >>> from transformers.models.inkling.modeling_inkling import InklingRelativeLogits
    >>> logits = InklingRelativeLogits(d_rel=2, rel_extent=3)
    >>> logits.proj.data = torch.arange(6.0).view(2, 3)
    >>> encoding = from_inkling(logits)
    >>> encoding.bound[0].names
    ['same place', '1 back', '2 back']
    >>> encoding.tables[0].tolist()
    [[[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]]]
    """
    logits: Any = getattr(module, "rel_logits_proj", module)
    if not isinstance(getattr(logits, "proj", None), nn.Parameter) or not hasattr(logits, "rel_extent"):
        raise OrdinateError(
            f"{type(module).__name__} has no table of distances: give the rel_logits_proj of an Inkling's layer"
        )
    width, extent = logits.proj.shape
    near = relative() * window(extent - 1, by="index")
    spec = BuildSpec(heads=getattr(module, "num_heads", heads), head_dim=width, trained=())
    encoding = Pairwise(relation=near | causal(), per_head=False, std=0.0).build(spec).to(logits.proj)
    with torch.no_grad():
        encoding.tables[0].copy_(logits.proj.T)
    return encoding


def to_inkling(encoding: ClassVectorEncoding) -> nn.Module:
    """The way back: an `InklingRelativeLogits` with these class vectors as its table.

    >>> near = Pairwise(relation=relative() * window(2), per_head=False)
    >>> logits = to_inkling(near.build(BuildSpec((), head_dim=4)))
    >>> tuple(logits.proj.shape), logits.rel_extent
    ((4, 3), 3)
    """
    if len(encoding.bound) != 1 or len(encoding.tables) != 1:
        raise OrdinateError(
            f"{len(encoding.bound)} groups of heads do not fit a table that all heads share: write one"
        )
    (bound,), table = encoding.bound, encoding.tables[0]
    if table.shape[:2] != (1, 1):
        raise OrdinateError(
            f"{table.shape[0]} layers of {table.shape[1]} heads do not fit one table: write per_head=False, one layer"
        )
    if bound.names != [relative().describe((distance,)) for distance in range(bound.classes)]:
        raise OrdinateError(
            f"{bound.relation} has other classes than 0, 1, ... back: write relative() * window(back)"
        )
    try:
        found = import_module("transformers.models.inkling.modeling_inkling")
    except ImportError:
        raise OrdinateError("this version of transformers has no Inkling: install a later one") from None
    logits: nn.Module = found.InklingRelativeLogits(table.shape[-1], bound.classes)
    logits.proj = nn.Parameter(table.detach()[0, 0].T.contiguous())
    return logits
