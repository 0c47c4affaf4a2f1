"""Whatever a person hands to `ordinate`, it ends with 0, 1, 2 or 130, and what is refused is refused in one line."""

from tests.fuzzing.cases import changes_end_well, lines_end_well, recipes_end_well


def test_recipes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recipes_end_well(50, limit=0.5)


def test_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    changes_end_well(40, limit=0.5)


def test_command_lines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines_end_well(60, monkeypatch, limit=0.5)
