"""What a kind of memory asks of a model: depth, heads, width, dot products, bias; each with evidence and a theorem.

Numbers of theorems are those of arXiv 2402.00522 unless another paper is named. They say what is enough, not what is
needed; the one exception is Proposition 4.2, attention without dot products.
"""

import math
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import Task
from ordinate.papers.theory.advice.memory import ADAPTIVE, FIXED, SPARSE, Memory, find_memory
from ordinate.papers.theory.biases import LIN, LOG, Bias
from ordinate.papers.theory.fetch import Needs, needs
from ordinate.papers.theory.fits import FLOAT64

ERROR = 0.1
"""To which a head's sum should fetch a memory."""
LARGEST_TABLE = 2**16


@dataclass(frozen=True)
class Line:
    """One answer, what was measured for it, and what it rests on."""

    what: str
    value: Any
    text: str
    evidence: str
    theorem: str

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        return asdict(self)


def advise(asked: Memory | Task) -> list[Line]:
    """The depth, heads, width, dot product and bias, in this order, that a task or a memory found in one needs.

    >>> from ordinate.lab.tasks import make_task
    >>> lines = advise(make_task("decaying-memory"))
    >>> tuple((line.what, line.value) for line in lines[:2])
    (('depth', 1), ('heads', 1))
    >>> lines[-1].value
    'lin'
    """
    memory = find_memory(asked) if isinstance(asked, Task) else asked
    kind = {FIXED: _fixed, ADAPTIVE: _adaptive, SPARSE: _sparse}.get(memory.kind, _dense)
    depth, heads, dot_product, bias = kind(memory)
    return [depth, heads, _width(memory), dot_product, bias]


def _fixed(memory: Memory) -> tuple[Line, Line, Line, Line]:
    lags = _lags(memory)
    seen = f"the same {len(memory.lags)} in {memory.samples} samples, at lengths {_lengths(memory)}"
    if memory.sizes[-1] < 0.9 * memory.used[-1]:
        seen += f"; {memory.sizes[-1]:.1f} count at once, which a readout explains without adaptive lags"
    depth = Line("depth", 1, "one layer", f"{lags}: {seen}", "Theorem 3.1")
    dot = Line("dot product", False, "not needed", "no token decides which tokens count", "Theorem 3.1")
    far = sorted({lag for _, lag in memory.lags if lag})
    fields = {memory.field, *(field for field, _ in memory.lags)}
    if not memory.backward or len(fields) > 1 or (far and far[-1] > memory.lengths[-1] // 2):
        what = "they are in several fields, ahead, or around a ring"
        heads = Line("heads", max(1, len(far)), "one for each lag", what, "a class of pairs for each lag")
        text = "relative: a class for each lag"
        return depth, heads, dot, Line("bias", "relative", text, what, "beyond the paper's biases")
    if not far:
        heads = Line("heads", 1, "any", "the token itself is in the stream", "Theorem 3.1")
        return depth, heads, dot, Line("bias", "none", "any", "no token before counts", "Theorem 3.1")
    return depth, *_fetching(far, dot)


def _fetching(far: list[int], dot: Line) -> tuple[Line, Line, Line]:
    """Heads and bias that fetch tokens at some lags: the bias whose sums take fewer digits."""
    enough = {bias.name: [_needs(bias, lag) for lag in far] for bias in (LIN, LOG)}
    digits = {name: max(n.digits if n else math.inf for n in found) for name, found in enough.items()}
    name = min(digits, key=lambda bias: digits[bias])
    total = sum(n.heads for n in enough[name] if n)
    other = "log" if name == "lin" else "lin"
    measured = (
        f"lags {_short(far)} to within {ERROR:g}: {digits[name]:.1f} digits with {name}, {digits[other]:.1f} "
        f"with {other}; float64 has {FLOAT64:.1f}"
    )
    if digits[name] > FLOAT64:
        text = f"{len(far)}, one for each lag, with a class of pairs for each; decaying heads are not held by float64"
        return (
            Line("heads", len(far), text, measured, "the rate of Theorem 3.1 grows with e^T or T"),
            dot,
            Line("bias", "relative", "relative: a class for each lag", measured, "beyond the paper's biases"),
        )
    return (
        Line("heads", total, f"{total} are enough", measured, "Theorem 3.1"),
        dot,
        Line("bias", name, f"rpe-{name}", measured, "Theorem 3.1, Appendix F"),
    )


@lru_cache(maxsize=256)
def _needs(bias: Bias, lag: int) -> Needs | None:
    try:
        return needs(bias, lag, ERROR)
    except OrdinateError:
        return None


def _adaptive(memory: Memory) -> tuple[Line, Line, Line, Line]:
    count = f"{memory.sizes[-1]:.1f} of {memory.keys[-1]} tokens count in a sample, and tokens decide which"
    if memory.searched:
        rounds = f"{memory.levels} after each other" if memory.levels > 1 else "one"
        depth = Line(
            "depth",
            math.floor(math.log2(memory.levels)) + 2,
            f"about log2({memory.levels}) + 2 layers",
            f"{rounds} selected by tokens elsewhere, at any of {memory.used[-1]} places",
            "arXiv 2402.09268: k hops in O(log k) layers",
        )
        heads = Line(
            "heads", max(2, memory.levels), "two or more", count, "a head that looks, one that copies"
        )
        dot = Line("dot product", True, "needed: tokens are found by what they are", count, "Proposition 4.2")
        text = "none, or one that only breaks ties"
        return depth, heads, dot, Line("bias", "none", text, "any lag may be chosen", "Proposition 4.2")
    far = sorted({lag for _, lag in memory.lags if lag})
    level = f"{memory.levels} nested" if memory.levels > 1 else "one"
    depth = Line(
        "depth",
        memory.levels + 1,
        f"{memory.levels + 1} layers: K + 1 + 1{{M >= K + 1}} with K = {memory.levels - 1}",
        f"{level} selection{'s' if memory.levels > 1 else ''}; at most {memory.memories} tokens count at once",
        "Theorem 4.4" if memory.levels > 1 else "Theorem 4.1",
    )
    dot = Line("dot product", True, "needed; tmx is enough", count, "Propositions 4.2 and 4.3")
    heads, dot, bias = _fetching([max(far)], dot)
    return depth, heads, dot, bias


def _sparse(memory: Memory) -> tuple[Line, Line, Line, Line]:
    fall = memory.fall
    assert fall is not None
    light = fall.tail == "exponential"
    law = f"e^(-{fall.rate:.3g} s)" if light else f"s^-{fall.rate:.3g}"
    near = "nearer than a power" if light else "nearer than an exponential"
    measured = f"influence falls like {law} over {fall.lags} lags, {near}"
    theorem = f"Theorem 5.1({'A' if light else 'B'})"
    if not light and fall.rate <= 1:
        measured += "; not summable, so outside the theorem"
    depth = Line("depth", 1, "one layer", "no token decides which tokens count", theorem)
    exact = fall.left < 1e-6
    heads = Line(
        "heads",
        memory.memories * (1 if exact else 4),
        "one for each sum" if exact else "a few for each sum; more while the error falls",
        f"sums: {memory.memories}; the logarithm of the influence is off by {math.sqrt(fall.left):.2g}",
        theorem,
    )
    dot = Line("dot product", False, "not needed", "no token decides which tokens count", theorem)
    name = "lin" if light else "log"
    return depth, heads, dot, Line("bias", name, f"rpe-{name}", measured, theorem)


def _dense(memory: Memory) -> tuple[Line, Line, Line, Line]:
    measured = f"{memory.used[-1]} of {memory.keys[-1]} tokens count, and none less with its lag"
    if memory.additive:
        depth = Line(
            "depth", 1, "one layer", "tokens act each by itself", "a head of equal weights is a mean"
        )
    else:
        length = memory.lengths[-1]
        depth = Line(
            "depth",
            max(1, math.ceil(math.log2(length))),
            f"about log2(n), {math.ceil(math.log2(length))} at length {length}; more with the length",
            "tokens act together",
            "arXiv 2410.01686: rounds of a parallel algorithm, a layer each",
        )
    heads = Line("heads", 1, "one or more", measured, "no theorem for dense memories")
    dot = Line(
        "dot product",
        False if memory.additive else None,
        "not needed" if memory.additive else "not needed where an algorithm moves data by position alone",
        "tokens act each by itself" if memory.additive else measured,
        "arXiv 2410.01686, positional attention",
    )
    text = "no decay: positions themselves, as classes or vectors"
    return depth, heads, dot, Line("bias", "none", text, measured, "no theorem for dense memories")


def _width(memory: Memory) -> Line:
    """Units of an FFN for the readout."""
    if memory.additive:
        text = "two units a number, or no FFN: the readout is linear"
        return Line("width", 2, text, "tokens act each by itself", "E_FFN = 0 for a linear readout")
    table = None if memory.values is None else memory.values**memory.memories
    theorem = "E_FFN = O(|f|_B / sqrt(m))"
    if (
        table is not None
        and table <= LARGEST_TABLE
        and memory.kind in (FIXED, ADAPTIVE)
        and not memory.searched
    ):
        text = f"{table} are enough for any table"
        evidence = f"tokens act together; {memory.memories} tokens of {memory.values} values"
        return Line("width", table, text, evidence, f"{theorem}; one unit an entry")
    return Line(
        "width", None, "not bounded by samples: double it while it helps", "tokens act together", theorem
    )


def _lags(memory: Memory) -> str:
    fields: dict[str, list[int]] = {}
    for field, lag in memory.lags:
        fields.setdefault(field, []).append(lag)
    return "; ".join(f"{field} {_short(lags)}" for field, lags in fields.items())


def _short(lags: list[int]) -> str:
    return ", ".join(map(str, lags[:8])) + (f", ... {lags[-1]}" if len(lags) > 8 else "")


def _lengths(memory: Memory) -> str:
    return " and ".join(map(str, memory.lengths))
