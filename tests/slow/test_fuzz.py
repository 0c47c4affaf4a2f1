"""2 000 cases of what tests/app/cli/test_fuzz.py asks of 150."""

from tests.fuzzing.cases import changes_end_well, lines_end_well, recipes_end_well


def test_recipes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recipes_end_well(800, limit=3)


def test_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    changes_end_well(500, limit=3)


def test_command_lines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines_end_well(700, monkeypatch, limit=3)
