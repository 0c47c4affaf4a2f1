"""Beyond the paper: its neighbours. Pairs and triples, averages over named tokens, counting in brackets, hard looks.

Match2, Match3 and sparse averages are of Sanford, Hsu and Telgarsky 2023 (arXiv 2306.02896), contextual counting of
Golkar et al. 2024 (arXiv 2406.02585), looks at one token of Xu et al. 2020 (arXiv 2009.14658).
"""

from dataclasses import dataclass

from ordinate.encodings import NoPosition, OneHot
from ordinate.lab.architectures import Decoder, Dp, Hard, Memory
from ordinate.lab.evaluation.predicates import AtLeast, AtMost
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Adam, Cosine, Training
from ordinate.models import ResidualEncoder
from ordinate.papers.aims import Aim, Leads, Place, Shows, across, along
from ordinate.papers.memories.fixed import FIRST, SHARE, described
from ordinate.papers.sheets import SYMBOLS, Line, Scale, Sheet, Sheets, sheets_figure

RIGHT = 0.95
"""The share of answers from which on a task counts as learned; a twentieth of the variance where they are numbers."""
NOTE = (
    "Not an experiment of the paper: tasks for which others have proved what attention can and cannot do, small "
    "enough for a laptop. A theorem says what some weights do, not that training finds them."
)


@dataclass(frozen=True, kw_only=True)
class NeighbourScale(Scale):
    """Lengths, and the heads, layers and widths that are compared."""

    length: int
    """Tokens of a pair task; triples have half as many."""
    heads: tuple[int, ...]
    layers: tuple[int, ...]
    widths: tuple[int, ...]
    named: tuple[int, ...]
    width: int

    def encoder(self, layers: int, heads: int) -> ResidualEncoder:
        """All pairs, and no position: pairs and triples are about sets."""
        return ResidualEncoder(
            layers=layers, heads=heads, width=self.width, hidden=2 * self.width, encoding=(NoPosition(),)
        )


SIZES = {
    "smoke": NeighbourScale(
        length=8,
        heads=(1, 2),
        layers=(1, 2),
        widths=(2, 4),
        named=(1, 2),
        width=8,
        training=Training(steps=3, batch=8),
        seeds=1,
        count=20,
    ),
    "laptop": NeighbourScale(
        length=12,
        heads=(1, 2, 4),
        layers=(1, 2, 3),
        widths=(2, 4, 8, 16, 32),
        named=(1, 2, 4),
        width=64,
        training=Training(
            steps=2000,
            batch=64,
            optimizer=Adam(learning_rate=2e-3, betas=(0.9, 0.99)),
            schedule=Cosine(warmup=0.05),
            clip=1.0,
        ),
        seeds=3,
        count=1000,
    ),
}


def _scales(laptop: str) -> dict[str, str]:
    return described(f"{laptop}, three seeds, sized for 10 minutes on 2 cores", paper=False)


@sheets_figure(
    "memories/match-2",
    "Pairs that add up",
    "How often one layer of attention says whether some token completes this one to 0 modulo p.",
    _scales("1 to 4 heads"),
)
def match_2(scale: str) -> Sheets:
    """Pairs: one layer over heads."""
    size, title = SIZES[scale], "pairs that add up"
    task = make_task("match-2", length=size.length, modulus=2 * size.length - 1)
    recipes = {n: size.recipe(f"match-2-{n}", task, size.encoder(1, n)) for n in size.heads}
    aims: list[Aim] = [
        Shows(
            f"One layer with one head answers {RIGHT:.0%} right.",
            AtLeast(RIGHT),
            Place(title, "one layer", 1.0),
        )
    ]
    lines = [Line.over(recipes, "one layer", "standard")]
    return Sheets([Sheet(title, "heads", lines, SYMBOLS)], aims, size.seeds, NOTE)


@sheets_figure(
    "memories/match-3",
    "Triples that add up",
    "How often attention says whether two tokens complete this one to 0 modulo p, over layers.",
    _scales("1 to 3 layers"),
)
def match_3(scale: str) -> Sheets:
    """Triples: layers."""
    size, title, label = SIZES[scale], "triples that add up", "over layers"
    task = make_task("match-3", length=size.length // 2, modulus=2 * size.length - 1)
    recipes = {n: size.recipe(f"match-3-{n}", task, size.encoder(n, size.heads[-1])) for n in size.layers}
    most = float(size.layers[-1])
    aims: list[Aim] = [
        Shows(f"One layer answers less than {RIGHT:.0%} right.", AtMost(RIGHT), Place(title, label, 1.0)),
        Leads(
            f"Layers help: {most:g} answer more than one does.", AtLeast(0), *along(title, label, most, 1.0)
        ),
    ]
    lines = [Line.over(recipes, label, "standard")]
    return Sheets([Sheet(title, "layers", lines, SYMBOLS)], aims, size.seeds, NOTE)


@sheets_figure(
    "memories/sparse-average",
    "Means over named tokens",
    "What one head leaves of the variance of the mean of the q numbers that a token names, over its width.",
    _scales("q = 1 to 4, widths 2 to 32"),
)
def sparse_average(scale: str) -> Sheets:
    """Means over q named tokens: the width of one head."""
    size, title = SIZES[scale], "means over named tokens"
    lines = []
    for role, named in zip(("positional", "standard", "hybrid"), size.named, strict=False):
        task = make_task("sparse-average", length=size.length, named=named)
        recipes = {}
        for width in size.widths:
            # A token that is named has to know its place.
            model = ResidualEncoder(
                layers=1, heads=1, width=width, hidden=2 * size.width, encoding=(OneHot(),)
            )
            recipes[width] = size.recipe(f"average-{named}-{width}", task, model)
        lines.append(Line.over(recipes, f"q = {named}", role))
    few, many = lines[0].label, lines[-1].label
    narrow, wide = float(size.widths[0]), float(size.widths[-1])
    aims: list[Aim] = [
        *(
            Shows(
                f"{line.label}: a head of width {wide:g} leaves less than {1 - RIGHT:.0%} of the variance.",
                AtMost(1 - RIGHT),
                Place(title, line.label, wide),
            )
            for line in lines
        ),
        Leads(
            f"The more are named, the wider a head has to be: at width {narrow:g}, {many} leaves more than {few}.",
            AtLeast(0),
            *across(title, many, few, narrow),
        ),
    ]
    return Sheets([Sheet(title, "width", lines, SHARE, log_x=True)], aims, size.seeds, NOTE)


@sheets_figure(
    "memories/contextual-counting",
    "Counting inside brackets",
    "How often Transformers without positions count the ones since the bracket that is open: causal or not.",
    _scales("1 to 3 layers"),
)
def counting(scale: str) -> Sheets:
    """Counting in brackets: causal attention, and attention that looks both ways."""
    size, title = SIZES[scale], "ones since the bracket"
    task = make_task("contextual-counting", length=2 * size.length, regions=2)
    lines = []
    for label, role, causal in (("causal", "positional", True), ("both ways", "standard", False)):
        recipes = {}
        for layers in size.layers:
            model = Decoder(
                layers=layers,
                heads=size.heads[-1],
                width=size.width,
                hidden=2 * size.width,
                encoding=(NoPosition(),),
                causal=causal,
            )
            recipes[layers] = size.recipe(f"counting-{role}-{layers}", task, model)
        lines.append(Line.over(recipes, label, role))
    most = float(size.layers[-1])
    aims: list[Aim] = [
        Leads(
            f"Without positions, causal attention answers more than attention both ways, with {most:g} layers.",
            AtLeast(0),
            *across(title, "causal", "both ways", most),
        )
    ]
    return Sheets([Sheet(title, "layers", lines, SYMBOLS)], aims, size.seeds, NOTE)


@sheets_figure(
    "memories/hard",
    "Looks at one token",
    "What two layers leave of a token whose lag this token decides: by softmax, and by looks at one token.",
    _scales("1 to 4 heads"),
)
def hard(scale: str) -> Sheets:
    """A memory whose lag the token decides: looks at all tokens, and at one."""
    size, title = SIZES[scale], "a token that is named"
    task = make_task(
        "adaptive-memory",
        nesting=0,
        memories=1,
        within=(1, 2),
        index={"kind": "drawn"},
        readout="sum",
        current=False,
        length=size.length,
    )
    lines = []
    for label, role, look in (
        ("all tokens", "standard", Dp(dim=8)),
        ("one token", "positional", Hard(dim=8)),
    ):
        recipes = {}
        for heads in size.heads:
            model = Memory(
                layers=2,
                heads=heads,
                width=16,
                hidden=size.width,
                encoding=(FIRST,),
                attention=look,
            )
            recipes[heads] = size.recipe(f"hard-{look.name}-{heads}", task, model)
        lines.append(Line.over(recipes, label, role))
    most = float(size.heads[-1])
    aims: list[Aim] = [
        Shows(
            f"Looks at one token learn it: {most:g} heads leave less than {1 - RIGHT:.0%} of the variance.",
            AtMost(1 - RIGHT),
            Place(title, "one token", most),
        ),
        Leads(
            f"They leave at most {1 - RIGHT:.0%} of the variance more than looks at all, with {most:g} heads.",
            AtMost(1 - RIGHT),
            *across(title, "one token", "all tokens", most),
        ),
    ]
    return Sheets([Sheet(title, "heads", lines, SHARE, log_x=True)], aims, size.seeds, NOTE)


FIGURES = (match_2, match_3, sparse_average, counting, hard)
