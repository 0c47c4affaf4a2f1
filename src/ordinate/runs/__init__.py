"""Runs: the store of folders, its index, resume states, and the engine that runs many jobs side by side."""

from ordinate.runs.engine import LocalEngine
from ordinate.runs.environment import cores, environment
from ordinate.runs.files import (
    read_json,
    read_tensors,
    write_bytes,
    write_json,
    write_tensors,
    write_text,
)
from ordinate.runs.index import Index
from ordinate.runs.jobs import Event, Job, Outcome
from ordinate.runs.memory import keep_freed_memory
from ordinate.runs.record import RunRecord, status_now
from ordinate.runs.run import Run
from ordinate.runs.store import Store, recipe_key

__all__ = [
    "Event",
    "Index",
    "Job",
    "LocalEngine",
    "Outcome",
    "Run",
    "RunRecord",
    "Store",
    "cores",
    "environment",
    "keep_freed_memory",
    "read_json",
    "read_tensors",
    "recipe_key",
    "status_now",
    "write_bytes",
    "write_json",
    "write_tensors",
    "write_text",
]
