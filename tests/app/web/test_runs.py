"""Runs on the page: the list, curves as they grow, comparing; broken runs in their place."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.app.web import store as stored
from ordinate.app.web.store import Listing, last_row, read_after
from ordinate.lab.runs import Store
from ordinate.lab.runs.plain import to_json


def runs_of(client):
    return {run["id"]: run for study in client.get("/api/runs").json()["studies"] for run in study["runs"]}


def test_the_list_has_studies_with_their_seeds(client, done):
    studies = {study["name"]: study for study in client.get("/api/runs").json()["studies"]}
    tiny = studies["tiny"]
    assert [run["seed"] for run in tiny["runs"]] == [0, 1]
    assert (tiny["task"], tiny["model"], tiny["metric"]) == ("addition", "encoder", "exact match")
    assert (tiny["done"], tiny["failed"]) == (2, 0)
    scores = [run["scores"]["length=6"] for run in tiny["runs"]]
    assert tiny["median"]["length=6"] == sum(scores) / 2
    assert runs_of(client)[done]["tested"] == 20


def test_a_broken_run_shows_as_broken_and_the_rest_works(client, store):
    statuses = {id_.rsplit("-", 2)[0]: run["status"] for id_, run in runs_of(client).items()}
    assert statuses == {"tiny": "done", "broken": "broken", "linked": "broken", "filelink": "broken"}
    broken = next(run for id_, run in runs_of(client).items() if id_.startswith("broken-"))
    assert "is not the record of a run" in broken["error"]
    answer = client.get("/api/run", params={"run": broken["id"]})
    assert answer.status_code == 400


def test_a_list_that_has_not_changed_is_not_sent_again(client):
    first = client.get("/api/runs")
    again = client.get("/api/runs", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_many_clients_share_one_scan(store, monkeypatch):
    scans = []
    monkeypatch.setattr("ordinate.app.web.store.studies_of", lambda _: scans.append(1) or [])
    listing = Listing(Store(store))
    assert len({listing.read()[1] for _ in range(100)}) == 1
    assert len(scans) == 1


def test_a_run_tells_its_facts_settings_and_scores(client, done):
    run = client.get("/api/run", params={"run": done}).json()
    assert (run["status"], run["step"], run["steps"], run["metric"]) == ("done", 20, 20, "exact match")
    assert run["settings"]["task.digits"] == 2
    assert set(run["scores"]) == {"validation", "length=2", "length=6"}


def test_metrics_come_whole_and_then_only_what_is_new(client, done, store):
    piece = client.get("/api/metrics", params={"run": done}).json()
    rows = [json.loads(line) for line in (store / done / "metrics.jsonl").read_text().splitlines()]
    assert piece["rows"] == rows
    assert (piece["from_start"], piece["more"], piece["unreadable"]) == (True, False, 0)
    again = client.get("/api/metrics", params={"run": done, "mark": piece["mark"]}).json()
    assert (again["rows"], again["from_start"], again["mark"]) == ([], False, piece["mark"])


def test_two_runs_are_compared(client, done):
    other = done.replace("seed-0", "seed-1")
    found = client.get("/api/compare", params={"run": [done, other]}).json()
    assert found["runs"] == [done, other]
    assert found["settings"] == {}
    assert found["facts"]["seed"] == [0, 1]
    assert [len(pair) for pair in found["scores"].values()] == [2, 2, 2]
    for runs in ([done], [done] * 3, []):
        assert client.get("/api/compare", params={"run": runs}).status_code == 400


@pytest.fixture
def file(tmp_path):
    return tmp_path / "metrics.jsonl"


class TestTail:
    def test_nothing_there(self, file):
        assert read_after(file, None) == stored.Piece([], "", False, False, 0)
        assert last_row(file) == {}

    @given(data=st.data())
    def test_pieces_make_up_the_whole_wherever_writes_are_torn(self, data, tmp_path_factory):
        rows = data.draw(
            st.lists(st.dictionaries(st.text(max_size=3), st.integers(), max_size=3), max_size=8)
        )
        text = "".join(to_json(row) + "\n" for row in rows).encode()
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
        file = tmp_path_factory.mktemp("tail") / "metrics.jsonl"
        file.touch()
        found, mark = [], None
        for first, last in zip([0, *cuts], [*cuts, len(text)], strict=True):
            with file.open("ab") as end:
                end.write(text[first:last])
            piece = read_after(file, mark)
            assert piece.from_start == (mark is None)
            found, mark = found + piece.rows, piece.mark
        assert found == rows

    def test_a_file_that_was_rewritten_or_cut_is_read_anew(self, file):
        file.write_text('{"step": 1}\n{"step": 2}\n')
        mark = read_after(file, None).mark
        other = file.with_name("other")
        other.write_text('{"step": 1}\n{"step": 3}\n{"step": 4}\n')
        other.replace(file)
        piece = read_after(file, mark)
        assert piece.from_start
        assert [row["step"] for row in piece.rows] == [1, 3, 4]
        file.write_text('{"step": 1}\n')
        assert read_after(file, piece.mark).from_start

    @pytest.mark.parametrize("mark", ["x", "-", "1-x", "-5--5", "9" * 60, "1-" + "9" * 40])
    def test_marks_that_mean_nothing_are_read_anew(self, file, mark):
        file.write_text('{"step": 1}\n')
        assert read_after(file, mark).rows == [{"step": 1}]

    @pytest.mark.parametrize("place", ["\u00b2", "\u2460", "\u0661", "1\u00b2", " 1", "1_0", "+1", "", "1-1"])
    def test_marks_whose_place_is_no_number_are_read_anew(self, file, place):
        file.write_text('{"step": 1}\n')
        piece = read_after(file, f"{file.stat().st_ino}-{place}")
        assert (piece.rows, piece.from_start) == ([{"step": 1}], True)

    def test_lines_that_are_no_rows_are_counted(self, file):
        file.write_text('{"step": 1}\n[]\n{torn\n' + "[" * 3000 + '\n{"step": 2, "loss": "NaN"}\n')
        piece = read_after(file, None)
        assert (len(piece.rows), piece.unreadable) == (2, 3)

    def test_a_long_file_comes_in_pieces(self, file, monkeypatch):
        monkeypatch.setattr(stored, "AT_ONCE", 64)
        file.write_text("".join(f'{{"step": {step}}}\n' for step in range(40)))
        found, mark, more = [], None, True
        while more:
            piece = read_after(file, mark)
            found, mark, more = found + piece.rows, piece.mark, piece.more
        assert [row["step"] for row in found] == list(range(40))

    def test_a_line_without_an_end_does_not_stop_it(self, file, monkeypatch):
        monkeypatch.setattr(stored, "AT_ONCE", 64)
        file.write_text("x" * 200 + '\n{"step": 1}\n')
        found, mark, more = [], None, True
        while more:
            piece = read_after(file, mark)
            found, mark, more = found + piece.rows, piece.mark, piece.more
        assert found == [{"step": 1}]

    def test_the_last_row_with_a_loss(self, file):
        file.write_text(
            '{"step": 1, "loss": 3}\n' * 500 + '{"step": 2, "loss": 4}\n{"step": 2, "pick": 1}\n{"st'
        )
        assert last_row(file) == {"step": 2, "loss": 4}
