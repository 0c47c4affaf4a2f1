"""TensorBoard files: one folder a run, `tensorboard --logdir DIR` shows them side by side."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from ordinate.errors import OrdinateError
from ordinate.lab.training.sinks.sink import Sink, Subject


class TensorBoard(Sink):
    """Scalars of every run in event files below `folder`; a run that goes on hides what it had written too far."""

    name: ClassVar[str] = "TensorBoard"

    def __init__(self, folder: Path, subject: Subject) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise OrdinateError(
                "--tensorboard needs the package tensorboard: write pip install 'ordinate[track]'"
            ) from None
        self.folder, self.subject, self._open = folder, subject, SummaryWriter
        self._writers: dict[int, Any] = {}

    def log(self, seed: int, step: int, values: Mapping[str, float]) -> None:
        """Write scalars; the settings go in as text when a run is opened."""
        if seed not in self._writers:
            writer = self._open(str(self.folder / self.subject.ids[seed]), purge_step=step)
            table = "\n".join(f"| {key} | {value} |" for key, value in self.subject.settings.items())
            writer.add_text("settings", f"| setting | value |\n|---|---|\n{table}", step)
            self._writers[seed] = writer
        for name, value in values.items():
            self._writers[seed].add_scalar(name, value, step)

    def end(self, seed: int, status: str) -> None:
        """Flush and close."""
        if seed in self._writers:
            self._writers.pop(seed).close()
