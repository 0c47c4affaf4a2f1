"""Published numbers of the symmetry paper beside what the library computes exactly."""

import pytest

from ordinate.lab.tasks.arithmetic.carries import carry_levels_distribution, cascade_distribution
from ordinate.papers import published


def test_cascades_are_distributed_as_published():
    """The published 8.3e-4 is an estimate; the exact value is 8.55e-4."""
    known = published("symmetry")["fig-13"]
    assert float(cascade_distribution(50)[:5].sum()) == pytest.approx(known["at most 4, 50 digits"], abs=5e-4)
    assert float(cascade_distribution(5)[4]) == pytest.approx(known["exactly 4, 5 digits"], rel=0.05)


def test_carry_levels_are_distributed_as_published():
    known = published("symmetry")["fig-14"]
    assert float(carry_levels_distribution(20)[:5].sum()) == pytest.approx(
        known["at most 4, 20 digits"], abs=5e-4
    )
    assert float(carry_levels_distribution(5)[4]) == pytest.approx(known["exactly 4, 5 digits"], rel=0.01)
