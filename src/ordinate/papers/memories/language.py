"""Experiments 1a and 3b: language models. Layers against heads, and what dot products are for.

The text is that of the folder `ORDINATE_CORPUS` where it is set, else the docstrings of Python's standard library.
"""

import os
from dataclasses import dataclass

from ordinate.lab.architectures import Dp, DpFree, Memory, PreNorm
from ordinate.lab.evaluation.predicates import AtLeast, AtMost
from ordinate.lab.tasks import Task, make_task
from ordinate.lab.tasks.text import CHARACTERS, load_corpus
from ordinate.lab.training import AdamW, Cosine, Recipe, Training
from ordinate.papers.aims import Aim, Leads, Steeper, across, along
from ordinate.papers.memories.fixed import FIRST, described, quoted
from ordinate.papers.sheets import PERPLEXITY, Line, Scale, Sheet, Sheets, sheets_figure

FOLDER = "ORDINATE_CORPUS"
"""The environment variable that names a corpus."""


@dataclass(frozen=True, kw_only=True)
class LanguageScale(Scale):
    """Windows and models; `heads` and `hidden` are those of the smallest model."""

    length: int
    layers: tuple[int, ...]
    heads: int
    hidden: int
    width: int
    dim: int

    def task(self) -> Task:
        """The corpus that is there."""
        return make_task("next-character", length=self.length, corpus=os.environ.get(FOLDER, ""))

    def model(self, layers: int, heads: int, hidden: int, *, dot_product: bool = True) -> Memory:
        """LayerNorm in front of all parts: deep models do not train without."""
        return Memory(
            layers=layers,
            heads=heads,
            width=self.width,
            hidden=hidden,
            encoding=(FIRST,),
            attention=Dp(dim=self.dim) if dot_product else DpFree(),
            norm=PreNorm(),
        )

    def language_model(self, name: str, model: Memory) -> Recipe:
        """One language model."""
        return self.recipe(name, self.task(), model)

    def parameters(self, layers: int, heads: int, hidden: int, *, dot_product: bool = True) -> int:
        """How many a model has, linear in heads and in hidden units."""
        width, symbols = self.width, len(CHARACTERS)
        head = width**2 + 1 + (2 * self.dim * width if dot_product else 0)
        attention = layers * (heads * head + width**2)
        ffns = (layers - 1) * hidden * (2 * width + 1) + hidden * (width + 1 + symbols)
        return attention + ffns + width * (symbols + 1) + 4 * layers * width

    def heads_for(self, wanted: int) -> int:
        """As many heads in one layer as have so many parameters."""
        none = self.parameters(1, 0, self.hidden)
        return max(1, round((wanted - none) / (self.parameters(1, 1, self.hidden) - none)))

    def hidden_for(self, wanted: int, layers: int, *, dot_product: bool = True) -> int:
        """As many hidden units as make up so many parameters."""
        none, one = (self.parameters(layers, self.heads, m, dot_product=dot_product) for m in (0, 1))
        return max(1, round((wanted - none) / (one - none)))


SIZES = {
    "smoke": LanguageScale(
        length=12,
        layers=(1, 2),
        heads=1,
        hidden=8,
        width=8,
        dim=4,
        training=Training(steps=3, batch=4),
        seeds=1,
        count=8,
    ),
    "laptop": LanguageScale(
        length=64,
        layers=(1, 2, 4),
        heads=2,
        hidden=128,
        width=32,
        dim=16,
        training=Training(
            steps=1200,
            batch=24,
            optimizer=AdamW(learning_rate=4e-3, betas=(0.9, 0.99), weight_decay=0.1),
            schedule=Cosine(warmup=0.05),
            clip=1.0,
        ),
        seeds=3,
        count=600,
    ),
}
MORE, HEADS, UNITS = "more layers", "more heads", "more hidden units"
WITH, WITHOUT = "with dot products", "without dot products"


def differs(size: LanguageScale) -> str:
    """What was read, and what the published setting was."""
    corpus = load_corpus(os.environ.get(FOLDER, ""))
    return (
        f"Text: {corpus.name}, {len(corpus.trained):,} characters to train on and {len(corpus.held_out):,} held out, "
        f"the last tenth of every text; fingerprint {corpus.fingerprint}. Differs from the published setting: "
        f"characters instead of tokens of OpenWebText, windows of {size.length}, "
        f"{size.training.steps * size.training.batch * size.length:,} characters seen instead of about a billion "
        "tokens; sizes and rates of the published models are not known. The model is that of the paper with LayerNorm "
        f"in front of every part. A corpus of one's own: {FOLDER}=folder, with files *.txt."
    )


@sheets_figure(
    "memories/exp-1a",
    "Layers against heads in a language model",
    "Perplexity of text that training did not see: more layers, more heads in one layer, and more hidden units in "
    "one layer, with as many parameters each.",
    described("characters, 1 to 4 layers, three seeds, sized for 10 minutes on 2 cores", paper=False),
)
def exp_1a(scale: str) -> Sheets:
    """Layers, heads and hidden units, with as many parameters each."""
    size, title = SIZES[scale], "at equal parameters"
    depth = {
        layers: size.language_model(f"1a-layers-{layers}", size.model(layers, size.heads, size.hidden))
        for layers in size.layers
    }
    heads, units = {1: depth[1]}, {1: depth[1]}
    for layers in size.layers[1:]:
        wanted = size.parameters(layers, size.heads, size.hidden)
        heads[layers] = size.language_model(
            f"1a-heads-{layers}", size.model(1, size.heads_for(wanted), size.hidden)
        )
        units[layers] = size.language_model(
            f"1a-units-{layers}", size.model(1, size.heads, size.hidden_for(wanted, 1))
        )
    lines = [
        Line.over(depth, MORE, "positional"),
        Line.over(heads, HEADS, "standard"),
        Line.over(units, UNITS, "hybrid"),
    ]
    most = float(size.layers[-1])
    aims: list[Aim] = [
        Leads(
            f"Layers help: {most:g} have a lower perplexity than one.",
            AtLeast(0),
            *along(title, MORE, 1.0, most),
        ),
        *(
            Leads(
                f"Layers help more than {what}: {most:g} layers have a lower perplexity than one layer of as many "
                "parameters.",
                AtLeast(0),
                *across(title, line, MORE, most),
            )
            for what, line in (("heads", HEADS), ("hidden units", UNITS))
        ),
    ]
    sheet = Sheet(title, "layers, or one layer of as many parameters", lines, PERPLEXITY)
    return Sheets([sheet], aims, size.seeds, f"{quoted('exp-1a')} {differs(size)}")


@sheets_figure(
    "memories/exp-3b",
    "Language models need dot products",
    "Perplexity of text that training did not see, over layers, with and without dot products.",
    described(
        "characters, 1 to 4 layers, three seeds, sized for 10 minutes on 2 cores, less after exp-1a",
        paper=False,
    ),
)
def exp_3b(scale: str) -> Sheets:
    """Depth with and without dot products, with as many parameters each."""
    size, title = SIZES[scale], "dot products"
    full, free = {}, {}
    for layers in size.layers:
        wanted = size.parameters(layers, size.heads, size.hidden)
        hidden = size.hidden_for(wanted, layers, dot_product=False)
        # The layers of experiment 1a, whose runs serve here too.
        full[layers] = size.language_model(f"1a-layers-{layers}", size.model(layers, size.heads, size.hidden))
        model = size.model(layers, size.heads, hidden, dot_product=False)
        free[layers] = size.language_model(f"3b-free-{layers}", model)
    lines = [Line.over(full, WITH, "standard"), Line.over(free, WITHOUT, "positional")]
    depths = tuple(float(layers) for layers in size.layers)
    aims: list[Aim] = [
        *(
            Leads(
                f"Dot products help with {layers:g} layer{'s' if layers > 1 else ''}: the perplexity is lower.",
                AtLeast(0),
                *across(title, WITHOUT, WITH, layers),
            )
            for layers in depths
        ),
        Steeper(
            "They help more the deeper the model: perplexity falls faster with depth.",
            AtMost(0),
            title,
            WITH,
            depths,
            than=WITHOUT,
        ),
    ]
    note = f"{quoted('exp-3b')} {differs(size)} What dot products do not take is given to hidden units."
    return Sheets([Sheet(title, "layers", lines, PERPLEXITY)], aims, size.seeds, note)


FIGURES = (exp_1a, exp_3b)
