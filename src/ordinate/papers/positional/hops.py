"""k-hop induction heads (v3 Figs 3 and 5): communication that depends on data, against depth."""

from dataclasses import dataclass

from ordinate.lab.architectures import Decoder, PositionalDecoder
from ordinate.lab.evaluation.predicates import AtLeast, AtMost
from ordinate.lab.tasks import make_task
from ordinate.lab.training import AdamW, Cosine, Recipe, Training
from ordinate.papers.aims import Aim, Leads, Place, Shows, across, along
from ordinate.papers.positional.value_scale import described
from ordinate.papers.sheets import ENTROPY, SYMBOLS, Line, Scale, Sheet, Sheets, sheets_figure

ALPHABET = 5
MODELS: dict[str, type[Decoder | PositionalDecoder]] = {"positional": PositionalDecoder, "standard": Decoder}


@dataclass(frozen=True, kw_only=True)
class HopScale(Scale):
    """Letters and depths."""

    letters: int
    depths: tuple[int, ...]

    def model(self, label: str, layers: int) -> Recipe:
        """One model of one depth."""
        return self.recipe(
            f"k-hop-{label}-{layers}",
            make_task("k-hop", length=self.letters, hops=3, alphabet=ALPHABET),
            MODELS[label](layers=layers),
            {"unseen": (float(ALPHABET),), "hops": (0.0, 1.0, 2.0, 3.0)},
        )


SIZES = {
    "smoke": HopScale(
        letters=8,
        depths=(1, 3),
        training=Training(steps=4, batch=8, optimizer=AdamW()),
        seeds=1,
        count=20,
    ),
    "laptop": HopScale(
        letters=24,
        depths=(1, 2, 3, 6),
        training=Training(
            steps=3000,
            batch=64,
            optimizer=AdamW(learning_rate=2e-3, betas=(0.9, 0.95), weight_decay=0.1),
            schedule=Cosine(warmup=0.02),
            clip=1.0,
        ),
        seeds=3,
        count=500,
        differs="Differs from the published setting: 24 letters instead of 98, four depths up to 6 layers instead of "
        "eight up to 8, fresh samples instead of 50 000, 3000 steps instead of 100 000 at four times the rate, three "
        "runs instead of ten.",
    ),
    "paper": HopScale(
        letters=98,
        depths=tuple(range(1, 9)),
        training=Training(
            steps=100_000,
            batch=64,
            samples=50_000,
            optimizer=AdamW(learning_rate=5e-4, betas=(0.9, 0.95), weight_decay=0.1),
            clip=1.0,
        ),
        seeds=10,
        count=1000,
    ),
}


INSIDE, UNSEEN, RIGHT = "letters of training", "unseen letters", "three hops, letters of training"


@sheets_figure(
    "positional/k-hop",
    "Induction heads that hop",
    "Loss on k-hop induction heads over the number of layers: where to look next depends on what was found, so "
    "that attention by positions only must carry everything everywhere.",
    described("four depths of both models, three seeds, about 40 minutes on 2 cores"),
)
def k_hop(scale: str) -> Sheets:
    """Both models against depth: loss in and out of distribution, and the hardest samples."""
    size = SIZES[scale]
    recipes = {label: {n: size.model(label, n) for n in size.depths} for label in MODELS}

    def lines(point: str) -> list[Line]:
        return [Line.over(recipes[label], label, label, point) for label in MODELS]

    sheets = [
        Sheet(INSIDE, "layers", lines("validation"), column=ENTROPY),
        Sheet(UNSEEN, "layers", lines(f"unseen={ALPHABET}"), column=ENTROPY),
        Sheet(RIGHT, "layers", lines("hops=3"), column=SYMBOLS),
    ]
    deepest = float(size.depths[-1])
    aims: list[Aim] = [
        Shows("standard has almost no loss with 3 layers.", AtMost(0.05), Place(INSIDE, "standard", 3.0)),
        Leads(
            "positional has more loss than standard with 3 layers.",
            AtLeast(0),
            *across(INSIDE, "positional", "standard", 3.0),
        ),
        Leads(
            "positional gains from depth beyond 3 layers.",
            AtLeast(0),
            *along(INSIDE, "positional", 3.0, deepest),
        ),
        *(
            Leads(
                f"{label} is poor on unseen letters: more loss than on those of training, by 1 nat or more.",
                AtLeast(1),
                Place(UNSEEN, label, deepest),
                Place(INSIDE, label, deepest),
            )
            for label in MODELS
        ),
    ]
    return Sheets(sheets, aims, size.seeds, size.differs)


FIGURES = (k_hop,)
