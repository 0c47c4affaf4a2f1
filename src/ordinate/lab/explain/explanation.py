"""What an explanation holds, and the walk of a compiled program through an example, layer by layer."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.attention import captured
from ordinate.lab.architectures import ConcatTransformer
from ordinate.lab.explain.passes import Pass
from ordinate.lab.programs.compiler.labels import Labels, Message
from ordinate.lab.tasks.arithmetic.carries import CarryChain
from ordinate.lab.tasks.numbers import number_coordinates


def rounded(values: Float[Tensor, "*shape"]) -> Any:
    """Nested lists of numbers with a few decimals.

    >>> import torch
    >>> rounded(torch.tensor([[1 / 3]]))
    [[0.33333]]
    """
    return values.double().mul(10**DECIMALS).round().div(10**DECIMALS).tolist()


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


def walk(model: ConcatTransformer, labels: Labels, inputs: Float[Tensor, "1 token word"]) -> tuple[Step, ...]:
    """Run an example through a compiled model, layer by layer. The first step is what the encoding writes."""
    given = inputs.to(model.encode.weight.dtype)
    with torch.no_grad():
        x, coordinates = model.encoded(given, number_coordinates(given.shape[1]))
        nothing = x.new_zeros(0, x.shape[1], x.shape[1])
        names = labels.columns[0]
        steps = [Step((), nothing, names, x[0, :, : len(names)])]
        for used, names, block in zip(labels.messages, labels.columns[1:], model.blocks, strict=True):
            with captured(block.attention) as seen:
                x = block(x, coordinates, model.encoding)
            steps.append(Step(used, seen["weights"][: len(used)], names, x[0, :, : len(names)]))
    return tuple(steps)


@dataclass(frozen=True)
class Token:
    """What stands at a token, and where it stands."""

    symbol: str
    field: str
    ordinate: int
    changed: bool
    """Whether it was changed on its own to see what follows."""

    @property
    def label(self) -> str:
        """A reader's name of the token.

        >>> Token("7", "first", 2, True).label
        '7 first 2'
        """
        return " ".join(part for part in (self.symbol, self.field, str(self.ordinate)) if part.strip())


@dataclass(frozen=True)
class Output:
    """One symbol, or one number, of the answer: at which token it is read, and how sure the model was."""

    token: int
    column: int
    """Of the numbers of a token; 0 for symbols."""
    answer: str | float
    right: str | float
    correct: bool
    """For numbers: within a tenth of the right one, or of 1."""
    probability: float | None
    """Of the answer; numbers have none."""
    right_probability: float | None


@dataclass(frozen=True)
class Explanation:
    """Everything `explain` finds out about one input. Columns of all matrices are `tokens`."""

    task: str
    kind: str
    """`symbols` or `numbers`: what the answers are."""
    input: str
    answer: str
    right: str
    tokens: tuple[Token, ...]
    """Those of the sample, and behind them those that the model adds."""
    outputs: tuple[Output, ...]
    passes: tuple[Pass, ...]
    attention: Float[Tensor, "pass head query key"]
    rollout: Float[Tensor, "output token"]
    effect: Float[Tensor, "output token"]
    needed: Float[Tensor, "output token"]
    first_wrong: int | None
    """The wrong output of the lowest ordinate, where carries begin; None where all are right."""
    carries: CarryChain | None
    columns: tuple[Step, ...] | None = None
    """Of a compiled model: its labelled columns before the first layer, and behind every layer."""

    @property
    def correct(self) -> bool:
        """Whether every output is right."""
        return self.first_wrong is None

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        return {
            "task": self.task,
            "kind": self.kind,
            "input": self.input,
            "answer_text": self.answer,
            "right_text": self.right,
            "correct": self.correct,
            "tokens": [{**asdict(token), "label": token.label} for token in self.tokens],
            "outputs": [
                {**asdict(output), "label": self.tokens[output.token].label} for output in self.outputs
            ],
            "answer": [output.answer for output in self.outputs],
            "right": [output.right for output in self.outputs],
            "probability": [output.probability for output in self.outputs],
            "passes": [{**asdict(one), "name": one.name} for one in self.passes],
            "attention": rounded(self.attention),
            "rollout": rounded(self.rollout),
            "effect": rounded(self.effect),
            "needed": rounded(self.needed),
            "first_wrong": self.first_wrong,
            "carries": None if self.carries is None else self.carries.to_dict(),
            "columns": None if self.columns is None else [step.to_dict() for step in self.columns],
        }


DECIMALS = 5
