"""A compiled program on its way through an example: what stands in its labelled columns, layer by layer."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.lab.explain.rounded import rounded
from ordinate.lab.programs.compiler.labels import Labels, Message
from ordinate.lab.tasks.numbers.base import number_coordinates
from ordinate.models import Transformer


@dataclass(frozen=True)
class Step:
    """One layer of a walk: the weights of its heads, and the columns behind it with an example's numbers."""

    messages: Sequence[Message]
    weights: Float[Tensor, "head token token"]
    columns: Sequence[str]
    values: Float[Tensor, "token column"]

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON; the weights are those of the explanation."""
        return {
            "columns": list(self.columns),
            "values": rounded(self.values),
            "messages": [asdict(message) for message in self.messages],
        }


def walk(model: Transformer, labels: Labels, inputs: Float[Tensor, "1 token word"]) -> tuple[Step, ...]:
    """Run an example through a compiled model, layer by layer. The first step is what the encoding writes."""
    given = inputs.to(model.encode.weight.dtype)
    with torch.no_grad():
        x, coordinates = model.encoded(given, number_coordinates(given.shape[1]))
        nothing = x.new_zeros(0, x.shape[1], x.shape[1])
        names = labels.columns[0]
        steps = [Step((), nothing, names, x[0, :, : len(names)])]
        for used, names, block in zip(labels.messages, labels.columns[1:], model.blocks, strict=True):
            weights = block.attention.find_weights(x, coordinates, model.encoding)
            x = block(x, coordinates, model.encoding)
            steps.append(Step(used, weights[: len(used)], names, x[0, :, : len(names)]))
    return tuple(steps)
