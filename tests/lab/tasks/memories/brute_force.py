"""The definitions token by token, in plain Python, sharing no code with the library."""

import math


def before(x, t, lag):
    """x_{t-lag}, 0 before the first token."""
    return x[t - lag] if t >= lag else 0.0


def fixed(x, lags, f):
    """f(x_{t-T_1}, ...) for every t."""
    return [f([before(x, t, lag) for lag in lags]) for t in range(len(x))]


def adaptive(x, nesting, memories, g, f, current=True):
    """Memories one by one; g(i, arguments) is the lag of memory i, arguments x_t, x_{t-t_1}, ..."""
    answers = []
    for t in range(len(x)):
        found = []
        for i in range(1, memories + 1):
            known = found[: i - 1] if i <= nesting else found[:nesting]
            found.append(before(x, t, g(i, [x[t], *known])))
        answers.append(f([x[t], *found] if current else found))
    return answers


def decaying(x, kernels, f):
    """f of the sums over all that is behind."""
    return [f([math.fsum(rho(s) * x[t - s] for s in range(t + 1)) for rho in kernels]) for t in range(len(x))]


def majority(m):
    up, down = sum(v > 0 for v in m), sum(v < 0 for v in m)
    return float((up > down) - (up < down))


def relus(directions):
    return lambda m: sum(max(0.0, sum(w * v for w, v in zip(row, m, strict=True))) for row in directions)


def lookup(table, values):
    """A table over all combinations, the first turning slowest."""

    def read(m):
        place = 0
        for v in m:
            # zeros before the first token fall to the upper neighbour of signs
            place = place * len(values) + (values.index(v) if v in values else 1)
        return table[place]

    return read
