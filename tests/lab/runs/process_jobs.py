"""Functions that the tests run in other processes: module-level, so that a fresh process can import them."""

import os
import signal
import time
from pathlib import Path

import torch

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Store


def double(report, value, delay=0.0):
    time.sleep(delay)
    return 2 * value


def square(report, number):
    for step in range(1, 4):
        report(step=step, steps=3, loss=1.0 / step)
    return number**2


def progress(report, steps):
    for step in range(steps):
        report(step=step, loss=1.0 / (step + 1))
    return steps


def refuse(report):
    raise OrdinateError("length cannot be -1: write 1 or more")


def crash(report):
    return [1, 2][5]


def leave(report):
    raise SystemExit(3)


def unpicklable(report):
    return lambda: None


def big(report, size):
    return torch.arange(size)


def settings(report):
    return {"threads": torch.get_num_threads(), "omp": os.environ.get("OMP_NUM_THREADS"), "pid": os.getpid()}


def die_first(report, mark):
    """Die by SIGKILL the first time, return the second time."""
    if not Path(mark).exists():
        Path(mark).write_text("")
        os.kill(os.getpid(), signal.SIGKILL)
    return "second attempt"


def die(report):
    os.kill(os.getpid(), signal.SIGKILL)


def vanish(report):
    os._exit(0)


def sleep(report, seconds):
    report(pid=os.getpid())
    time.sleep(seconds)


def held_back(report):
    """The signals that never reach this process."""
    return sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def beat(report, path):
    """Write the time into a file until ended."""
    report(ready=True)
    for _ in range(600):
        Path(path).write_text(f"{os.getpid()} {time.time()}")
        time.sleep(0.05)


def update_many(root, seeds, times):
    store = Store(root)
    for k in range(times):
        for seed in seeds:
            run = store.open({"name": "sum", "task": {"name": "sum"}}, seed)
            run.update(step=k, scores={f"by-{os.getpid()}": k})


def read_many(root, times):
    for _ in range(times):
        Store(root).runs(name="sum")


def hold_lock(root, seed, connection):
    with Store(root).open({"name": "sum"}, seed).lock():
        connection.send(os.getpid())
        connection.recv()
