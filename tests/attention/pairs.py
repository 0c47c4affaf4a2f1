"""Attention over classes of pairs, one pair at a time, and patterns to try it on."""

import torch
from hypothesis import strategies as st

from ordinate.relations.pattern import Pattern

FORMS = ("content", "content + class", "class", "class only")


def pattern_of(classes, count=None, bounds=None):
    """The pattern of a matrix of class ids, -1 where absent; by default the largest id is plain."""
    classes = torch.as_tensor(classes)
    query, key = torch.nonzero(classes >= 0, as_tuple=True)
    count = int(classes.max()) if count is None else count
    return Pattern(len(classes), count, query, key, classes[query, key], bounds or (0, len(classes)))


def relative(tokens, clip):
    """Classes by the clipped offset from query to key."""
    place = torch.arange(tokens)
    return pattern_of((place - place[:, None]).clamp(-clip, clip) + clip, count=2 * clip + 1)


def window(tokens, keys):
    """Every query looks at itself and at the keys - 1 tokens before it."""
    place = torch.arange(tokens)
    back = place[:, None] - place
    return pattern_of(torch.where((back >= 0) & (back < keys), back, -1), count=keys)


@st.composite
def pieces(draw):
    """For `pattern_of`: any classes, plain and absent pairs, in one block or two; each query has a key."""
    tokens = draw(st.integers(2, 7))
    count = draw(st.integers(1, 4))
    classes = torch.tensor(
        draw(st.lists(st.integers(-1, count), min_size=tokens**2, max_size=tokens**2))
    ).view(tokens, tokens)
    keys = torch.tensor(draw(st.lists(st.integers(0, tokens - 1), min_size=tokens, max_size=tokens)))
    rows = torch.arange(tokens)
    classes[rows, keys] = classes[rows, keys].clamp(min=0)
    cut = draw(st.integers(1, tokens))
    return classes, count, (0, tokens) if cut == tokens else (0, cut, tokens)


def arguments(pattern, form, *, batch=2, heads=2, tables=2, dim=3, dim_v=2, bias=True, seed=0):
    """Random float64 arguments of a form; `tables` is 1 where heads share theirs."""
    make = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(*shape, dtype=torch.float64, generator=make).requires_grad_()

    tokens, classes = pattern.tokens, pattern.classes
    return {
        "query": None if form == "class only" else draw(batch, heads, tokens, dim),
        "key": draw(batch, heads, tokens, dim) if form.startswith("content") else None,
        "value": draw(batch, heads, tokens, dim_v),
        "vectors": draw(tables, classes, dim) if form in ("content + class", "class") else None,
        "bias": draw(tables, classes) if bias or form == "class only" else None,
    }


def slow(query, key, value, pattern, *, vectors=None, bias=None, scores_bias=None, scale=1.0):
    """The formula, pair by pair."""
    batch, heads, tokens, _ = value.shape
    classes = pattern.dense.tolist()
    out = []
    for b in range(batch):
        for h in range(heads):
            of_head = lambda table, h=h: table[h % len(table)]  # noqa: E731
            for i in range(tokens):
                scores, values = [], []
                for j in range(tokens):
                    c = classes[i][j]
                    if c < 0:
                        continue
                    score = value.new_zeros(())
                    if key is not None:
                        score = score + scale * query[b, h, i] @ key[b, h, j]
                    if vectors is not None and c < pattern.classes:
                        score = score + scale * query[b, h, i] @ of_head(vectors)[c]
                    if bias is not None and c < pattern.classes:
                        score = score + of_head(bias)[c]
                    if scores_bias is not None:
                        score = score + of_head(scores_bias)[i, j]
                    scores.append(score)
                    values.append(value[b, h, j])
                out.append(torch.softmax(torch.stack(scores), 0) @ torch.stack(values))
    return torch.stack(out).view(batch, heads, tokens, -1)


def output_and_gradients(function, pattern, given, **more):
    """What a function returns, and gradients of all its tensors."""
    given = {**given, **{name: more.pop(name) for name in list(more) if isinstance(more[name], torch.Tensor)}}
    out = function(given["query"], given["key"], given["value"], pattern, **_named(given), **more)
    leaves = [x for x in given.values() if x is not None]
    weights = torch.linspace(-1, 2, out.numel(), dtype=out.dtype).view(out.shape)
    grads = torch.autograd.grad((out * weights).sum(), leaves, allow_unused=True)
    return out, [torch.zeros_like(x) if g is None else g for x, g in zip(leaves, grads, strict=True)]


def _named(given):
    return {name: x for name, x in given.items() if name not in ("query", "key", "value")}


def assert_same(first, second, pattern, given, **more):
    """Equal outputs and gradients."""
    torch.testing.assert_close(
        output_and_gradients(first, pattern, given, **more),
        output_and_gradients(second, pattern, given, **more),
    )
