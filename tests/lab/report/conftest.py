"""Synthetic curves: two models over ten scales, some seeds failed."""

import numpy as np
import pytest

from ordinate.lab.report.curves import Panel, Series


def series(label: str, *, power: float = 3.0, seeds: int = 5, failed: int = 0, published=None) -> Series:
    rng = np.random.default_rng(len(label))
    x = list(range(1, 11))
    values = 1e-4 * np.array(x) ** power * rng.lognormal(0, 0.4, size=(seeds, 1)) * np.ones((seeds, 10))
    values[:failed, 6:] = np.nan
    return Series(label, label, x, values.tolist(), published or {})


@pytest.fixture
def panels() -> list[Panel]:
    tasks = ["cumulative sum", "cumulative min", "cumulative median", "sort", "cumulative max-subarray"]
    return [
        Panel(
            task,
            "scale c",
            "MSE",
            [
                series("positional", published={2: 1e-3, 10: 0.1}),
                series("standard", power=6.0, failed=int(task == "sort")),
            ],
        )
        for task in tasks
    ]
