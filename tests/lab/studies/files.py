"""Studies that train in a moment, and an engine that trains in this process and can let runs die."""

from ordinate.lab.runs import Event, LocalEngine, Outcome

TINY = """
name = "tiny"
seeds = 3
budget = "samples"

[base]
task = {name = "sum", length = 3}
model = {kind = "positional", width = 4, hidden = 4, layers = 1}
training = {steps = 4, batch = 8, log_every = 2}
evaluation = {count = 20, absolute = 1.5, axes = {scale = [2, 3]}}

[[recipes]]
name = "a"

[[recipes]]
name = "b"
model.kind = "standard"
"""


class Here(LocalEngine):
    """Calls every job in this process; those whose names it is given die, as often as it is told."""

    def __init__(self, workers=1, deaths=()):
        super().__init__(workers=1)
        self.deaths = list(deaths)
        self.ran = []

    def run(self, jobs, on_event=None):
        outcomes = []
        for job in jobs:
            self.ran.append(job.name)
            value, error = None, None
            if job.name in self.deaths:
                self.deaths.remove(job.name)
                error = "Traceback\nworker died (signal 9) twice"
            else:
                value = job.call(report=lambda **facts: None, **job.kwargs)
            outcomes.append(Outcome(job, value, error, 1))
            kind, facts = ("done", {"seconds": 0.0}) if error is None else ("failed", {"error": error})
            if on_event is not None:
                on_event(Event(job, kind, facts))
        return outcomes


def write(folder, text, name="study.toml"):
    path = folder / name
    path.write_text(text)
    return path
