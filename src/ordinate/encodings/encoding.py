"""The one interface of all positional encodings.

Position may enter a Transformer in five places, and each is a method with a default that does nothing:

| method | where | known by |
|---|---|---|
| `embed` | tokens, before the first layer | one-hot, sinusoidal, learned, Abacus, position coupling |
| `rotate` | queries and keys | RoPE |
| `pairs` | vectors added to keys, one a class of pairs | Shaw, UPE, any relation |
| `bias` | scores | T5, ALiBi, KERPLE, FIRE |
| `scores` | scores, which it reads | DAPE |

An encoding is one class. Its annotated attributes are its settings, its methods what it does; what it says of itself is
given as class keywords (`name`, `summary`, `extrapolation`, `source`):

    class Nearness(Encoding, name="nearness", summary="scores biased by a learned number for every distance"):
        '''score[i, j] += b_{min(|i - j|, reach)} with b learned for each head.'''

        reach: int = Field(default=8, ge=1, description="distances from here on share a number")

        def setup(self, spec):
            self.table = nn.Parameter(torch.zeros(spec.heads, self.reach + 1))

        def bias(self, coordinates, layer):
            place = torch.arange(len(coordinates), device=self.device)
            return self.table[:, (place[:, None] - place).abs().clamp(max=self.reach)]

`Nearness(reach=4)` checks its settings and has nothing to learn yet; its `build(spec)` is the encoding of a model whose
sizes and trained layouts are known: a new module, on which `setup` has been called.

A recipe needs the settings without the module, as a value that can be compared, hashed and written down. So every
subclass of `Encoding` gets such a value class beside it, a frozen pydantic model with the same annotations:
`Nearness.Settings`, made in `__init_subclass__`. `Nearness(reach=4).settings` is the value, its `build(spec)` leads
back, and wherever a recipe takes an encoding, either of them will do, or a name, or a table.
"""

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar, dataclass_transform

import torch
from jaxtyping import Float
from pydantic import Field, ValidationError, model_validator
from torch import Tensor, nn
from typing_extensions import override

from ordinate.coordinates import Coordinates, layout
from ordinate.errors import OrdinateError, explain
from ordinate.kinds import Kind
from ordinate.relations import Pattern

if TYPE_CHECKING:
    from ordinate.encodings.flex import ScoreMod


@dataclass(frozen=True)
class BuildSpec:
    """What an encoding is built for: the model's sizes, and the layouts of its training."""

    trained: tuple[Coordinates, ...]
    """Coordinates of every trained length, the longest last; tokens that the model adds are included."""
    layers: int = 1
    heads: int = 1
    head_dim: int = 1
    """Width of a query and a key in one head."""

    @property
    def capacity(self) -> int:
        """Tokens of the longest sequence in training."""
        if not self.trained:
            raise OrdinateError(
                "this encoding is made for the lengths of training: say how long they are, such as trained=64, or "
                "trained=od.layout(text=64)"
            )
        return max(len(coordinates) for coordinates in self.trained)


class Pairs(NamedTuple):
    """Neighbouring heads that share a pattern: where they look, and a vector for every class of pairs."""

    heads: int
    pattern: Pattern
    vectors: Float[Tensor, "#head cls dim"] | None = None


class EncodingSettings(Kind):
    """The settings of an encoding as a recipe holds them; every subclass of `Encoding` has its own as `Settings`."""

    extrapolation: ClassVar[str] = "not stated"
    source: ClassVar[str] = ""
    builds: ClassVar[type["Encoding"]]
    """The encoding that these are the settings of."""

    def build(self, spec: BuildSpec) -> "Encoding":
        """Make the encoding for a model; first weights come from the global generator."""
        return self.builds(self).build(spec)

    @model_validator(mode="after")
    def _go_together(self) -> "EncodingSettings":
        if self.builds.check_settings is not Encoding.check_settings:
            self.builds(self).check_settings()
        return self


E = TypeVar("E", bound="Encoding")

FACTS = ("name", "summary", "extrapolation", "source")
"""What an encoding says of itself, as text."""


@dataclass_transform(kw_only_default=True, field_specifiers=(Field,))
class Encoding(nn.Module):
    """Position in a Transformer. This one has none: attention sees a set. Subclasses override what they need."""

    name: ClassVar[str]
    """By which recipes know it."""
    summary: ClassVar[str]
    """One line; that of the docstring where not given."""
    extrapolation: ClassVar[str] = "not stated"
    """What happens at positions never trained."""
    source: ClassVar[str] = ""
    """Where it was published: authors, year, arXiv number."""
    Settings: ClassVar[type[EncodingSettings]] = EncodingSettings

    extra_features: int = 0
    """How many columns `embed` appends to a token."""
    random: bool = False
    """Whether `embed` draws from the global generator in training mode: then no two calls are alike."""
    reads_scores: bool = False
    """Whether `scores` does anything: attention then lays out every pair, and calls it."""

    def __init_subclass__(cls, **facts: str) -> None:
        super().__init_subclass__()
        own = vars(cls)
        annotated = {name: kind for name, kind in inspect.get_annotations(cls).items() if name[0] != "_"}
        for name in annotated:
            if name not in FACTS and hasattr(Encoding, name):
                raise OrdinateError(
                    f"{cls.__name__}.{name} is annotated, and so a setting, but every encoding has a {name!r} of its "
                    f"own: write `{name} = ...` to change that, or give the setting another name"
                )
        facts = {name: own[name] for name in FACTS if name in own} | facts
        if cls.__doc__ and "__doc__" in own:
            facts.setdefault("summary", inspect.cleandoc(cls.__doc__).splitlines()[0].rstrip("."))
        for name, fact in facts.items():
            setattr(cls, name, fact)
        metaclass: Any = type(EncodingSettings)
        cls.Settings = metaclass(
            cls.__name__,
            tuple(base.Settings for base in cls.__bases__ if issubclass(base, Encoding)),
            {
                **{name: own[name] for name in annotated if name in own},
                "builds": cls,
                "__annotations__": annotated,
                "__doc__": cls.__doc__,
                "__module__": cls.__module__,
                "__qualname__": f"{cls.__qualname__}.Settings",  # where pickle finds it
            },
            **facts,
        )
        for name in annotated:
            if name in own and name in cls.Settings.model_fields:
                delattr(cls, name)  # values are those of the objects

    def __init__(self, settings: EncodingSettings | None = None, /, **given: Any) -> None:
        super().__init__()
        if settings is None:
            try:
                settings = self.Settings(**given)
            except ValidationError as error:
                raise explain(error, type(self).__name__, self.Settings) from None
        self.settings = settings
        for name in type(settings).model_fields:
            setattr(self, name, getattr(settings, name))
        self.register_buffer("_like", torch.empty(0), persistent=False)  # moves with the module

    def check_settings(self) -> None:
        """Raise a ValueError where settings do not go together."""

    def unbuilt(self: E) -> E:
        """Make a module of the same settings, on which `setup` has not been called."""
        return type(self)(self.settings)

    def build(self: E, spec: BuildSpec) -> E:
        """Make the encoding for a model; first weights come from the global generator."""
        built = self.unbuilt()
        built.setup(spec)
        built._check_bias(spec)
        return built

    def _check_bias(self, spec: BuildSpec) -> None:
        """Refuse a bias of the wrong shape where it is written: in attention nobody knows whose it is."""
        method = inspect.unwrap(type(self).bias)
        if (method.__module__ or "").partition(".")[0] == "ordinate":  # those of the library have tests
            return
        coordinates = min(spec.trained or (layout(token=3),), key=len)
        with torch.no_grad():
            bias = self.bias(coordinates, 0)
        heads, tokens = spec.heads, len(coordinates)
        if bias is not None and tuple(bias.shape) not in ((heads, tokens, tokens), (1, tokens, tokens)):
            raise OrdinateError(
                f"{method.__code__.co_filename}, line {method.__code__.co_firstlineno}: bias of {type(self).__name__} "
                f"has shape {list(bias.shape)} with {heads} heads and {tokens} tokens: return [{heads}, {tokens}, "
                f"{tokens}], or [1, {tokens}, {tokens}] for all heads alike"
            )

    def setup(self, spec: BuildSpec) -> None:
        """Make parameters and buffers, now that the model's sizes and the trained layouts are known."""

    @property
    def device(self) -> torch.device:
        """Where the module is: tensors that a method makes belong there."""
        like: Tensor = self._like  # type: ignore[assignment]
        return like.device

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the module."""
        like: Tensor = self._like  # type: ignore[assignment]
        return like.dtype

    @override
    def extra_repr(self) -> str:
        return repr(self.settings).partition("(")[2][:-1]

    def embed(
        self, x: Float[Tensor, "batch token feature"], coordinates: Coordinates
    ) -> Float[Tensor, "batch token wider"]:
        """Put positions into the tokens."""
        return x

    def rotate(
        self,
        query: Float[Tensor, "*batch head token dim"],
        key: Float[Tensor, "*batch head token dim"],
        coordinates: Coordinates,
    ) -> tuple[Float[Tensor, "*batch head token dim"], Float[Tensor, "*batch head token dim"]]:
        """Turn queries and keys by their positions."""
        return query, key

    @property
    def rotates(self) -> bool:
        """Whether `rotate` does anything: attention then needs queries and keys one by one."""
        return type(self).rotate is not Encoding.rotate

    @property
    def relates(self) -> bool:
        """Whether `pairs` says anything: of encodings that work together, one at most can."""
        return type(self).pairs is not Encoding.pairs

    def pairs(self, coordinates: Coordinates, layer: int) -> tuple[Pairs, ...]:
        """Groups of heads with their patterns; score = q . (k + vector of the pair's class).

        An empty tuple stands for all pairs without vectors.
        """
        return ()

    def at_loop(self, loop: int) -> "Encoding":
        """The encoding in a loop of a looped model, with the same parameters; the same unless a kind says otherwise."""
        return self

    def bias(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head query key"] | None:
        """Numbers that are added to scores; one head stands for all."""
        return None

    def scores(
        self, scores: Float[Tensor, "*batch head query key"], coordinates: Coordinates, layer: int
    ) -> Float[Tensor, "*batch head query key"]:
        """Scores from scores, bias included and -inf where a pair is absent; called where `reads_scores` is true."""
        return scores

    def score_mod(
        self,
        coordinates: Coordinates,
        layer: int = 0,
        *,
        query: Float[Tensor, "batch head token dim"] | None = None,
        scale: float | None = None,
    ) -> "ScoreMod":
        """Biases, class vectors and absent pairs as FlexAttention takes them: score, sample, head, query, key -> score.

        `query` are the queries themselves, where there are vectors that they are multiplied with; `scale` is that of
        the scores, 1 / sqrt(d) where it is not given. Rotations are not in it: rotate queries and keys before.
        """
        from ordinate.encodings.flex import score_mod

        return score_mod(self, coordinates, layer, query, scale)

    def lags(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head lag"] | None:
        """The bias of keys 0 .. n - 1 places back, -inf where they are absent; None where more than the lag decides.

        Causal attention without content is then a convolution.
        """
        return None


EncodingSettings.builds = Encoding
