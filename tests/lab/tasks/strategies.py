"""Sequences worth trying: lengths 1 to 12, negative numbers, ties, all equal."""

import torch
from hypothesis import strategies as st

reals = st.floats(-100, 100, allow_nan=False, width=32)
few = st.integers(-3, 3).map(float)  # many ties


@st.composite
def sequences(draw, min_size=1, max_size=12):
    """One sequence, as a list: of reals, with many ties, or of one number again and again."""
    size = draw(st.integers(min_size, max_size))
    element = draw(st.sampled_from([reals, few, st.just(draw(reals))]))
    return draw(st.lists(element, min_size=size, max_size=size))


@st.composite
def batches(draw, max_batch=4):
    """A few sequences of one length, as a float64 tensor of one number a token."""
    size = draw(st.integers(1, 12))
    rows = draw(st.lists(sequences(size, size), min_size=1, max_size=max_batch))
    return torch.tensor(rows, dtype=torch.float64).unsqueeze(-1)


def tensor(sequence):
    """A sequence as a float64 batch of one."""
    return torch.tensor([sequence], dtype=torch.float64).unsqueeze(-1)
