"""`ordinate train`: a recipe with one or several seeds."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ordinate.app.cli.failures import FAILED
from ordinate.app.cli.options import Json
from ordinate.errors import OrdinateError, nearest


def train(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="TOML file; see the folder recipes.")],
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="A.B=C", help="Change a setting; may be repeated.")
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="Train the seeds 0 to SEEDS - 1 side by side.")] = None,
    seed: Annotated[int | None, typer.Option(help="Train this one seed; default 0.")] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of runs.")] = Path("runs"),
    init: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Start from the weights of a compiled program (--dense), or of a run."
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with runs that were stopped.")] = False,
    tensorboard: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write TensorBoard files too; needs ordinate\\[track].")
    ] = None,
    mlflow: Annotated[
        str | None,
        typer.Option(
            metavar="URI", help="Tell MLflow too: http://HOST:5000, sqlite:///FILE; needs ordinate\\[mlflow]."
        ),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of torch; one is best on a busy machine.")] = 1,
    json: Json = False,
) -> None:
    """Train a recipe, and show the errors of every seed in and out of distribution."""
    if seeds is not None and seed is not None:
        raise OrdinateError("--seeds and --seed exclude each other: write --seeds 3, or --seed 7")
    if not recipe.exists():
        known = sorted(str(path) for path in {*recipe.parent.glob("*.toml"), *Path("recipes").glob("*.toml")})
        hint = nearest(str(recipe), known) if known else "write the path of a TOML file"
        raise OrdinateError(f"there is no recipe {str(recipe)!r}: {hint}")

    import torch

    from ordinate.app.cli import output
    from ordinate.app.cli.progress import StepProgress
    from ordinate.app.cli.sinks import told
    from ordinate.app.cli.summary import run_facts, seeds_note, show_runs
    from ordinate.lab.runs import Store, keep_freed_memory
    from ordinate.lab.runs.record import check_seed
    from ordinate.lab.training import Recipe, starting_from
    from ordinate.lab.training import train as train_seeds
    from ordinate.lab.training.limits import check_memory
    from ordinate.lab.training.parallel import World

    check_seed(seed or 0)
    first = World.here().first
    torch.set_num_threads(threads)
    keep_freed_memory()
    chosen = Recipe.read(recipe, changes or ())
    if init is not None:
        chosen = starting_from(chosen, init, Store(out))
    check_memory(chosen, 1 if seeds is None else seeds)
    numbers = range(seeds) if seeds is not None else range(seed or 0, (seed or 0) + 1)
    sinks = (tensorboard, mlflow) if first else (None, None)
    with StepProgress(chosen.name) as progress, told(chosen, numbers, *sinks) as feed:

        def report(**facts: Any) -> None:
            if first:  # of the processes of one training, one speaks
                progress.report(**facts)
                feed.report(**facts)

        done = train_seeds(chosen, numbers, store=Store(out), resume=resume, report=report)
        feed.end({run.seed: run.status for run in done})
    if not first:
        return
    failed = [run.seed for run in done if run.status == "failed"]
    if not progress.reported and not failed:
        output.note("nothing was left to train: these runs were done before")
    if json:
        output.print_json(
            {
                "recipe": chosen.name,
                "task": chosen.task.name,
                "model": chosen.model.name,
                "store": str(out),
                "seeds": [run.seed for run in done],
                "failed": failed,
                "note": seeds_note(len(done)),
                "runs": [run_facts(run) for run in done],
            }
        )
    else:
        show_runs(done)
    if len(failed) == len(done):
        raise typer.Exit(FAILED)
