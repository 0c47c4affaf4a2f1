"""How spread out the class vectors of a layer are, as a number."""

from jaxtyping import Float
from torch import Tensor


def less_start(
    vectors: Float[Tensor, "cls dim"], start: Float[Tensor, "cls dim"]
) -> Float[Tensor, "cls dim"]:
    """What training has added: v - s v_0 with s = <v, v_0> / <v_0, v_0>, since weight decay scales the start.

    >>> start = torch.tensor([[3.0, 0.0], [0.0, 4.0]])
    >>> less_start(0.5 * start, start).tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    return vectors - (vectors * start).sum() / (start * start).sum() * start


def energies(vectors: Float[Tensor, "cls dim"]) -> Float[Tensor, " cls"]:
    """Each class's share of the squared distance to the mean vector, which softmax cannot see.

    >>> energies(torch.tensor([[1.0], [1.0], [4.0]])).tolist() == [1 / 6, 1 / 6, 4 / 6]
    True
    """
    squares = (vectors - vectors.mean(0)).double().square().sum(-1)
    return (squares / squares.sum().clamp_min(1e-300)).to(vectors.dtype)


def dispersion(vectors: Float[Tensor, "cls dim"]) -> float:
    """exp(entropy of the energies) / classes: 1 if all classes weigh alike, near 1 / classes if one stands out.

    >>> spike = torch.zeros(100, 4); spike[7] = 1.0
    >>> dispersion(spike) < 0.02 < 0.6 < dispersion(torch.randn(100, 4)) < 1.0
    True
    """
    share = energies(vectors)
    entropy = -(share * share.clamp_min(1e-30).log()).sum()
    return float(entropy.exp()) / len(vectors)
