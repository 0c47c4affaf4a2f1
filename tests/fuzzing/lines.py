"""Command lines, right and wrong: the options of every command are read from the command itself."""

from hypothesis import strategies as st

from ordinate.app.cli.main import command
from ordinate.lab.tasks import TASKS
from tests.fuzzing.recipes import BASES, REAL, RELATION, SMALL, TEXT, WHOLE, as_toml, settings

PATHS = [
    "recipe.toml",
    "store",
    "store/again",
    "out",
    "no/such",
    ".",
    "",
    "store/runs.zip",
    "empty",
    "odd.py",
    "study.toml",
    "x" * 300,
]
AXES = ["length", "scale", "cascade", "hops", "x", ""]
POINTS = ["5", "2:8:2", "2,4", "nan", "inf", "1:inf", "-1", "1e300", "5:1", "1:9:0", "0.5", "1:2:3:4", "x"]
AXIS = st.tuples(
    st.sampled_from(AXES), st.sampled_from(["=", "=", ":", ""]), st.sampled_from(["", *POINTS])
).map("".join)
NUMBER = (SMALL | SMALL | SMALL | WHOLE | REAL).map(str)
OPTIONS = {
    "--set": settings({}) | st.sampled_from(BASES).flatmap(settings),
    "--axis": AXIS,
    "--where": settings(BASES[0]),
    "--show": RELATION.map(as_toml) | TEXT,
    "--input": st.sampled_from(["12+34", "3 1 2", "0 1 / 1 0", "3 ababab", "1e999", "nan", "a", "9" * 400])
    | TEXT,
    "--engine": st.just("local") | TEXT,
    "--scale": st.sampled_from(["smoke", "laptop", "paper", "demo"]) | NUMBER | TEXT,
    "--bias": st.sampled_from(["linear", "log", "lin", "exp"]) | TEXT,
    "--lags": st.lists(SMALL | WHOLE, max_size=3).map(lambda lags: ",".join(map(str, lags))) | TEXT,
    "--dtype": st.sampled_from(["float32", "float64"]) | TEXT,
    "--task": TEXT,
    "--readout": TEXT,
    "--status": st.sampled_from(["done", "failed", "running", "stopped", "new"]) | TEXT,
    "--function": st.sampled_from(["odd.py:f", "odd.py:", "os:getcwd", ":"]) | TEXT,
    "--target": st.sampled_from(["worked", "prop-4.2"]) | TEXT,
}
"""Values of options; numbers, paths and texts for all others."""
LEFT_OUT = ("--mlflow", "--address", "--open", "--tensorboard")
"""Options that would start a service, or load a large package."""
PATH_LIKE = ("DIR", "FILE", "FOLDER", "RECIPE", "FILE|PROGRAM", "RUN")
ARGUMENTS = {
    "TASK": st.sampled_from(sorted(TASKS)),
    "RECIPE": st.sampled_from(["recipe.toml", "recipe.toml", "sum-positional", "memory", "published/nope"]),
    "RUN": st.sampled_from(["tiny", "addition-relation", "addition", "store", "tin"]),
    "PROGRAM": st.sampled_from(["prefix-sum", "sort", "fft", "addition", "kth-smallest"]),
    "FIGURE": st.sampled_from(
        ["positional/value-scale", "symmetry", "memories/exp-1a", "beyond/addition-1000", "arena"]
    ),
    "SECTION": st.sampled_from(["throughput", "memory"]),
    "task": st.sampled_from(["task", "encoding"]),
}


def leaves():
    """Every command with the words that call it."""
    for name, found in sorted(command.commands.items()):
        inner = getattr(found, "commands", None)
        if inner is None:
            yield (name,), found
        else:
            yield from (((name, each), leaf) for each, leaf in sorted(inner.items()))


COMMANDS = dict(leaves())


def _value(parameter):
    """Something to stand for a parameter."""
    word = (parameter.metavar or "").strip("[].").split("]")[0]
    known = OPTIONS.get(parameter.opts[0])
    if known is None:
        known = ARGUMENTS.get(
            {"[PAPER[/FIGURE]]": "FIGURE", "[PAPER[/FIGURE]]...": "FIGURE"}.get(parameter.metavar, word),
            NUMBER,
        )
    if word in PATH_LIKE:
        known = known | st.sampled_from(PATHS)
    return st.integers(0, 9).flatmap(
        lambda chance: known if chance else TEXT | NUMBER | st.sampled_from(PATHS)
    )


@st.composite
def lines(draw):
    """The words of a command: mostly its own options with values of the right kind."""
    words, leaf = draw(st.sampled_from(sorted(COMMANDS.items(), key=lambda item: item[0])))
    line = list(words)
    arguments = [p for p in leaf.params if p.param_type_name == "argument"]
    line += [draw(_value(parameter)) for parameter in arguments if draw(st.integers(0, 15))]
    options = [p for p in leaf.params if p.param_type_name == "option" and p.opts[0] not in LEFT_OUT]
    for parameter in draw(st.lists(st.sampled_from(options), max_size=3, unique_by=id)) if options else ():
        line.append(parameter.opts[0])
        if not parameter.is_flag:
            line.append(draw(_value(parameter)))
    if draw(st.integers(0, 15)) == 0:
        line.insert(
            draw(st.integers(0, len(line))),
            draw(TEXT | st.sampled_from(["--", "-h", "--version", "--plugin", "--jsn"])),
        )
    return line
