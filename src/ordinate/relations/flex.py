"""Patterns in the form of PyTorch's FlexAttention: which pairs attend, as a function of indices and as a block mask."""

from collections.abc import Callable
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, create_block_mask

from ordinate.coordinates import ordinary_tensors
from ordinate.relations.pattern import ABSENT, Pattern

MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
"""Whether a pair attends, from the indices of its sample, head, query and key."""

_KEPT: "WeakKeyDictionary[Pattern, dict[torch.device, BlockMask]]" = WeakKeyDictionary()


def mask_mod(pattern: Pattern, device: torch.device) -> MaskMod:
    """Whether a pair is attended, looked up."""
    with ordinary_tensors():
        attended = pattern.dense != ABSENT
    attended = attended.to(device)
    return lambda batch, head, query, key: attended[query, key]


def block_mask(pattern: Pattern, device: torch.device) -> BlockMask:
    """The blocks of pairs that have any; made once for a device."""
    kept = _KEPT.setdefault(pattern, {})
    if device not in kept:
        tokens = pattern.tokens
        kept[device] = create_block_mask(
            mask_mod(pattern, device), None, None, tokens, tokens, device=str(device)
        )
    return kept[device]
