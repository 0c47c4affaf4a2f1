"""Theory: length generalization on a ring, where everything can be known, and what memories take.

The ring, the same training three ways: gradient descent on finite batches (`samples`), on the expected loss
(`population`), and in the limit of small steps, as a flow of inner products (`flow`) with closed forms in special
cases (`proposition`); these names are exported here.

Memories (arXiv 2402.00522), a module each: approximation rates (`rates`), the sums of its Appendix F (`sums`), best
sums of heads in a given number of digits (`fits`, `search`, `reach`), what a lag takes (`needs`), the exact
minimax of attention without dot product (`minimax`), fixed memories as weights (`construct`), and adaptive ones
(`adaptive`, `adaptive_error`), from finite tables (`tables`) and heads that fetch at an index (`indexed`).
"""

from ordinate.papers.theory.flow import flow_slope, integrate_flow, invariant_products, positions_of
from ordinate.papers.theory.models import (
    APE,
    MODELS,
    RPE,
    SHIFTED,
    Absolute,
    LinearModel,
    Parameters,
    Relative,
    same_products,
)
from ordinate.papers.theory.population import Descent, Path, descend, expected_losses, slopes
from ordinate.papers.theory.proposition import (
    loss_of_nothing,
    relative_weights,
    solvable_loss,
    solvable_products,
)
from ordinate.papers.theory.samples import sample_slopes, sampled_losses, train
from ordinate.papers.theory.supervision import (
    all_windows,
    circulant,
    differences_seen,
    expressible,
    first_window,
    least_response,
    pairs_seen,
    sum_by_difference,
    wanted,
)

__all__ = [
    "APE",
    "MODELS",
    "RPE",
    "SHIFTED",
    "Absolute",
    "Descent",
    "LinearModel",
    "Parameters",
    "Path",
    "Relative",
    "all_windows",
    "circulant",
    "descend",
    "differences_seen",
    "expected_losses",
    "expressible",
    "first_window",
    "flow_slope",
    "integrate_flow",
    "invariant_products",
    "least_response",
    "loss_of_nothing",
    "pairs_seen",
    "positions_of",
    "relative_weights",
    "same_products",
    "sample_slopes",
    "sampled_losses",
    "slopes",
    "solvable_loss",
    "solvable_products",
    "sum_by_difference",
    "train",
    "wanted",
]
