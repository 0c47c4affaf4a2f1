"""The library in front stands alone."""

import subprocess
import sys

CORE = ("coordinates", "kinds", "relations", "encodings", "attention", "models")


def test_core_loads_no_task_and_nothing_else_of_the_rooms_behind_it():
    imports = ", ".join(f"ordinate.{module}" for module in CORE)
    show = "print(*(name for name in sys.modules if name.startswith('ordinate.')))"
    script = f"import sys, {imports}; {show}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "ordinate.models" in loaded
    assert {name.split(".")[1] for name in loaded} <= {*CORE, "errors"}
