"""What the advisor must find: reviewed by hand against the definition of each task, and read by tests alone.

Each row: task, options, kind, depth, dot product, bias; and why.
"""

from dataclasses import dataclass, field
from typing import Any

from ordinate.lab.tasks import make_task
from ordinate.papers.theory.advice import advise, find_memory


@dataclass(frozen=True)
class Expected:
    """One answer."""

    task: str
    kind: str
    depth: int
    dot_product: bool | None
    bias: str
    why: str
    options: dict[str, Any] = field(default_factory=dict)
    lags: tuple[int, ...] | None = None
    rate: tuple[float, float] | None = None
    """Within which the rate of a fall must be."""


def drawn(nesting: int, memories: int, levels: int, lag: int) -> Expected:
    """Random tables of lags over signs."""
    return Expected(
        "adaptive-memory",
        "adaptive",
        levels + 1,
        True,
        "lin",
        f"{levels} lags are found one after the other",
        {
            "nesting": nesting,
            "memories": memories,
            "within": (1, lag),
            "index": {"kind": "drawn"},
            "length": 12,
        },
    )


DENSE = "any token may change the answer, however far away"
CARRIES = "a carry is a threshold of sum 10^-k (a + b) over the places below: light tail of rate log 10"

SMALL_RING = {"places": 12, "dimension": 3, "filled": 12}

TABLE = (
    Expected("sum", "dense", 1, False, "none", "every number counts alike, by itself"),
    *(
        Expected(name, "dense", 4, None, "none", DENSE)
        for name in ("min", "max", "median", "sort", "max-subarray")
    ),
    Expected("min-sum", "dense", 4, None, "none", DENSE),
    Expected("path", "dense", 4, None, "none", DENSE),
    Expected("addition", "essentially sparse", 1, False, "lin", CARRIES, rate=(2.0, 2.6)),
    Expected("subtraction", "essentially sparse", 1, False, "lin", CARRIES, rate=(2.0, 2.6)),
    Expected("several", "essentially sparse", 1, False, "lin", CARRIES, rate=(1.9, 2.7)),
    Expected("multiplication", "essentially sparse", 1, False, "lin", CARRIES, rate=(1.7, 3.0)),
    Expected("arithmetic", "essentially sparse", 1, False, "lin", CARRIES, rate=(1.7, 3.0)),
    Expected("no-carry", "fixed", 1, False, "relative", "each place on its own, in two numbers", lags=(0, 0)),
    Expected(
        "ring",
        "fixed",
        1,
        False,
        "relative",
        "a place and its neighbours",
        SMALL_RING,
    ),
    Expected("k-hop", "adaptive", 3, True, "none", "letters are found by what they are, hop by hop"),
    Expected("mixed", "adaptive", 2, True, "none", "the text says which prices count"),
    *(Expected(name, "dense", 4, None, "none", DENSE) for name in ("edit-distance", "lcs", "knapsack")),
    *(
        Expected(name, "dense", 4, None, "none", DENSE)
        for name in ("bfs", "connectivity", "shortest-path", "spanning-tree")
    ),
    Expected("fixed-memory", "fixed", 1, False, "lin", "lags 2 and 5", lags=(2, 5)),
    Expected(
        "adaptive-memory",
        "fixed",
        1,
        False,
        "log",
        "the paper's worked example is x_t (x_{t-1} or not x_{t-2}): three fixed lags",
        lags=(0, 1, 2),
    ),
    Expected("decaying-memory", "essentially sparse", 1, False, "lin", "e^-s", rate=(0.999, 1.001)),
    Expected("match-2", "adaptive", 2, True, "none", "the one token that completes this one may be anywhere"),
    Expected("match-3", "adaptive", 2, True, "none", "the two tokens that complete this one may be anywhere"),
    Expected("contextual-counting", "dense", 5, None, "none", "regions are as long as the line allows"),
    *(
        Expected(name, "fixed", 1, False, "relative", "the one letter of an answer's ordinate", lags=(0,))
        for name in ("copy", "reverse")
    ),
    *(
        Expected(name, "dense", 5, None, "none", "every token in front turns the counter")
        for name in ("parity", "modular-counting")
    ),
    *(Expected(name, "dense", 5, None, "none", DENSE) for name in ("machine", "regular")),
    Expected("sparse-average", "adaptive", 2, True, "none", "each token names those that count"),
    Expected(
        "next-character",
        "fixed",
        1,
        False,
        "relative",
        "the answer is the token ahead, which causal models do not see",
        lags=(-1,),
    ),
)

VARIANTS = (
    drawn(0, 1, 1, 6),
    drawn(1, 2, 2, 6),
    drawn(2, 2, 2, 6),
    drawn(2, 3, 3, 7),
    Expected(
        "adaptive-memory",
        "adaptive",
        2,
        True,
        "log",
        "Proposition 4.2: x_{t - g(x_t)}, g(x) = x + 1",
        {
            "nesting": 0,
            "memories": 1,
            "within": (0, 2),
            "tokens": "ternary",
            "index": {"kind": "lookup", "lags": (0, 1, 2)},
            "readout": "sum",
            "current": False,
            "length": 8,
        },
    ),
    Expected(
        "decaying-memory",
        "essentially sparse",
        1,
        False,
        "log",
        "s^-2",
        {"kernels": {"kind": "polynomial", "power": 2.0}},
        rate=(1.999, 2.001),
    ),
    Expected(
        "decaying-memory",
        "essentially sparse",
        1,
        False,
        "log",
        "s^-1/2, not summable",
        {"kernels": {"kind": "polynomial", "power": 0.5, "cut": 1000}},
        rate=(0.499, 0.501),
    ),
    Expected(
        "decaying-memory",
        "essentially sparse",
        1,
        False,
        "lin",
        "a wavelet ends",
        {"kernels": {"kind": "ricker"}},
    ),
    Expected(
        "fixed-memory",
        "fixed",
        1,
        False,
        "lin",
        "of a majority not all count at once, and none decides which",
        {"lags": (0, 1, 4), "readout": "majority", "length": 8},
        lags=(0, 1, 4),
    ),
    Expected(
        "fixed-memory",
        "fixed",
        1,
        False,
        "lin",
        "an AND stops to depend on all others at once",
        {"lags": (0, 1, 4), "readout": "and", "length": 8},
        lags=(0, 1, 4),
    ),
    Expected(
        "fixed-memory",
        "fixed",
        1,
        False,
        "relative",
        "no float64 holds the coefficients for lag 13",
        {"lags": (1, 13), "length": 16},
        lags=(1, 13),
    ),
)


def check_advice(expected: Expected) -> None:
    """The advisor finds what is expected, and has evidence for every line."""
    task = make_task(expected.task, **expected.options)
    found = find_memory(task)
    assert found.kind == expected.kind
    lines = {line.what: line for line in advise(found)}
    assert list(lines) == ["depth", "heads", "width", "dot product", "bias"]
    assert lines["dot product"].value is expected.dot_product
    assert lines["bias"].value == expected.bias
    assert lines["depth"].value == expected.depth
    assert all(line.evidence and line.theorem and line.text for line in lines.values())
    if expected.lags is not None:
        assert tuple(lag for _, lag in found.lags) == expected.lags
    if expected.rate is not None:
        assert expected.rate[0] < found.fall.rate < expected.rate[1]
