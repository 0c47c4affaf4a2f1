"""One function decides how attention is computed, and says why."""

import pytest
import torch

from ordinate.attention import ContentKeys, attend, dense, patched, plan
from ordinate.coordinates import Coordinates
from ordinate.encodings import BuildSpec, Encoding, Pairwise
from ordinate.errors import OrdinateError
from ordinate.relations import everywhere, relative
from ordinate.relations import window as near
from tests.attention.pairs import pattern_of, window
from tests.attention.pairs import relative as offsets

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("pattern", "options", "said"),
    [
        (None, {}, "fused: no relation"),
        (None, {"reads_scores": True}, "explicit: the encoding reads the scores of all pairs"),
        (window(2000, 3), {"explicit": "a hook is listened to"}, "explicit: a hook is listened to"),
        (offsets(20, 3), {}, "dense: 20 keys a query of 20 tokens, 3200 scores fit into one chunk of 262144"),
        (offsets(200, 3), {}, "chunked: 200 keys a query of 200 tokens, 320000 scores in chunks of 262144"),
        (window(2000, 3), {}, "sparse: 3 keys a query of 2000 tokens cost as much as 34"),
        (window(2000, 100), {}, "blocked: 97.5 keys a query of 2000 tokens cost as much as 212"),
        (window(2000, 3), {"bias": True}, "chunked: every pair has a bias of its own"),
    ],
)
def test_every_path_says_why(pattern, options, said):
    assert str(plan(pattern, rows=8, device=CPU, **options)).startswith(said)


def test_chunks_are_for_the_cache_of_a_cpu():
    pattern = offsets(200, 3)
    assert plan(pattern, rows=8, device=CPU).path == "chunked"
    assert plan(pattern, rows=8, device=torch.device("cuda")).path == "dense"
    assert plan(pattern, rows=8 * dense.DEVICE_CHUNK, device=torch.device("cuda")).path == "chunked"


def test_scores_of_all_pairs_are_not_read_where_few_are_attended():
    with pytest.raises(
        OrdinateError, match="reads the scores of all pairs, and the relation has 3 keys a query"
    ):
        plan(window(2000, 3), rows=8, device=CPU, reads_scores=True)


def test_a_layer_plans_for_each_group_of_heads():
    short, long = (Coordinates.of(text=range(n)) for n in (8, 400))
    spec = BuildSpec((short,), layers=1, heads=4, head_dim=2)
    encoding = Pairwise(relation=(relative() * near(back=2), everywhere())).build(spec)
    layer = ContentKeys(8, 4)
    plans = layer.plans(torch.zeros(1, 400, 8), long, encoding)
    assert [chosen.path for chosen in plans] == ["sparse", "chunked"]
    with patched(layer, {"scores": lambda x: x}):
        assert [p.path for p in layer.plans(torch.zeros(1, 8, 8), short, encoding)] == ["explicit"] * 2
    assert [p.path for p in layer.plans(torch.zeros(1, 8, 8), short, Encoding())] == ["fused"]


def test_members_of_an_ensemble_with_several_blocks():
    pattern = pattern_of(window(300, 2).dense, count=2, bounds=(0, 100, 300))
    assert plan(pattern, rows=2, device=CPU).path == "sparse"
    query, key, value = (torch.randn(3, 1, 2, 300, 4, dtype=torch.float64) for _ in range(3))

    def run(query, key, value):
        return attend(query, key, value, pattern)

    apart = torch.stack([run(*member) for member in zip(query, key, value, strict=True)])
    torch.testing.assert_close(torch.vmap(run)(query, key, value), apart)
