"""An engine for tests of what is done with runs: it trains here, one after the other, and starts no process."""

from ordinate.lab.runs import Event, LocalEngine, Outcome


class Inline(LocalEngine):
    """Calls every job in this process."""

    def __init__(self):
        super().__init__(workers=1)

    def run(self, jobs, on_event=None):
        outcomes = []
        for job in jobs:
            outcomes.append(Outcome(job, job.call(report=lambda **facts: None, **job.kwargs), None, 1))
            if on_event is not None:
                on_event(Event(job, "done", {"seconds": 0.0}))
        return outcomes
