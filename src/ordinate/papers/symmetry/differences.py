"""How the models of a figure differ from the published ones, read off the recipes of both."""

from collections.abc import Iterator, Sequence
from typing import Any

from ordinate.lab.training import Recipe
from ordinate.models import ResidualEncoder

DIFFERS = "differs from the paper"


def differences(recipes: Sequence[Recipe], published: Sequence[Recipe]) -> dict[str, str]:
    """What a report says: `published` are the recipes of the same models at `paper` scale, in the same order."""
    pairs = list(zip(recipes, published, strict=True))
    if all(ours == theirs for ours, theirs in pairs):
        return {DIFFERS: "LayerNorm before attention, not after it; epochs are not published"}
    return {DIFFERS: "; ".join(dict.fromkeys(part for pair in pairs for part in _told(*pair)))}


def _told(ours: Recipe, theirs: Recipe) -> Iterator[str]:
    a, b = ours.model, theirs.model
    assert isinstance(a, ResidualEncoder)
    assert isinstance(b, ResidualEncoder)
    yield (
        f"{a.layers} layers, {a.heads} heads, width {a.width} and {a.hidden} hidden units for {b.layers}, {b.heads}, "
        f"{b.width} and {b.hidden}"
    )
    yield "LayerNorm before attention"
    if a.gated and not b.gated:
        yield "gated hidden units"
    if a.dropout != b.dropout:
        yield f"dropout of {a.dropout:g} for {b.dropout:g}"
    yield from _task(ours.task, theirs.task)
    yield from _training(ours, theirs)
    yield from _encoding(a.encoding[0], b.encoding[0], ours.name)
    if ours.evaluation.length != theirs.evaluation.length:
        yield f"cascades and runs of carries in sums of {ours.evaluation.length} digits for {theirs.evaluation.length}"


def _task(a: Any, b: Any) -> Iterator[str]:
    if a.width != b.width:
        yield f"numbers padded to {a.width} places for {b.width}"
    if a.words != b.words:
        yield f"at most {a.words} letters for {b.words} where numbers stand in text"
    if getattr(a, "sparse", None) is not None and b.sparse is None:
        yield f"in training {a.sparse:.0%} of the multipliers have zeros for about half of their digits"


def _training(ours: Recipe, theirs: Recipe) -> Iterator[str]:
    a, b = ours.training, theirs.training
    if a.samples is None and b.samples is not None:
        yield f"fresh samples instead of a set of {b.samples}"
    if a.optimizer != b.optimizer:
        yield f"{_steps(a.optimizer)} for {_steps(b.optimizer)}"
    if a.average and not b.average:
        yield "averaged weights"


def _steps(by: Any) -> str:
    betas = " and ".join(f"{beta:g}" for beta in by.betas)
    return f"{by.name} with rate {by.learning_rate:g}, betas {betas} and decay {by.weight_decay:g}"


def _encoding(a: Any, b: Any, name: str) -> Iterator[str]:
    if hasattr(a, "std") and a.std != b.std:
        yield f"pairwise vectors start at a standard deviation of {a.std:g} for {b.std:g}"
    if hasattr(a, "per_head") and a.per_head and not b.per_head:
        yield "one table of them a head"
    for kind in ("fields", "uniform"):
        if more := sorted(set(getattr(a, kind, None) or ()) - set(getattr(b, kind, None) or ())):
            yield f"in {name} the {' and '.join(more)} acts alike on every place too"
