"""Scripts that call the engine: with and without the guard that it needs."""

import subprocess

from tests.lab.runs.test_engine import script


def test_functions_and_definitions_of_a_guarded_script_are_known_to_its_workers(tmp_path):
    command, environment = script(
        tmp_path,
        """
        def triple(report, value):
            return 3 * value

        if __name__ == "__main__":
            print([outcome.value for outcome in LocalEngine().run([Job("t", triple, {"value": 5})])])
        """,
    )
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[15]\n"


def test_an_unguarded_script_is_told_what_to_write(tmp_path):
    command, environment = script(
        tmp_path, 'LocalEngine(workers=1).run([Job("a", process_jobs.double, {"value": 1})])\n'
    )
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith('write the call of the engine under `if __name__ == "__main__":`')
