"""Runs: the store of folders, its index, resume states, and the engines that run many jobs side by side."""

from ordinate.lab.runs.engine import LocalEngine
from ordinate.lab.runs.environment import cores, environment
from ordinate.lab.runs.files import (
    read_json,
    read_tensors,
    write_bytes,
    write_json,
    write_tensors,
    write_text,
)
from ordinate.lab.runs.index import Index
from ordinate.lab.runs.jobs import Engine, Event, Job, OnEvent, Outcome
from ordinate.lab.runs.ray_engine import RayEngine
from ordinate.lab.runs.record import RunRecord, status_now
from ordinate.lab.runs.run import Run
from ordinate.lab.runs.store import Store, recipe_key
from ordinate.lab.threads import keep_freed_memory

__all__ = [
    "Engine",
    "Event",
    "Index",
    "Job",
    "LocalEngine",
    "OnEvent",
    "Outcome",
    "RayEngine",
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
