"""Where the tokens of a host stand, and which of them it lets see each other.

Tokens stand where `coordinates` says, counted from the first token that is not padding; in packed texts
every text begins anew, and where a sliding cache has dropped its oldest keys the others stay where they were. Only the
mask knows all of this, so the mask says it: `class_mask` makes whole numbers, the place p of a key where it is attended
and -1 - p where it is not, with one more column, by which no mask of a user is taken for one.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.functional import pad
from transformers.masking_utils import bidirectional_mask_function, causal_mask_function, sdpa_mask

from ordinate.coordinates import Coordinates
from ordinate.encodings.helpers import Cache
from ordinate.errors import OrdinateError


def in_a_row(tokens: int) -> Coordinates:
    """Tokens of one text, one after another: where they stand unless something else is said."""
    return Coordinates.of(text=range(tokens))


class Standing:
    """Where the tokens of a sequence stand, by their number; asked once for every number."""

    def __init__(self, coordinates: Callable[[int], Coordinates]) -> None:
        self.coordinates = coordinates
        self._kept = Cache[Coordinates]()

    def __call__(self, tokens: int, past: int = 0) -> Coordinates:
        """Coordinates of so many tokens; those of the first `past` must not change with the number of tokens."""
        found = self._kept(tokens, lambda: self._ask(tokens))
        if past and self.coordinates is not in_a_row and _labels(found)[:past] != _labels(self(past)):
            raise OrdinateError(
                f"the first {past} tokens have other coordinates in a sequence of {tokens}, and their keys are cached: "
                "write use_cache=False"
            )
        return found

    def _ask(self, tokens: int) -> Coordinates:
        found = self.coordinates(tokens)
        if len(found) != tokens:
            raise OrdinateError(
                f"coordinates({tokens}) gives {len(found)} tokens: give a function of the number of all tokens, "
                "special ones and padding included"
            )
        return found


def _labels(coordinates: Coordinates) -> list[tuple[str, int]]:
    return [
        (coordinates.fields[field], ordinate)
        for field, ordinate in zip(coordinates.field, coordinates.ordinate, strict=True)
    ]


class Seen(NamedTuple):
    """What queries may see, and where the keys stand."""

    mask: Tensor | None
    """True where a key is attended, or numbers to add; [#batch, #head, #query, key]."""
    places: Int[Tensor, "batch key"] | None
    """None where keys stand at 0, 1, ..."""
    tokens: int
    """Those included that a cache has dropped."""

    @classmethod
    def of(cls, mask: Tensor | None, query: Tensor, key: Tensor) -> "Seen":
        """What the mask of a host says, whoever made it."""
        tokens = key.shape[2]
        if mask is None:
            return cls(None, None, tokens)
        wanted = (query.shape[0], query.shape[1], query.shape[2], tokens)
        ours = mask.dtype in (torch.int32, torch.int64) and mask.dim() == 4 and mask.shape[3] == tokens + 1
        shape = (*mask.shape[:3], tokens) if ours else tuple(mask.shape)
        if len(shape) != 4 or any(size not in (1, full) for size, full in zip(shape, wanted, strict=True)):
            raise OrdinateError(
                f"the mask has the shape {list(mask.shape)}: give [batch, token], or {list(wanted)} with 1 where alike"
            )
        if not ours:
            if mask.dtype != torch.bool and not mask.is_floating_point():
                raise OrdinateError(
                    f"a mask of four axes is true or false, or added: write mask.bool() for {mask.dtype}"
                )
            return cls(mask, None, tokens)
        mask = mask[..., :tokens]
        places = torch.where(mask < 0, -1 - mask, mask)[:, 0, 0].long()
        dropped = mask.dtype == torch.int64
        return cls(mask >= 0, places, int(places.max()) + 1 if dropped else tokens)

    @property
    def only_padding(self) -> bool:
        """Whether the mask says nothing that depends on the query."""
        return self.mask is None or (self.mask.dtype == torch.bool and self.mask.shape[2] == 1)

    def from_the_left(self, queries: int, keys: int) -> bool:
        """Whether padding may be on the left and nothing else is said, of all tokens at once."""
        return self.places is not None and self.only_padding and queries == keys == self.tokens


def turn(x: Tensor, begin: Int[Tensor, " batch"]) -> Tensor:
    """Tokens from `begin` on come first; [batch, head, token, dim]."""
    tokens = x.shape[2]
    order = (torch.arange(tokens, device=x.device) + begin[:, None]) % tokens
    return x.gather(2, order[:, None, :, None].expand(x.shape))


def at_places(table: Tensor, seen: Seen, queries: int) -> Tensor:
    """Of a table [head, token, token] what stands at these places, [#batch, head, query, key]."""
    if seen.places is None:
        return table[None, :, seen.tokens - queries : seen.tokens, : seen.tokens]
    rows, columns = seen.places[:, -queries:, None], seen.places[:, None]
    return table[:, rows, columns].transpose(0, 1)


def class_mask(
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: int | Tensor = 0,
    kv_offset: int = 0,
    mask_function: Callable[..., Any] = causal_mask_function,
    attention_mask: Tensor | None = None,
    local_size: int | None = None,
    allow_is_causal_skip: bool = True,
    allow_is_bidirectional_skip: bool = False,
    use_vmap: bool = False,
    device: torch.device | str = "cpu",
    **rest: Any,
) -> Tensor | None:
    """What is attended, in the shortest way; without a function of this name nothing would be handed over.

    | what there is | mask |
    |---|---|
    | nothing that the host's direction does not say | none |
    | padding on the right | [batch, 1, 1, key], true where there is a token |
    | a window, or another mask of the host | [batch, 1, query, key], true where attended |
    | padding on the left, packed texts, keys that the cache has dropped | places, as described above |
    """
    tokens, last = kv_length + kv_offset, int(q_offset) + q_length
    across = last != tokens and mask_function is bidirectional_mask_function
    wanted = (batch_size, tokens if across else last)
    if attention_mask is not None and attention_mask.shape != wanted:
        raise OrdinateError(
            f"attention_mask has the shape {list(attention_mask.shape)}: give {list(wanted)}, a number for every "
            "token, those in the cache included"
        )
    if last != tokens and not across:
        raise OrdinateError(
            f"{q_length} queries do not end the {kv_length} keys: "
            "this attention needs a cache that grows, write cache_implementation='dynamic'"
        )
    skips = allow_is_causal_skip or allow_is_bidirectional_skip
    direction = mask_function in (causal_mask_function, bidirectional_mask_function)
    direction = direction or (local_size is not None and skips and tokens <= local_size)
    looked = attention_mask is not None and attention_mask.device.type == "cpu"  # no device is waited for
    present = attention_mask
    if looked and present is not None and bool(present.all()) and not across:
        present = None
    full: Tensor | None = None
    if not direction:
        full = sdpa_mask(
            batch_size,
            q_length,
            kv_length,
            int(q_offset),
            kv_offset,
            mask_function,
            attention_mask,
            allow_is_causal_skip=False,
            use_vmap=use_vmap,
            device=device,
        )
    elif present is not None:
        full = present[:, None, None, kv_offset:].bool()
    places = torch.arange(tokens, device=device)[None]
    begins = None
    if present is not None and not (looked and bool(present[:, 0].all())):
        begins = present.int().argmax(-1, keepdim=True).to(device)
    elif full is not None and not direction and attention_mask is None and not skips and not use_vmap:
        starts = pad(~full[:, 0].diagonal(-1, 1, 2), (1, 0))  # of a text: the token before it is not seen
        if starts.device.type != "cpu" or bool(starts.any()):  # no other device is waited for
            begins = torch.where(starts, places, 0).cummax(-1).values
    if begins is None and not kv_offset:
        return full
    places = (places if begins is None else (places - begins).clamp(min=0))[:, kv_offset:]
    whole = torch.int64 if kv_offset else torch.int32
    if full is None:
        full = torch.ones(1, 1, 1, 1, dtype=torch.bool, device=device)
    places = places[:, None, None]
    return pad(torch.where(full, places, -1 - places).to(whole), (0, 1))
