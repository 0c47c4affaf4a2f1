"""The class that `AutoModel` makes of a saved model: config.json with the recipe, model.safetensors, README.md."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.utils import ModelOutput
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.report.numbers import show_number
from ordinate.lab.runs import Run, write_text
from ordinate.lab.tasks import Task
from ordinate.lab.tasks.batch import Answers
from ordinate.lab.training import Recipe, load_model
from ordinate.lab.training.member import loss
from ordinate.models import build_model
from ordinate.models.inputs import Inputs

WEIGHTS = "model.safetensors"


class OrdinateConfig(PretrainedConfig):  # type: ignore[misc]
    """The recipe of a model, and what is known of the run it is from."""

    model_type = "ordinate"

    def __init__(self, recipe: dict[str, Any] | None = None, run: dict[str, Any] | None = None, **rest: Any):
        super().__init__(**rest)
        self.recipe = recipe or {}
        self.run = run or {}


@dataclass
class OrdinateOutput(ModelOutput):  # type: ignore[misc]
    """What a model says; the loss where the right answers are given."""

    loss: Float[Tensor, ""] | None = None
    logits: Float[Tensor, "batch token out"] | None = None


class OrdinateModel(PreTrainedModel):  # type: ignore[misc]
    """A model with its task, which knows where tokens stand, reads inputs and writes answers."""

    config_class = OrdinateConfig
    main_input_name = "inputs"
    base_model_prefix = "model"

    def __init__(self, config: OrdinateConfig) -> None:
        super().__init__(config)
        recipe = Recipe.parse(config.recipe)
        self.task = recipe.task
        self.model = build_model(recipe.model, recipe.task, seed=0)
        self.post_init()

    def _init_weights(self, module: torch.nn.Module) -> None:
        """Leave the weights as the model drew them."""

    @classmethod
    def of(cls, run: Run | str | Path, step: int | None = None) -> "OrdinateModel":
        """The model of a run at a step, the last one by default."""
        run = run if isinstance(run, Run) else Run(Path(run))
        trained, record = load_model(run, step), run.record()
        facts = {key: record.get(key) for key in ("seed", "scores", "samples_seen", "parameters", "averaged")}
        facts |= {"id": run.id, "environment": record.get("environment", {}), "seed": run.seed}
        made = cls(OrdinateConfig(Recipe.parse(run.recipe).to_dict(), facts))
        made.model.load_state_dict(trained.state_dict())
        made.to(next(trained.parameters()).dtype).eval()
        return made

    @override
    def forward(
        self,
        inputs: Inputs,
        coordinates: Coordinates | None = None,
        labels: Answers | None = None,
        **ignored: Any,
    ) -> OrdinateOutput:
        """Answer whole batches; coordinates are those of the task for as many tokens unless they are given."""
        coordinates = coordinates or coordinates_of(self.task, inputs.shape[1])
        logits = self.model(inputs, coordinates)
        scored = self.task.scored(coordinates)
        return OrdinateOutput(None if labels is None else loss(logits, labels, scored), logits)

    def answer(self, text: str) -> dict[str, str]:
        """Read one input as a person writes it, and write what the model says: `answer("123+4095")`."""
        batch = self.task.parse(text)
        with torch.no_grad():
            said = self(batch.input, batch.coordinates).logits
        said = said if batch.target.is_floating_point() else said.argmax(-1)
        (row,) = self.task.show(batch._replace(target=said))
        return row

    @override
    def save_pretrained(self, save_directory: str | os.PathLike[str], **options: Any) -> None:
        """Write config, weights and card; `transformers` writes the first two."""
        super().save_pretrained(save_directory, **options)
        write_text(Path(save_directory) / "README.md", model_card(self.config.recipe, self.config.run))

    @classmethod
    @override
    def from_pretrained(
        cls,
        pretrained_model_name_or_path: str | os.PathLike[str],
        *,
        config: OrdinateConfig | None = None,
        dtype: torch.dtype | None = None,
        **ignored: Any,
    ) -> "OrdinateModel":
        """Build the model by its recipe and load its weights: tables that are computed are never in a file."""
        folder = Path(pretrained_model_name_or_path)
        if not (folder / WEIGHTS).is_file():
            raise OrdinateError(f"{folder} holds no {WEIGHTS}: write it with save_pretrained")
        made = cls(config or OrdinateConfig.from_pretrained(folder))
        try:
            tensors = load_file(folder / WEIGHTS)
            made.to(next(iter(tensors.values())).dtype).load_state_dict(tensors)
        except (SafetensorError, RuntimeError, StopIteration) as error:
            first = str(error).strip().splitlines()[0]
            raise OrdinateError(
                f"{folder / WEIGHTS} does not hold the model of its recipe: {first}"
            ) from None
        made.to(dtype or made.dtype).eval()
        return made


def coordinates_of(task: Task, tokens: int) -> Coordinates:
    """Where so many tokens stand, for tasks whose layout follows from the number of tokens.

    >>> from ordinate.lab.tasks import make_task
    >>> task = make_task("addition")
    >>> coordinates_of(task, len(task.coordinates(12))) == task.coordinates(12)
    True
    """
    long = 1
    while long < tokens and _tokens(task, long) < tokens:
        long = min(2 * long, tokens)
    short = long // 2 + 1
    while short < long:  # the shortest sequence with at least so many tokens
        middle = (short + long) // 2
        short, long = (short, middle) if _tokens(task, middle) >= tokens else (middle + 1, long)
    if _tokens(task, short) != tokens:
        raise OrdinateError(f"no input of task {task.name!r} has {tokens} tokens: give coordinates")
    return task.coordinates(short)


def _tokens(task: Task, length: int) -> int:
    """Tokens of a sequence; none where the task has no sequence of this length."""
    try:
        return len(task.coordinates(length))
    except OrdinateError:
        return 0


AutoConfig.register(OrdinateConfig.model_type, OrdinateConfig)
AutoModel.register(OrdinateConfig, OrdinateModel)


def model_card(recipe: dict[str, Any], run: dict[str, Any]) -> str:
    """Return the card as Markdown with the head that model hubs read.

    >>> card = model_card({"name": "adder", "task": {"name": "addition"}, "model": {"kind": "encoder"}}, {"seed": 0})
    >>> card.splitlines()[1], "seed 0" in card
    ('library_name: ordinate', True)
    """
    task, kind = recipe["task"]["name"], recipe["model"]["kind"]
    scores = {name: value for name, value in (run.get("scores") or {}).items() if value is not None}
    rows = "\n".join(f"| {name} | {show_number(value)} |" for name, value in scores.items())
    facts = [f"seed {run.get('seed', 'unknown')}, one seed, no verdict"]
    facts += [f"{run['parameters']} parameters"] if run.get("parameters") else []
    facts += [f"{run['samples_seen']} samples seen"] if run.get("samples_seen") else []
    facts += ["averaged weights"] if run.get("averaged") else []
    return f"""---
library_name: ordinate
license: apache-2.0
tags: [ordinate, {task}, {kind}]
---

# {recipe["name"]}

A {kind} model for the task `{task}`, made with Ordinate: {", ".join(facts)}.

```python
import ordinate.lab.export
from transformers import AutoModel

model = AutoModel.from_pretrained("path/to/this/folder")
```

## How right it is

| point | score |
|---|---|
{rows or "| nothing was measured | |"}

Exact match for symbols, mean squared error for numbers; `validation` is as in training, other points are beyond it.

## Recipe

```json
{json.dumps(recipe, indent=1)}
```
"""
