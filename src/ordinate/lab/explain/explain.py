"""One input explained: the answer, where every head looked, and what each input symbol does to it."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from ordinate.errors import OrdinateError
from ordinate.lab.architectures import ConcatTransformer
from ordinate.lab.architectures.concat import append_dummy
from ordinate.lab.explain.effect import Report, effects, readout
from ordinate.lab.explain.explanation import Explanation, Output, Step, Token, walk
from ordinate.lab.explain.passes import rollout, watch
from ordinate.lab.programs.compiler.labels import Labels
from ordinate.lab.seeds import generator
from ordinate.lab.tasks.arithmetic import DigitTask
from ordinate.lab.tasks.base import Task
from ordinate.lab.tasks.batch import Answers, Batch
from ordinate.models import Encoder

MOST_TOKENS = 256
"""An explanation holds every pair of tokens in every head."""
RELATIVE = ABSOLUTE = 0.1
"""A number is right within a tenth of it, or of 1, as in evaluations."""


def explain(
    model: nn.Module,
    task: Task,
    sample: Batch | str,
    *,
    labels: Labels | None = None,
    seed: int = 0,
    report: Report | None = None,
) -> Explanation:
    """Explain what a model does with one input: text as `ordinate sample` shows it, or the first sample of a batch.

    `labels` are those of a compiled model. The seed decides how numbers are changed. `report` is called with how many
    changes are done, and of how many.

    >>> from ordinate.models import ResidualEncoder, build_model
    >>> from ordinate.lab.tasks import make_task
    >>> task = make_task("addition")
    >>> found = explain(build_model(ResidualEncoder(), task, seed=0), task, "123+4095")
    >>> found.right, len(found.tokens), tuple(found.attention.shape)
    ('4218', 17, (4, 4, 17, 17))
    """
    batch = task.parse(sample) if isinstance(sample, str) else sample.first()
    if len(batch.coordinates) > MOST_TOKENS:
        raise OrdinateError(
            f"an explanation holds every pair of up to {MOST_TOKENS} tokens, this input has "
            f"{len(batch.coordinates)}: write a shorter one"
        )
    looks = watch(model, batch)
    found = effects(model, task, batch, generator(seed, "explain"), report)
    outputs = read_outputs(task, batch, looks.output)
    tokens = write_tokens(model, task, batch, found.changed)
    reached = rollout(
        looks.weights, looks.passes, anew=isinstance(model, Encoder) and model.settings.inject_input
    )
    added = len(tokens) - len(batch.coordinates)
    shown = task.show(batch)[0]
    answered = task.show(Batch(batch.input, predicted(batch, looks.output), batch.coordinates))[0]
    return Explanation(
        task=task.name,
        kind="numbers" if batch.target.is_floating_point() else "symbols",
        input=shown["input"],
        answer=answered["target"],
        right=shown["target"],
        tokens=tokens,
        outputs=outputs,
        passes=looks.passes,
        attention=looks.weights,
        rollout=reached[[output.token for output in outputs]],
        effect=nn.functional.pad(found.effect, (0, added)),
        needed=nn.functional.pad(found.needed, (0, added)),
        first_wrong=first_wrong(outputs, batch.coordinates.ordinate),
        carries=task.carries(batch) if isinstance(task, DigitTask) else None,
        columns=None if labels is None else compiled_columns(model, labels, batch),
    )


def compiled_columns(model: nn.Module, labels: Labels, batch: Batch) -> tuple[Step, ...]:
    """The columns of a compiled model."""
    if not isinstance(model, ConcatTransformer):
        raise OrdinateError(f"labels are those of a compiled program, not of a {type(model).__name__}")
    return walk(model, labels, batch.input)


def predicted(batch: Batch, output: Float[Tensor, "token out"]) -> Answers:
    """What the model answers, as a task writes answers."""
    return (
        output[None].to(batch.target.dtype) if batch.target.is_floating_point() else output[None].argmax(-1)
    )


def write_tokens(
    model: nn.Module, task: Task, batch: Batch, changed: Bool[Tensor, " token"]
) -> tuple[Token, ...]:
    """The tokens of the first sample, and the dummy behind them where the model adds one."""
    given = len(batch.coordinates)
    coordinates = (
        append_dummy(batch.coordinates) if isinstance(model, ConcatTransformer) else batch.coordinates
    )
    texts = [*task.token_texts(batch.input[:1]), *[""] * (len(coordinates) - given)]
    flags = [*changed.tolist(), *[False] * (len(coordinates) - given)]
    names = [coordinates.fields[field] for field in coordinates.field]
    return tuple(map(Token, texts, names, coordinates.ordinate, flags))


def read_outputs(task: Task, batch: Batch, output: Float[Tensor, "token out"]) -> tuple[Output, ...]:
    """The scored outputs, token by token."""
    scored, right = task.scored(batch.coordinates), batch.target[0]
    read = readout(output[None], batch.target, scored)[0]
    if right.is_floating_point():
        wanted = right[scored].float()
        close = torch.isclose(read, wanted, rtol=RELATIVE, atol=ABSOLUTE)
        places = scored.nonzero().tolist()
        numbers = zip(places, read.tolist(), wanted.tolist(), close.tolist(), strict=True)
        return tuple(
            Output(token, column, answer, number, correct, None, None)
            for (token, column), answer, number, correct in numbers
        )
    names, wanted = task.answer_texts, right[scored[:, 0]]
    best, of_right = read.max(-1), read.gather(-1, wanted[:, None])[:, 0]
    symbols = zip(
        scored[:, :1].nonzero().tolist(),
        best.indices.tolist(),
        wanted.tolist(),
        best.values.tolist(),
        of_right.tolist(),
        strict=True,
    )
    return tuple(
        Output(token, column, names[answer], names[symbol], answer == symbol, sure, sure_of_right)
        for (token, column), answer, symbol, sure, sure_of_right in symbols
    )


def first_wrong(outputs: tuple[Output, ...], ordinates: tuple[int, ...]) -> int | None:
    """The wrong output of the lowest ordinate, the first of them in token order."""
    wrong = [number for number, output in enumerate(outputs) if not output.correct]
    return min(wrong, key=lambda number: ordinates[outputs[number].token], default=None)
