"""The approximation rates of arXiv 2402.00522 as functions, up to the constants that the paper does not name.

All of them bound the error in the sup norm over inputs and positions by

    E_FFN + |f|_Lip E_Attn,    E_FFN = O(|f|_B / sqrt(m)) up to logarithms,

with f the readout, |f|_B its Barron norm, m the width of the feed-forward layers and H the heads of a layer. C(n) is
an unnamed function of the order n; every E_Attn here is the factor beside it. What a memory at lag T costs is
e^(0.01 T) for lin and T^1.01 for log (`Bias.growth`).
"""

import math
from collections.abc import Sequence

from ordinate.errors import OrdinateError
from ordinate.papers.theory.biases import Bias, exp

DOT_PRODUCT_FREE_ERROR = 2 / 3
"""Proposition 4.2 (B): no attention without dot product has a smaller error on x_{t-g(x_t)}, g(x) = x + 1."""


def required_depth(nesting: int, memories: int) -> int:
    """K + 1 + 1{M >= K + 1}: the layers of Theorem 4.4 for M memories of which K are nested.

    >>> tuple(required_depth(k, m) for k, m in ((0, 1), (1, 1), (1, 3), (2, 2), (2, 3)))
    (2, 2, 3, 3, 4)
    """
    _check_nesting(nesting, memories)
    return nesting + 1 + int(memories >= nesting + 1)


def head_split(heads: int, lags: Sequence[int], bias: Bias) -> tuple[int, ...]:
    """The heads of each memory in the proof of Theorem 3.1, H_k = H growth(T_k) / sum_j growth(T_j).

    Whole numbers that add up to H: every memory has one head, the others go by largest remainder.

    >>> from ordinate.papers.theory.biases import LIN, LOG
    >>> head_split(8, [2, 5], LIN), head_split(8, [2, 5], LOG)
    ((4, 4), (2, 6))
    """
    bias.check_lags(lags, repeated=True)
    _check_heads(heads)
    if heads < len(lags):
        raise OrdinateError(
            f"{heads} heads cannot serve {len(lags)} memories one each: take {len(lags)} or more"
        )
    logs = [bias.log_growth(lag) for lag in lags]
    shares = [math.exp(value - max(logs)) for value in logs]
    wanted = [heads * share / sum(shares) for share in shares]
    given = [max(1, math.floor(want)) for want in wanted]
    while sum(given) != heads:
        missing = 1 if sum(given) < heads else -1
        open_to = [k for k in range(len(given)) if given[k] + missing >= 1]
        most = max(open_to, key=lambda k: missing * (wanted[k] - given[k]))
        given[most] += missing
    return tuple(given)


def ffn_rate(width: int, barron: float = 1.0) -> float:
    """E_FFN without its constant and logarithms: |f|_B / sqrt(m).

    >>> ffn_rate(16, barron=2.0)
    0.5
    """
    if width < 1:
        raise OrdinateError(f"width {width} is no feed-forward layer: take 1 or more")
    return barron / math.sqrt(width)


def fixed_rate(lags: Sequence[int], heads: int, order: int, bias: Bias) -> float:
    """Theorem 3.1, one layer without dot product: E_Attn = C(n) (sum_i growth(T_i))^(n+1) / H^n.

    Theorem 4.1 (two layers, adaptive memories t_i = g_i(x_t) <= T_i) and Proposition 4.3 (TMX attention) have the
    same rate. It is below 1 only when heads are more than growths, and C(n) is not known.

    >>> from ordinate.papers.theory.biases import LIN, LOG
    >>> round(fixed_rate([2, 5], 8, 1, LIN), 4), round(fixed_rate([2, 5], 8, 1, LOG), 4)
    (0.5364, 6.2924)
    """
    bias.check_lags(lags)
    return _rate((order + 1) * _log_sum([bias.log_growth(lag) for lag in lags]), heads, order)


def nested_rate(lags: Sequence[int], nesting: int, heads: int, order: int, bias: Bias) -> float:
    """Theorem 4.4: K nested memories first, then the others.

        E_Attn = C(n) / H^n sqrt(sum_{l <= K} growth(T_l)^(2n+2) + (sum_{l > K} growth(T_l))^(2n+2))

    >>> from ordinate.papers.theory.biases import LIN
    >>> nested_rate([2, 5], 0, 8, 1, LIN) == fixed_rate([2, 5], 8, 1, LIN)
    True
    >>> round(nested_rate([2, 5], 2, 8, 1, LIN), 4)
    0.1898
    """
    bias.check_lags(lags, repeated=True)
    _check_nesting(nesting, len(lags))
    power = 2 * order + 2
    terms = [power * bias.log_growth(lag) for lag in lags[:nesting]]
    if others := [bias.log_growth(lag) for lag in lags[nesting:]]:
        terms.append(power * _log_sum(others))
    return _rate(_log_sum(terms) / 2, heads, order)


def nested_condition(
    lags: Sequence[int], nesting: int, heads: int, order: int, bias: Bias, lipschitz: float
) -> bool:
    """The side condition in the proof of Theorem 4.4, with C(n) = 1.

    What the nested layers fetch has to be near enough for the next index to round to the right place:
    sqrt(sum_{l <= K} growth(T_l)^(2n+2)) / H^n <= 1 / (4 max_l |g_l|_Lip); for log |log g_l|_Lip.

    >>> from ordinate.papers.theory.biases import LIN
    >>> tuple(nested_condition((2, 5), 2, heads, 1, LIN, lipschitz=1.0) for heads in (4, 8))
    (False, True)
    """
    if nesting == 0:
        return True
    return nested_rate(lags[:nesting], nesting, heads, order, bias) <= 1 / (4 * lipschitz)


def deep_rate(lags: Sequence[int], heads: int, order: int, bias: Bias) -> float:
    """Proposition 4.5, M + 1 layers for M memories that are not nested: one memory a layer.

    E_Attn = C(n) / H^n sqrt(sum_l growth(T_l)^(2n+2)), never above that of two layers.

    >>> from ordinate.papers.theory.biases import LIN
    >>> deep_rate([2, 5], 8, 1, LIN) < fixed_rate([2, 5], 8, 1, LIN)
    True
    """
    return nested_rate(lags, len(lags), heads, order, bias)


def required_width(
    norms: Sequence[float], nesting: int = 0, lags: Sequence[int] | None = None, *, deep: bool = False
) -> float:
    """The width that computes the indices, up to its constant and logarithms.

        Theorem 4.1         sum_i a_i
        Theorem 4.4         max(max_{i <= K} a_i, sum_{i > K} a_i)
        Proposition 4.5     max_i a_i                                  (`deep`)

    with a_i = |g_i|_B^2 for lin (give no lags) and a_i = |log g_i|_B^2 T_i^2 for log.

    >>> norms = [1.0, 2.0, 3.0]
    >>> required_width(norms), required_width(norms, nesting=2), required_width(norms, deep=True)
    (14.0, 9.0, 9.0)
    """
    _check_nesting(nesting, len(norms))
    if lags is not None and len(lags) != len(norms):
        raise OrdinateError(f"{len(norms)} norms and {len(lags)} lags: give one of each for every memory")
    costs = [(norm * lag) ** 2 for norm, lag in zip(norms, lags or [1] * len(norms), strict=True)]
    if deep:
        return max(costs)
    return max([*costs[:nesting], sum(costs[nesting:])])


def depth_saves(costs: Sequence[float], growths: Sequence[float], order: int) -> tuple[float, float]:
    """What M + 1 layers need of two layers' width and heads for the same error (Proposition 4.5).

        width   max_k a_k / sum_k a_k
        heads   ((b_1^2 + ... + b_M^2) / (b_1 + ... + b_M)^2)^(1 / 2n),    b_k = growth(T_k)^(n+1)

    The bounds themselves hold (sum_k growth(T_k))^(n+1), which is at least sum_k b_k: depth saves at least this much.

    >>> depth_saves([1.0, 1.0], [1.0, 1.0], order=1)
    (0.5, 0.7071067811865476)
    """
    powers = [growth ** (order + 1) for growth in growths]
    heads = sum(value**2 for value in powers) / sum(powers) ** 2
    return max(costs) / sum(costs), heads ** (1 / (2 * order))


def dot_product_parameters(width: int, *, tmx: bool) -> int:
    """Numbers that one head's dot product takes: 2 D^2 for W_Q and W_K, D for the w of TMX (Proposition 4.3).

    >>> dot_product_parameters(8, tmx=False), dot_product_parameters(8, tmx=True)
    (128, 8)
    """
    return width if tmx else 2 * width**2


def dot_product_rate(heads: int) -> float:
    """Proposition 4.2 (A), one layer with dot product on x_{t-g(x_t)}: error O(1 / H)."""
    _check_heads(heads)
    return 1 / heads


def orders(decay: float, bias: Bias) -> range:
    """The orders n for which Theorem 5.1 holds: up to floor(99 b) for e^(-b t), up to floor(0.99 b) - 1 for t^-b.

    >>> from ordinate.papers.theory.biases import LIN, LOG
    >>> orders(0.05, LIN), orders(3.0, LOG)
    (range(1, 5), range(1, 2))
    """
    bias.check_decay(decay, "Theorem 5.1")
    last = math.floor(bias.order_scale * decay) - int(bias.least_slope)
    if last < 1:
        least = (1 + bias.least_slope) / bias.order_scale
        raise OrdinateError(
            f"Theorem 5.1 has no order for {bias.name} and b = {decay:g}: take b above {least:.4g}"
        )
    return range(1, last + 1)


def essential_rate(memories: int, heads: int, order: int, decay: float, bias: Bias) -> float:
    """Theorem 5.1, M kernels e^(-b t) with lin or t^-b with log: E_Attn = C(n) M^(n+1) / H^n, H / M heads each.

    >>> from ordinate.papers.theory.biases import LIN, LOG
    >>> round(essential_rate(2, 8, 2, 0.5, LIN), 6)  # 2^3 / 8^2
    0.125
    >>> essential_rate(1, 8, 1, 0.5, LOG)
    Traceback (most recent call last):
        ...
    ordinate.errors.OrdinateError: a kernel t^-b with b = 0.5 is not summable, which Theorem 5.1 needs: take b above 1
    """
    allowed = orders(decay, bias)
    if order not in allowed:
        raise OrdinateError(
            f"order {order} is out of range for b = {decay:g}: Theorem 5.1 allows 1 to {allowed[-1]}"
        )
    if memories < 1:
        raise OrdinateError(f"{memories} memories are none: take 1 or more")
    return _rate((order + 1) * math.log(memories), heads, order)


def _rate(log_growth: float, heads: int, order: int) -> float:
    _check_heads(heads)
    if order < 1:
        raise OrdinateError(f"order {order} is out of range: the rates hold for n = 1, 2, ...")
    return exp(log_growth - order * math.log(heads))


def _log_sum(logs: Sequence[float]) -> float:
    """log(sum(exp(logs)))."""
    largest = max(logs)
    return largest + math.log(sum(math.exp(value - largest) for value in logs))


def _check_nesting(nesting: int, memories: int) -> None:
    if not 0 <= nesting <= memories or memories < 1:
        raise OrdinateError(
            f"{memories} memories cannot have a nesting of {nesting}: it is from 0 to the number of memories"
        )


def _check_heads(heads: int) -> None:
    if heads < 1:
        raise OrdinateError(f"{heads} heads are none: take 1 or more")
