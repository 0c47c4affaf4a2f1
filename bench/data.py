"""Section `data`: how fast sequences with their exact answers are drawn, on one thread."""

from bench.rows import Progress, Row, at_least
from bench.settings import Settings
from bench.textbook_models import load_textbook
from ordinate.lab.evaluation.cost import alternate, seconds_of
from ordinate.lab.seeds import generator
from ordinate.lab.tasks import TASKS, make_task
from ordinate.lab.threads import threads

SUMMARY = "sequences drawn per second on one thread, against samples made one at a time"

RATES = {"sum": 1e6, "min": 1e6, "max": 1e6, "sort": 1e6, "median": 2e5, "max-subarray": 2e5}
RATIOS = {"sum": 200.0, "sort": 200.0}


def run(settings: Settings, progress: Progress) -> list[Row]:
    """Two rows for every task: our rate, and its ratio to the textbook's."""
    rows = []
    with threads(1):
        for name in (name for name, task in TASKS.items() if task.family == "numbers"):
            progress(name)
            ours, textbook = rates(name, settings)
            rows.append(_row(f"{name}: drawn", ours, "sequences/s", RATES.get(name)))
            rows.append(_row(f"{name}: ours / textbook", ours / textbook, "x", RATIOS.get(name)))
    return rows


def rates(name: str, settings: Settings) -> tuple[float, float]:
    """Sequences per second of ours and of the textbook."""
    textbook, task, draw = load_textbook(), make_task(name, length=8), generator(0, "benchmark", name)

    def ours() -> float:
        return settings.drawn / seconds_of(lambda: task.sample(settings.drawn, generator=draw))

    def theirs() -> float:
        made = seconds_of(lambda: [textbook.make_sample(name, 8) for _ in range(settings.made)])
        return settings.made / made

    ours(), theirs()
    first, second = alternate(settings.repeats, ours, theirs)
    return first, second


def _row(measure: str, value: float, unit: str, target: float | None) -> Row:
    return Row(measure, value, unit) if target is None else at_least(measure, value, unit, target)
