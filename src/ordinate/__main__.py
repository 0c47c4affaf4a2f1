"""The command `ordinate`, also `python -m ordinate`: Ctrl-C is answered before the libraries are loaded.

SIGTERM is answered as Ctrl-C is, so that what a queue or a system ends has saved its state.
"""

import os
import signal
import sys
from types import FrameType

from ordinate.app.cli.failures import INTERRUPTED


def main() -> int:
    """Load the commands, which takes a moment, and run the one that was asked for."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _stop)
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")  # else a count of bytes warns of memory of before
    from ordinate.app.cli.main import main as run

    signal.signal(signal.SIGINT, before)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    return run()


def _stop(number: int, frame: FrameType | None) -> None:
    # Not as an exception: a library that is half loaded may lose it, or raise one of its own instead.
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
