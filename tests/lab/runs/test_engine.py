"""Jobs run side by side in processes of their own; what goes wrong in one stays there."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Job, LocalEngine
from tests.lab.runs import process_jobs

HERE = Path(__file__).parent


@pytest.fixture
def engine():
    return LocalEngine(workers=2)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pid, seconds=10):
    end = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not alive(pid)


class TestResults:
    def test_outcomes_come_in_the_order_of_the_jobs(self, engine):
        delays = [0.4, 0.0, 0.2, 0.0]
        jobs = [Job(f"job-{k}", process_jobs.double, {"value": k, "delay": d}) for k, d in enumerate(delays)]
        outcomes = engine.run(jobs)
        assert [outcome.job for outcome in outcomes] == jobs
        assert [outcome.value for outcome in outcomes] == [0, 2, 4, 6]
        assert all(outcome.ok and outcome.attempts == 1 for outcome in outcomes)

    def test_no_jobs_is_no_work(self, engine):
        assert engine.run([]) == []

    def test_big_results_come_back(self, engine):
        (outcome,) = engine.run([Job("big", process_jobs.big, {"size": 1_000_000})])
        assert torch.equal(outcome.value, torch.arange(1_000_000))

    def test_each_job_has_its_own_process_with_the_threads_asked_for(self):
        outcomes = LocalEngine(workers=1, threads=1).run(
            [Job(f"job-{k}", process_jobs.settings) for k in range(2)]
        )
        assert [outcome.value["threads"] for outcome in outcomes] == [1, 1]
        assert len({os.getpid(), *(outcome.value["pid"] for outcome in outcomes)}) == 3
        (outcome,) = LocalEngine(workers=1, threads=2).run([Job("two", process_jobs.settings)])
        assert outcome.value["threads"] == 2

    def test_the_parent_keeps_its_thread_variables(self, engine, monkeypatch):
        monkeypatch.setenv("OMP_NUM_THREADS", "5")
        monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
        engine.run([Job("x", process_jobs.double, {"value": 1})])
        assert os.environ["OMP_NUM_THREADS"] == "5"
        assert "MKL_NUM_THREADS" not in os.environ


class TestEvents:
    def test_progress_arrives_in_order_between_started_and_done(self, engine):
        events = []
        engine.run([Job("a", process_jobs.progress, {"steps": 200})], events.append)
        assert [event.kind for event in events] == ["started", *["progress"] * 200, "done"]
        assert [event.facts["step"] for event in events[1:-1]] == list(range(200))
        assert events[0].facts["pid"] != os.getpid()

    def test_progress_arrives_while_the_job_runs(self, engine):
        seen = []

        def stop(event):
            if event.kind == "progress":
                seen.append(event.facts["pid"])
                os.kill(event.facts["pid"], 9)

        outcomes = LocalEngine(workers=1, retries=0).run(
            [Job("s", process_jobs.sleep, {"seconds": 60})], stop
        )
        assert len(seen) == 1
        assert outcomes[0].error == "worker died (signal 9)"


class TestFailures:
    def test_exceptions_come_back_as_text_and_are_not_tried_again(self, engine):
        events = []
        refused, crashed, left, odd, fine = engine.run(
            [
                Job("refuse", process_jobs.refuse),
                Job("crash", process_jobs.crash),
                Job("leave", process_jobs.leave),
                Job("odd", process_jobs.unpicklable),
                Job("fine", process_jobs.double, {"value": 4}),
            ],
            events.append,
        )
        assert refused.error == "length cannot be -1: write 1 or more"
        assert crashed.error.startswith("Traceback")
        assert "IndexError: list index out of range" in crashed.error
        assert "SystemExit: 3" in left.error
        assert "pickle" in odd.error
        assert fine.value == 8
        assert not any(outcome.ok for outcome in (refused, crashed, left, odd))
        assert {event.kind for event in events} == {"started", "done", "failed"}
        assert all(outcome.attempts == 1 for outcome in (refused, crashed, left, odd))

    def test_a_killed_worker_is_tried_again_and_the_others_survive(self, engine, tmp_path):
        events = []
        jobs = [
            Job("killed once", process_jobs.die_first, {"mark": str(tmp_path / "mark")}),
            Job("killed twice", process_jobs.die),
            Job("vanished", process_jobs.vanish),
            *(Job(f"fine-{k}", process_jobs.double, {"value": k}) for k in range(3)),
        ]
        once, twice, vanished, *fine = engine.run(jobs, events.append)
        assert (once.value, once.attempts) == ("second attempt", 2)
        assert (twice.error, twice.attempts) == ("worker died (signal 9) twice", 2)
        assert vanished.error == "worker died (exit code 0) twice"
        assert [outcome.value for outcome in fine] == [0, 2, 4]
        retried = [event for event in events if event.kind == "retried"]
        assert sorted(event.job.name for event in retried) == ["killed once", "killed twice", "vanished"]
        assert retried[0].facts["cause"].startswith("worker died")

    def test_what_cannot_be_sent_is_refused_before_anything_starts(self, engine):
        with pytest.raises(OrdinateError, match="job 'x' cannot be sent to a worker: use a module-level"):
            engine.run([Job("x", lambda report: None)])
        with pytest.raises(OrdinateError, match="argument named report"):
            engine.run([Job("x", process_jobs.double, {"report": 1})])

    @pytest.mark.parametrize("wrong", [{"workers": 0}, {"threads": 0}, {"retries": -1}])
    def test_numbers_out_of_range_are_refused(self, wrong):
        with pytest.raises(OrdinateError, match="cannot be"):
            LocalEngine(**wrong)

    @pytest.mark.parametrize("error", [KeyboardInterrupt, BrokenPipeError])
    def test_an_interrupt_ends_all_workers_and_goes_on(self, engine, error):
        pids = []

        def interrupt(event):
            if event.kind == "progress":
                pids.append(event.facts["pid"])
            if len(pids) == 2:
                raise error

        began = time.monotonic()
        with pytest.raises(error):
            engine.run([Job(f"s{k}", process_jobs.sleep, {"seconds": 60}) for k in range(3)], interrupt)
        assert time.monotonic() - began < 20
        assert len(pids) == 2
        assert not any(alive(pid) for pid in pids)


def script(tmp_path, text):
    path = tmp_path / "script.py"
    head = "import sys\nimport process_jobs\nfrom ordinate.lab.runs import Job, LocalEngine\n"
    path.write_text(head + textwrap.dedent(text))
    return [sys.executable, str(path)], {**os.environ, "PYTHONPATH": str(HERE)}


class TestParent:
    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the server of workers is one of Linux")
    def test_the_death_of_the_server_that_makes_workers_is_a_death_of_the_worker(self):
        from multiprocessing import forkserver

        pids = []

        def kill_server(event):
            if event.kind == "progress":
                pids.append(event.facts["pid"])
                if len(pids) == 1:
                    os.kill(forkserver._forkserver._forkserver_pid, 9)

        (outcome,) = LocalEngine(workers=1).run([Job("s", process_jobs.sleep, {"seconds": 0.5})], kill_server)
        assert outcome.ok
        assert outcome.attempts == 2
        assert gone(pids[0])

    @pytest.mark.skipif(os.name != "posix", reason="asks for the signals of a process")
    def test_ctrl_c_is_answered_by_the_parent_alone(self, tmp_path):
        """A server that still loads libraries would answer with a traceback; what it holds back, its copies do."""
        command, environment = script(
            tmp_path,
            """
            import signal

            if __name__ == "__main__":
                (outcome,) = LocalEngine(workers=1).run([Job("held", process_jobs.held_back)])
                ours = signal.pthread_sigmask(signal.SIG_BLOCK, ())
                print([signal.Signals(number).name for number in outcome.value], ours)
            """,
        )
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "['SIGINT'] set()"

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
    def test_a_worker_ends_when_its_parent_is_killed(self, tmp_path):
        command, environment = script(
            tmp_path,
            """
            def say(event):
                if event.kind == "started":
                    print(event.facts["pid"], flush=True)

            if __name__ == "__main__":
                LocalEngine(workers=1).run([Job("beat", process_jobs.beat, {"path": sys.argv[1]})], say)
            """,
        )
        command.append(str(tmp_path / "beat"))
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as parent:
            pid = int(parent.stdout.readline())
            assert alive(pid)
            parent.kill()
        assert gone(pid)
