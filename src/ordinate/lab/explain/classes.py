"""The learned vectors of classes of pairs, with the names of the classes."""

from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from ordinate.encodings import Combined
from ordinate.encodings.pairwise import PairwiseEncoding
from ordinate.lab.explain.rounded import rounded


@dataclass(frozen=True)
class ClassVectors:
    """The vectors of neighbouring heads that share a relation; heads that share one table have one map."""

    relation: str
    heads: tuple[int, int]
    """The first head, and the one behind the last."""
    names: tuple[str, ...]
    vectors: Float[Tensor, "layer head cls dim"]

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        return {
            "relation": self.relation,
            "heads": list(self.heads),
            "names": list(self.names),
            "vectors": rounded(self.vectors),
        }


def pairwise_encoding(model: nn.Module) -> PairwiseEncoding | None:
    """The encoding of a model that has classes of pairs, where there is one."""
    encoding = getattr(model, "encoding", None)
    parts = encoding.parts if isinstance(encoding, Combined) else [encoding]
    return next((part for part in parts if isinstance(part, PairwiseEncoding)), None)


def class_vectors(model: nn.Module) -> tuple[ClassVectors, ...]:
    """The vectors of a model, group of heads by group; none where its encoding has no classes.

    >>> from ordinate.models import ResidualEncoder, build_model
    >>> from ordinate.lab.tasks import make_task
    >>> (found,) = class_vectors(build_model(ResidualEncoder(), make_task("addition", width=5), seed=0))
    >>> found.heads, tuple(found.vectors.shape), found.names[0]
    ((0, 4), (4, 1, 25, 16), '12 ahead')
    """
    encoding = pairwise_encoding(model)
    if encoding is None:
        return ()
    tables, found, first = iter(encoding.tables), [], 0
    for heads, bound in zip(encoding.heads, encoding.bound, strict=True):
        if bound.classes:
            vectors = next(tables).detach()
            found.append(
                ClassVectors(str(bound.relation), (first, first + heads), tuple(bound.names), vectors)
            )
        first += heads
    return tuple(found)
