"""The command `ordinate`: all commands in one place, and what happens when one of them cannot go on."""

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typing_extensions import override

from ordinate import __version__
from ordinate.app.cli import (
    advise,
    bench,
    catalogue,
    construct,
    discover,
    doctor,
    evaluate,
    explain,
    export,
    new,
    output,
    plan,
    programs,
    prove,
    report,
    reproduce,
    runs,
    sample,
    serve,
    study,
    train,
    verify,
)
from ordinate.app.cli.failures import BROKEN_PIPE, INTERRUPTED, describe
from ordinate.errors import OrdinateError, nearest

ON_INTERRUPT = {
    "train": "{}: the runs so far are kept, add --resume to go on",
    "reproduce": "{}: the runs so far are kept, the same command goes on from them",
    "study": "{}: the runs so far are kept, the same command goes on from them",
    "serve": "the page is closed",
}


class Commands(TyperGroup):
    """The commands; a misspelt one is answered with the nearest."""

    what: ClassVar[str] = "command"

    @override
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if (
            args and args[0] not in self.commands and not ctx.resilient_parsing
        ):  # a shell completes what is there
            raise OrdinateError(f"there is no {self.what} {args[0]!r}: {nearest(args[0], self.commands)}")
        return super().resolve_command(ctx, args)


class Constructions(Commands):
    """The commands of `ordinate construct`."""

    what: ClassVar[str] = "construction"


class Command(TyperCommand):
    """A command; tasks and encodings of one's own are loaded before it begins, and not for its --help."""

    @override
    def invoke(self, ctx: Any) -> Any:
        from ordinate.lab.plugins import load

        load(*ctx.find_root().params["plugin"] or ())
        return super().invoke(ctx)


app = typer.Typer(
    name="ordinate",
    cls=Commands,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog="Example: ordinate train sum-positional --seeds 3",
)


def _version(asked: bool) -> bool:
    if asked:
        typer.echo(f"ordinate {__version__}")
        raise typer.Exit
    return asked


@app.callback()
def ordinate(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    plugin: Annotated[
        list[Path] | None,
        typer.Option("--plugin", metavar="FILE", help="A Python file with tasks or encodings of your own."),
    ] = None,
) -> None:
    """Positional structure in Transformers: train, extrapolate, reproduce, compare."""


COMMANDS: dict[str, dict[Callable[..., output.Result | None], str]] = {
    "Start": {
        catalogue.tasks: "ordinate tasks",
        catalogue.encodings: "ordinate encodings --json",
        catalogue.models: "ordinate models",
        catalogue.relations: "ordinate relations --task addition --length 3 --show '{kind=\"aligned\"}'",
        sample.sample: "ordinate sample addition --length 8 --count 3 --axis cascade=5",
        doctor.doctor: "ordinate doctor",
    },
    "Train": {
        catalogue.recipes: "ordinate recipes",
        train.train: "ordinate train sum-positional --set training.steps=1000 --seeds 3",
        evaluate.evaluate: "ordinate evaluate addition-relation --axis length=10:90:20 --slice cascade",
        runs.runs: "ordinate runs --task sum --where training.batch=256",
        study.study: "ordinate study examples/study.toml --engine local",
    },
    "Look": {
        serve.serve: "ordinate serve --open",
        explain.explain: 'ordinate explain addition-relation --input "123+4095" --ablate',
        discover.discover: "ordinate discover multiplication --set multiplier=3",
        advise.advise: "ordinate advise adaptive-memory --set nesting=0",
        report.report: "ordinate report results/positional --figures figures --tables tables",
    },
    "Reproduce": {
        reproduce.reproduce: "ordinate reproduce positional/value-scale --scale demo",
        plan.plan: "ordinate plan symmetry --scale paper",
        verify.verify: "ordinate verify addition-relation",
        prove.prove: "ordinate prove runs/proven-addition-1a2b3c4d5e/seed-0",
        bench.bench: "ordinate bench --list",
    },
    "Build": {
        new.new: "ordinate new task running-range",
        programs.compile: "ordinate compile prefix-sum --n 64 --out compiled/prefix-sum",
        export.export: "ordinate export addition --out adder",
    },
}
"""Every command with an example, under the headings of the help."""

for heading, commands in COMMANDS.items():
    for function, example in commands.items():
        app.command(function.__name__, cls=Command, epilog=f"Example: {example}", rich_help_panel=heading)(
            output.command(function)
        )

constructions = typer.Typer(cls=Constructions)
for construction, example in (
    (construct.fixed, "ordinate construct fixed --lags 2,5 --heads 8"),
    (construct.adaptive, "ordinate construct adaptive --nesting 3 --heads 6 --tmx"),
):
    constructions.command(construction.__name__, cls=Command, epilog=f"Example: {example}")(
        output.command(construction)
    )
app.add_typer(
    constructions,
    name="construct",
    help="Build memories as the weights of a Transformer, and measure them; with --json as a document.",
    epilog="Example: ordinate construct fixed --lags 2,5 --heads 8",
    rich_help_panel="Build",
)
command = typer.main.get_command(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; whatever goes wrong is one line on stderr.

    0 done, 1 a claim or check failed, 2 bad input, 70 a fault of the program, 130 interrupted, 141 nobody reads.

    >>> main(["--version"])
    ordinate 0.2.0
    0
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a sign gets a question mark
            stream.reconfigure(errors="replace")
    try:
        code = _run(arguments or ["--help"])
        sys.stdout.flush()
        return code
    except KeyboardInterrupt as interrupt:
        asked = next((word for word in arguments if word in ON_INTERRUPT), "")
        line, code = ON_INTERRUPT.get(asked, "{}").format(str(interrupt) or "interrupted"), INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return BROKEN_PIPE
    except BaseException as error:  # a plug-in may raise any, SystemExit too
        line, code = describe(error)
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr, flush=True)
    return code


def _run(arguments: list[str]) -> int:
    try:
        command._main_shell_completion({}, "ordinate")  # answers a shell that asks, and ends
    except SystemExit as answered:
        return int(answered.code or 0)
    try:
        with command.make_context("ordinate", arguments) as context:
            command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    return 0


def _forget_stdout() -> None:
    """Let nothing more be written to a pipe that is closed, not even at the end of the process."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
