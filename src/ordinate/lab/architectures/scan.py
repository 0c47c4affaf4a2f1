"""A positional Transformer that is a finite machine: one shared step over leaps that double, on rounded states.

    s_i <- round(code(relu(encode(x_i))))                                        a token alone
    s_i <- round(F(s_{i - 2^t}, s_i)),      t = 0, 1, ..., ceil(log2 n) - 1      where there is a token 2^t places back
    F(p, s) = W_3 relu(W_2 relu(A p + B s + b_1) + b_2) + b_3
    y_i = decode(relu(read(s_{i-1} | x_i)))                                      s_{-1} = round(begin)

In the sense of arXiv 2410.01686: attention of the form "class only" over `leap`, whose two classes have one key each,
so that the head of each class has the constant weight 1; A and B are their value maps, the concatenation is the
residual path, and there is no LayerNorm. All loops share F, so there is a model of every length.

After loop t a token stands for the 2^(t+1) tokens that end at it, or for all tokens up to it where these are fewer;
such a token stays as it is, so that more loops than these change nothing. A state is `width` signs, in use exactly +1
or -1: a model that comes by few of them is a finite automaton, and can be proven (`ordinate.lab.proofs`).

In use windows of equal length are joined, so that n tokens of training show the step windows of at most n / 2. A share
`drawn` of the batches in training joins the window of a token with one of any loop before it instead, drawn loop by
loop: the step then learns to join whatever meets, and few states are left that only some lengths have.
"""

from collections.abc import Callable
from typing import Annotated

import torch
import torch.nn.functional as F
from jaxtyping import Float
from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator
from torch import Tensor, nn
from typing_extensions import override

from ordinate.attention import Hook
from ordinate.coordinates import Coordinates
from ordinate.encodings import NoPosition
from ordinate.errors import OrdinateError
from ordinate.kinds import Kind, choose
from ordinate.models.inputs import Inputs, Problem, as_features
from ordinate.models.settings import Encodings, Model, ModelSettings

AT_ONCE = 2**15
"""Tokens that are computed at a time outside training."""

States = Float[Tensor, "batch token width"]


class Signs(
    Kind, name="signs", summary="+1 or -1; in training tanh with noise that grows, then signs themselves"
):
    """round(z) = +1 where z >= 0, else -1.

    In training it is tanh(z + noise), whose noise grows linearly over the share `rises` of the training to the
    standard deviation `noise`: what is to be passed on must be far from 0. From the share `exact` on it is the sign of
    z + noise, with the gradient of tanh and a standard deviation of `exact_noise`: what is trained then is what is used
    later.
    """

    noise: float = Field(0.7, ge=0, le=100, description="standard deviation at its largest, before the signs")
    rises: tuple[float, float] = Field(
        (0.2, 0.6), description="shares of the training between which it grows"
    )
    exact: float = Field(0.6, ge=0, le=1, description="share of the training from which states are signs")
    exact_noise: float = Field(0.2, ge=0, le=100, description="standard deviation from then on")

    @model_validator(mode="after")
    def _rises_in_order(self) -> "Signs":
        if not 0 <= self.rises[0] <= self.rises[1] <= 1:
            raise ValueError(f"must have rises = [from, to] between 0 and 1, got {list(self.rises)}")
        return self

    def deviation(self, share: float) -> float:
        """The standard deviation of the noise when this share of the training is done.

        >>> [Signs().deviation(share) for share in (0.1, 0.4, 0.6, 1.0)]
        [0.0, 0.35, 0.2, 0.2]
        """
        if share >= self.exact:
            return self.exact_noise
        first, last = self.rises
        risen = (share - first) / (last - first) if last > first else float(share >= first)
        return round(self.noise * min(1.0, max(0.0, risen)), 12)

    def rounded(self, z: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """The sign, as it is in use.

        >>> Signs().rounded(torch.tensor([0.3, -2.0, 0.0]))
        tensor([ 1., -1.,  1.])
        """
        return torch.where(z >= 0, 1.0, -1.0).to(z.dtype)

    def softly(self, z: Float[Tensor, "..."], share: float) -> Float[Tensor, "..."]:
        """The same in training, with a slope everywhere."""
        if deviation := self.deviation(share):
            z = z + deviation * torch.randn_like(z)
        soft = torch.tanh(z)
        return soft if share < self.exact else soft + (self.rounded(z) - soft).detach()


ROUNDINGS: dict[str, type[Signs]] = {Signs.name: Signs}


class Step(nn.Module):
    """F of the states a leap back and at the same place; the value maps of the two classes are its first layer."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.back = nn.Linear(width, hidden, bias=False)
        self.own = nn.Linear(width, hidden)
        self.middle = nn.Linear(hidden, hidden)
        self.down = nn.Linear(hidden, width)

    @override
    def forward(self, back: States, own: States) -> States:
        first = F.relu(self.back(back) + self.own(own))
        return self.down(F.relu(self.middle(first)))  # type: ignore[no-any-return]


class Scan(Model):
    """Symbols or numbers in, one output a token out, at every length."""

    vectorised = False  # its noise is drawn inside

    def __init__(self, task: Problem, settings: "ScanSettings") -> None:
        super().__init__()
        width, hidden = settings.width, settings.hidden
        self.features, self.rounding, self.drawn = task.features, settings.rounding, settings.drawn
        self.encoding = settings.build_encoding(task.trained(), 1, width)
        self.encode, self.code = nn.Linear(task.features, hidden), nn.Linear(hidden, width)
        self.layers = nn.ModuleList([Step(width, hidden)])
        self.begin = nn.Parameter(torch.randn(width))
        self.read, self.decode = nn.Linear(width + task.features, hidden), nn.Linear(hidden, task.outputs)
        self.states = Hook()
        self.share = 0.0
        self._start()

    def _start(self) -> None:
        """Weights as wide as ReLU needs, so that signals pass the loops."""
        step = self.step
        both = (step.back, step.own)
        for layer in (self.encode, self.code, *both, step.middle, step.down, self.read, self.decode):
            inputs = (1 + (layer in both)) * layer.in_features
            nn.init.normal_(layer.weight, std=(2 / inputs) ** 0.5)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)

    @property
    def step(self) -> Step:
        """The step that all loops share."""
        (step,) = self.layers
        assert isinstance(step, Step)
        return step

    @override
    def progress(self, share: float) -> None:
        self.share = share

    def round(self, z: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """To states: softly in training, exactly in use."""
        return self.rounding.softly(z, self.share) if self.training else self.rounding.rounded(z)

    def alone(self, x: Float[Tensor, "batch token feature"]) -> States:
        """The states of tokens by themselves."""
        return self.round(self.code(F.relu(self.encode(x))))

    def answer(
        self, before: States, x: Float[Tensor, "batch token feature"]
    ) -> Float[Tensor, "batch token out"]:
        """The outputs from the states before the tokens and the tokens themselves."""
        return self.decode(F.relu(self.read(torch.cat([before, x], dim=-1))))  # type: ignore[no-any-return]

    def join(self, back: States, own: States) -> States:
        """The states of two windows, one before the other, as that of both."""
        return self.round(self.step(back, own))

    def loop(self, back: States, own: States, leap: int) -> States:
        """Every token takes in the one a leap back; those without one stay as they are."""
        return torch.cat([own[:, :leap], self._in_pieces(self.join, back[:, :-leap], own[:, leap:])], dim=1)

    def _in_pieces(
        self, compute: Callable[..., Tensor], *inputs: Float[Tensor, "batch token _"]
    ) -> Float[Tensor, "batch token _"]:
        """What is computed for each token on its own; outside training some tokens at a time, which bounds memory."""
        if self.training or torch.is_grad_enabled():
            return compute(*inputs)
        pieces = zip(*(tensor.split(AT_ONCE, dim=1) for tensor in inputs), strict=True)
        return torch.cat([compute(*piece) for piece in pieces], dim=1)

    def scan(self, states: States) -> States:
        """The states behind all loops, of which there are as many as the sequence needs."""
        windows, drawn = [(states, 1)], self.training and float(torch.rand((), device="cpu")) < self.drawn
        while (reach := windows[-1][1]) < states.shape[1]:
            back, more = windows[int(torch.randint(len(windows), (), device="cpu")) if drawn else -1]
            joined = self.states(self.loop(back, windows[-1][0], reach))
            windows = [*(windows if drawn else ()), (joined, reach + more)]
        return windows[-1][0]

    @override
    def forward(self, x: Inputs, coordinates: Coordinates) -> Float[Tensor, "batch token out"]:
        order = _order(coordinates)
        x = x if order is None else x[:, order.to(x.device)]
        outputs = self._in_order(as_features(x, self.features, self.encode.weight.dtype))
        return outputs if order is None else outputs[:, order.argsort().to(x.device)]

    def _in_order(self, x: Float[Tensor, "batch token feature"]) -> Float[Tensor, "batch token out"]:
        states = self.scan(self.states(self._in_pieces(self.alone, x)))
        begin = self.round(self.begin).expand(len(x), 1, -1)
        return self._in_pieces(self.answer, torch.cat([begin, states[:, :-1]], dim=1), x)


def _order(coordinates: Coordinates) -> Tensor | None:
    """The tokens by ordinate; none where they stand in that order."""
    places = coordinates.ordinate_tensor
    order = None if bool((places.diff() == 1).all()) else places.argsort()
    if len(set(coordinates.field)) > 1 or (order is not None and bool((places[order].diff() != 1).any())):
        raise OrdinateError(
            'model.kind = "scan" reads one field without gaps, such as columns of digits or a string; '
            f"here are {len(set(coordinates.field))}: choose another kind, or a task of one field"
        )
    return order


class ScanSettings(
    ModelSettings,
    name="scan",
    summary="one step over doubling leaps on rounded states: a finite machine, provable",
):
    """A scan: `width` signs are passed on from token to token, `hidden` units compute them."""

    layers: int | None = Field(1, ge=1, le=1, description="the step that all loops share")
    heads: int = Field(2, ge=2, le=2, description="one for each class: a leap back, and the same place")
    width: int = Field(8, ge=1, le=63, description="signs of a state")
    encoding: Encodings = (NoPosition().settings,)
    rounding: Annotated[
        SerializeAsAny[Signs], BeforeValidator(lambda v: choose(v, ROUNDINGS, "model.rounding"))
    ] = Signs()
    drawn: float = Field(
        0.5, ge=0, le=1, description="share of batches in training that join windows of any lengths"
    )

    @override
    def check_sizes(self) -> None:
        if self.encoding != (NoPosition().settings,):
            raise ValueError('must have encoding = "none": the relation of a scan is leap')

    @override
    def sizes(self, tokens: int) -> tuple[int, int]:
        width, hidden, loops = self.width, self.hidden, tokens.bit_length()
        return hidden * (hidden + 6 * width), (loops + 1) * (3 * hidden + 4 * width)

    @override
    def build(self, task: Problem) -> Scan:
        return Scan(task, self)
