"""Randomness from explicit generators: every stream of random numbers is named by a seed and some words."""

import hashlib

import torch


def derive(seed: int, *words: object) -> int:
    """Return a seed of 63 bits that depends on all arguments and on nothing else.

    >>> derive(0, "batch", 7) == derive(0, "batch", 7), derive(0, "batch", 7) == derive(0, "batch", 8)
    (True, False)
    """
    text = "\x1f".join(map(str, (seed, *words)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def generator(seed: int, *words: object) -> torch.Generator:
    """Return a generator on the CPU for this stream."""
    return torch.Generator().manual_seed(derive(seed, *words))


def seed_noise(seed: int) -> None:
    """Put the global generator of every device that is there at a seed: dropout and the like draw from it.

    `torch.manual_seed` does so too, but notes the call stack for devices that are not there, which takes as long as a
    small layer.
    """
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(seed)
