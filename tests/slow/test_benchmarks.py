"""Every section that times trainings runs with the quick settings and returns the rows that it declares."""

import pytest
from bench.crew import Crew
from bench.published import change, published

from bench import QUICK
from ordinate.errors import OrdinateError
from tests.bench.rows import rows_of, targets


def test_throughput():
    rows = rows_of("throughput")
    assert targets(rows) == {"positional: ours / textbook": 1.5}
    for kind in ("positional", "standard"):
        ratio = rows[f"{kind}, ours"]["value"] / rows[f"{kind}, textbook"]["value"]
        assert rows[f"{kind}: ours / textbook"]["value"] == pytest.approx(ratio)


def test_best_mode():
    rows = rows_of("best-mode")
    (best,) = targets(rows)
    assert best.startswith("best mode (")
    assert rows[best]["target"] == 4.0
    ratios = [row["value"] for name, row in rows.items() if name.endswith("ours / textbook")]
    assert rows[best]["value"] == max(ratios)
    assert rows["float32: start-up"]["value"] > 0


def test_a_process_that_dies_is_an_error():
    impossible = change(published("positional", QUICK), batch=0)
    with (
        pytest.raises(OrdinateError, match="process died"),
        Crew(impossible, members=1, workers=1, window=0.1),
    ):
        pass


def test_quality(monkeypatch):
    monkeypatch.setattr("bench.quality.bfloat16_speed", lambda settings: 2.0)
    rows = rows_of("quality")
    worst = rows["float32: largest of final losses"]["value"]
    assert list(targets(rows).values()) == [worst] * 3


def test_time_to_quality():
    rows = rows_of("time-to-quality")
    ratio = rows["textbook / ours"]
    assert ratio["target"] == 5.0
    assert ratio["unit"] in ("x", "x or more")


def test_peak():
    rows = rows_of("peak")
    for kind in ("positional", "standard"):
        assert rows[f"{kind}: merged step"]["value"] < rows[f"{kind}: textbook step"]["value"]
    assert targets(rows) == {}


def test_growth():
    rows = rows_of("growth")
    slopes = [name for name in rows if "slope" in name]
    assert slopes == [
        f"{kind}: slope over {axis}"
        for kind in ("positional", "standard")
        for axis in ("length", "batch", "layers")
    ]


def test_relations():
    rows = rows_of("relations")
    assert targets(rows) == {
        "layer: relative classes / none": 1.5,
        "Shaw's keys at 9 tokens: gathered / ours": 1.0,
        "Shaw's keys at 64 tokens: gathered / ours": 1.5,
        "Shaw's keys at 64 tokens, freed memory kept: gathered / ours": 1.5,
        "Shaw's keys at 64 tokens: memory, ours / gathered": 0.25,
        "window at 64 tokens: dense / sparse": 10.0,
        "sparse: slope over tokens": 1.15,
        "choice at 9 tokens, dense: other / chosen": 1.0,
        "choice at 200 tokens, sparse: other / chosen": 1.0,
    }


def test_toeplitz():
    rows = rows_of("toeplitz")
    assert targets(rows) == {
        "FFT: slope over tokens": 1.2,
        "outputs at 40 tokens, relative difference": 1e-10,
        "gradients at 40 tokens, relative difference": 1e-10,
        "choice at 16 tokens of 8 samples, pairs: other / chosen": 1.0,
        "choice at 256 tokens of 1 samples, FFT: other / chosen": 1.0,
    }
    assert all(row["ok"] for name, row in rows.items() if "relative difference" in name)
    assert "training step at 256 tokens" in rows


def test_numerics():
    rows = rows_of("numerics")
    assert list(targets(rows).values()) == [1e-4] * 4  # float32 and float64 of two models
    assert all(row["value"] <= 1e-4 for row in rows.values() if row["target"])
    assert all(row["value"] < 1e-12 for name, row in rows.items() if name.endswith("float64"))
