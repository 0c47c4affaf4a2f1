"""An explanation: one input, what the model made of it, and where it looked. Numbers only; figures draw them."""

from dataclasses import asdict, dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor

from ordinate.lab.explain.columns import Step
from ordinate.lab.explain.passes import Pass
from ordinate.lab.explain.rounded import rounded
from ordinate.lab.tasks.carries import CarryChain


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
