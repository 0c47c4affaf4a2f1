"""Encodings of one's own in the arena: set by themselves, behind a causal mask where they need one."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from ordinate.encodings import (
    ENCODINGS,
    Encoding,
    Pairs,
    Rope,
)
from ordinate.errors import OrdinateError
from ordinate.papers import FIGURES
from ordinate.papers.arena import NoPlaceError
from ordinate.papers.arena.cells import SIZES, cells
from ordinate.relations import BoundRelation, everywhere
from tests.papers.inline import Inline

SIZE = replace(SIZES["smoke"], tasks=("copy",), encodings=("alibi",))
LENGTHS = FIGURES["arena/lengths"]


def differences(coordinates):
    place = torch.arange(len(coordinates))
    return place[:, None] - place


class Even(Encoding):
    """Nothing is told apart before it is trained."""

    def setup(self, spec):
        self.table = nn.Parameter(torch.zeros(1, 1000))

    def bias(self, coordinates, layer):
        return self.table[:, differences(coordinates).abs()]


class Sided(Even):
    def bias(self, coordinates, layer):
        return self.table[:, 500 + differences(coordinates)]


class EvenAndColumns(Even):
    extra_features = 1

    def embed(self, x, coordinates):
        place = torch.arange(len(coordinates)).float().view(1, -1, 1)
        return torch.cat([x, place.expand(len(x), -1, -1)], -1)


class EvenAndRotated(Even, Rope):
    def setup(self, spec):
        Even.setup(self, spec)
        Rope.setup(self, spec)


class EvenAndPairs(Even):
    """Beside classes of pairs there is no room for those of a mask."""

    def pairs(self, coordinates, layer):
        return (Pairs(2, BoundRelation(everywhere(), (coordinates,)).pattern(coordinates)),)


class EvenInScores(Encoding):
    reads_scores = True

    def scores(self, scores, coordinates, layer):
        return scores / (1 + differences(coordinates).abs())


class SidedInScores(Even):
    reads_scores = True

    def scores(self, scores, coordinates, layer):
        return scores + scores.roll(1, -1)


class Wide(Even):
    def bias(self, coordinates, layer):
        return super().bias(coordinates, layer)[:, :, None]


def named(encoding):
    """What a recipe can name: the settings of this encoding."""

    class Own(encoding, name="own"):
        """For tests."""

    return Own.Settings


def names(monkeypatch, kind):
    monkeypatch.setitem(ENCODINGS, kind.name, kind)
    return [entrant.name for entrant in SIZE.entrants]


@pytest.mark.parametrize("encoding", [Even, EvenInScores])
def test_what_cannot_tell_left_from_right_takes_part_behind_a_mask_too(encoding, monkeypatch):
    assert names(monkeypatch, named(encoding)) == ["alibi", "own", "own, causal"]


@pytest.mark.parametrize(
    "encoding",
    [Sided, EvenAndColumns, EvenAndRotated, EvenAndPairs, SidedInScores, Encoding],
    ids=lambda made: made.__name__,
)
def test_what_can_or_has_no_positions_takes_part_once(encoding, monkeypatch):
    assert names(monkeypatch, named(encoding)) == ["alibi", "own"]


def test_to_look_at_an_encoding_draws_nothing_from_the_global_generator(monkeypatch):
    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    assert "own, causal" in names(monkeypatch, named(EvenInScores))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_bias_that_fits_no_pairs_is_refused_before_anything_is_trained(monkeypatch):
    with pytest.raises(
        OrdinateError,
        match=r"test_arena_own.py, line \d+: bias of Own has shape \[1, 2, 1, 2\] with 2 heads and 2 tokens: "
        r"return \[2, 2, 2\]",
    ):
        names(monkeypatch, named(Wide))


def test_encodings_named_later_have_cells_too(monkeypatch):
    assert {cell.entrant.name for cell in cells(SIZE)} == {"alibi"}
    monkeypatch.setitem(ENCODINGS, "own", named(Sided))
    assert {cell.entrant.name for cell in cells(SIZE)} == {"alibi", "own"}


class Told(Sided):
    """Set by what is known of the contest."""

    trained: int
    measured: int
    heads: int

    @classmethod
    def for_contest(cls, terms):
        if "letter" not in terms.trained.fields:
            raise NoPlaceError("there are no letters")
        return cls(trained=terms.spec.capacity, measured=len(terms.measured), heads=terms.spec.heads)


def test_an_encoding_sets_itself_for_a_contest_or_says_why_it_takes_no_part(monkeypatch):
    monkeypatch.setitem(ENCODINGS, "own", named(Told))
    found = {cell.contest.name: cell for cell in cells(SIZES["smoke"]) if cell.entrant.name == "own"}
    copy = found["copy"].contest
    (settings,) = found["copy"].recipe.model.encoding
    long = [len(copy.task.coordinates(factor * copy.length)) for factor in (1, 10)]
    assert [settings.trained, settings.measured, settings.heads] == [*long, SIZES["smoke"].heads]
    assert found["sum"].recipe is None
    assert found["sum"].absent == "there are no letters"


class Lacking(Sided):
    """A setting that has no value of its own."""

    reach: int


class Nothing(Lacking):
    """Settings that are not given back."""

    @classmethod
    def for_contest(cls, terms):
        cls(reach=1)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Lacking, "'own' cannot be set for a contest, 'Own.reach' is missing.*give it a for_contest"),
        (Nothing, "for_contest of encoding 'own' gives None: return an encoding"),
    ],
)
def test_an_encoding_that_cannot_be_set_is_refused_in_one_line(kind, message, monkeypatch):
    with pytest.raises(OrdinateError, match=message) as refusal:
        names(monkeypatch, named(kind))
    assert "\n" not in str(refusal.value)


def test_the_encoding_of_the_documentation_is_set_trained_and_told_of_its_mask(tmp_path, monkeypatch):
    page = (Path(__file__).parents[2] / "docs" / "own.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n([^`]*class Nearness.*?)```", page, re.DOTALL)
    written: dict = {"__name__": "nearness"}
    exec(code, written)
    monkeypatch.setitem(ENCODINGS, "nearness", written["Nearness"].Settings)
    monkeypatch.setitem(SIZES, "smoke", SIZE)
    found = {cell.entrant.name: cell for cell in cells(SIZE)}
    trained = found["nearness"].contest.task.trained()
    assert found["nearness"].recipe.model.encoding[0].reach == max(map(len, trained)) - 1
    assert found["nearness"].reached == (1, 2, 4, 10)

    result = LENGTHS.reproduce("smoke", tmp_path, engine=Inline())
    assert {place["entrant"] for place in result.document["ranking"]} == {
        "alibi",
        "nearness",
        "nearness, causal",
    }
    assert result.document["own"] == ["nearness"]
    said = "Your encoding 'nearness' cannot tell left from right and has {} points; behind a causal mask: {}."
    assert said.format("0.00", "0.00") in LENGTHS.all_notes(result.document)
    points = {"nearness": 0.25, "nearness, causal": 0.5, "alibi": 1.0}
    ranking = [place | {"points": points[place["entrant"]]} for place in result.document["ranking"]]
    assert said.format("0.25", "0.50") in LENGTHS.all_notes(result.document | {"ranking": ranking})
    assert "behind a causal mask:" in result.files["html"].read_text(encoding="utf-8")
