"""Cells of the arena: an entrant in a contest is a recipe, and its runs are ordinary runs of a store."""

from dataclasses import dataclass
from functools import lru_cache

from ordinate.encodings import ENCODINGS, BuildSpec, EncodingSettings, Pairwise
from ordinate.lab.training import Evaluation, Linear, Muon, Recipe, Training
from ordinate.models import ResidualEncoder
from ordinate.papers.arena.contests import FACTORS, Contest, Lengths, contests
from ordinate.papers.arena.entrants import Entrant, entrants, reached
from ordinate.papers.arena.terms import NoPlaceError, Terms
from ordinate.relations import causal


@dataclass(frozen=True)
class ArenaScale:
    """One model and one budget for all cells of a scale."""

    layers: int
    heads: int
    width: int
    hidden: int
    steps: int
    batch: int
    count: int
    seeds: int
    lengths: Lengths
    tasks: tuple[str, ...] = ()
    """Contests; all where none are named."""
    encodings: tuple[str, ...] = ()
    """Entrants, plug-ins' besides; all where none are named."""

    @property
    def contests(self) -> tuple[Contest, ...]:
        """Those of this scale."""
        return tuple(c for c in contests(self.lengths).values() if c.name in self.tasks or not self.tasks)

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """Those of this scale."""
        known = entrants([self.terms(contest) for contest in self.contests]).values()
        return tuple(e for e in known if e.name in self.encodings or e.own or not self.encodings)

    def terms(self, contest: Contest) -> Terms:
        """What an encoding may use to set itself up for a contest at this scale."""
        spec = BuildSpec(contest.task.trained(), self.layers, self.heads, self.width // self.heads)
        measured = contest.task.coordinates(FACTORS[-1] * contest.length)
        return Terms(spec, measured, relation=contest.relation, knowledge=contest.knowledge)

    @property
    def training(self) -> Training:
        """The same for everyone."""
        return Training(
            steps=self.steps,
            batch=self.batch,
            optimizer=Muon(learning_rate=5e-3, betas=(0.9, 0.99), weight_decay=0.1),
            schedule=Linear(warmup=0.05),
            clip=1.0,
            average=0.99,
        )


SIZES: dict[str, ArenaScale] = {
    "smoke": ArenaScale(
        layers=1,
        heads=2,
        width=16,
        hidden=16,
        steps=3,
        batch=8,
        count=8,
        seeds=1,
        lengths=Lengths(digits=2, numbers=3, letters=2, bits=3, hop_letters=4, hops=1),
        tasks=("sum", "copy"),
        encodings=("learned", "alibi", "abacus", "pairwise"),
    ),
    "laptop": ArenaScale(
        layers=4,
        heads=4,
        width=64,
        hidden=128,
        steps=1200,
        batch=64,
        count=200,
        seeds=3,
        lengths=Lengths(digits=5, numbers=8, letters=10, bits=10, hop_letters=16, hops=2),
    ),
    "paper": ArenaScale(
        layers=6,
        heads=8,
        width=256,
        hidden=1024,
        steps=50_000,
        batch=256,
        count=1000,
        seeds=5,
        lengths=Lengths(digits=20, numbers=16, letters=40, bits=40, hop_letters=98, hops=3),
    ),
}


@dataclass(frozen=True)
class Cell:
    """An entrant in a contest: its recipe and the multiples of the trained length that it takes, or why it has none."""

    contest: Contest
    entrant: Entrant
    recipe: Recipe | None
    reached: tuple[int, ...] = ()
    absent: str = ""


def cell(contest: Contest, entrant: Entrant, size: ArenaScale) -> Cell:
    """The cell of an entrant in a contest."""
    terms = size.terms(contest)
    try:
        settings = entrant.settings(terms)
    except NoPlaceError as reason:
        return Cell(contest, entrant, None, absent=str(reason))
    factors = reached(settings, contest, terms.spec)
    axes = {"length": tuple(contest.at("length", factor) for factor in factors)}
    if contest.numeric:
        axes["scale"] = (2.0, 4.0, 10.0)
    recipe = Recipe(
        name=f"arena-{contest.name}-{entrant.name.replace(', ', '-').replace(' x ', '-')}",
        task=contest.task,
        model=ResidualEncoder(
            layers=size.layers,
            heads=size.heads,
            width=size.width,
            hidden=size.hidden,
            encoding=(settings, Pairwise(relation=causal())) if entrant.causal else (settings,),
            attention=entrant.form,
        ),
        training=size.training,
        evaluation=Evaluation(count=size.count, axes=axes),
    )
    return Cell(contest, entrant, recipe, factors)


def cells(size: ArenaScale) -> tuple[Cell, ...]:
    """All cells of a scale, contest by contest, of the encodings that are known by now."""
    return _cells(size, tuple(ENCODINGS.values()))


@lru_cache(maxsize=8)
def _cells(size: ArenaScale, known: tuple[type[EncodingSettings], ...]) -> tuple[Cell, ...]:
    entrants = size.entrants
    return tuple(cell(contest, entrant, size) for contest in size.contests for entrant in entrants)
