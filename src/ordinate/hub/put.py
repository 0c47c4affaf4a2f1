"""Encodings put into models of `transformers`: class vectors of any relation, biases, rotations, or none at all.

Version 5 of `transformers` ignores `position_embedding_type="relative_key"`; `put_attention(model, Shaw())` is that
attention again, and every encoding besides that enters the scores.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeVar

from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel

from ordinate.attention import Content, ContentClass, Form
from ordinate.coordinates import Coordinates
from ordinate.encodings import ENCODINGS, BuildSpec, Encoding, EncodingSettings, Pairwise, Shaw, Upe
from ordinate.encodings.class_vectors import Group
from ordinate.errors import OrdinateError
from ordinate.hub.attention import NAME, ClassVectors, Seat
from ordinate.hub.entry import Entry, digest
from ordinate.hub.hosts import Stack, find_stacks, handed_over, size_of, take_positions_away
from ordinate.hub.places import Standing, in_a_row
from ordinate.kinds import choose
from ordinate.relations import causal

Host = TypeVar("Host", bound=nn.Module)

LONGEST = 2048
"""Tokens of the longest sequence in training, where a host could read more and nobody says."""

WITHOUT = 512
"""The same of a host that does not say how many it can read."""

Sizes = dict[tuple[int, int], Encoding]
"""What was built, by heads and their width: in most hosts all layers are alike."""


def put_attention(
    model: Host,
    encoding: Encoding | EncodingSettings,
    *,
    positions: str = "keep",
    coordinates: Callable[[int], Coordinates] = in_a_row,
    form: Form | None = None,
    trained: int | None = None,
) -> Host:
    """Let every self-attention layer of a host see positions as an encoding says.

    A host is any model of `transformers` whose attention goes through its attention interface. Parameters of the
    encoding train and are saved with the model, which `ordinate.hub.load` opens: class vectors belong to a layer,
    `class_vectors.tables`, all else to the stack of layers, `encodings`. Weights of the host stay as they are. In a
    host that looks back only, so does the relation. The model is returned, with a config of its own, which says what
    was put in.

    `encoding`: one that enters the scores; what it draws is from the global generator.
    `positions`: whether the host keeps its own positions beside it, or they are removed, whatever they are: learned
    vectors, rotations, biases. Without them any length can be read.
    `coordinates`: where so many tokens stand, special tokens and padding on the right included.
    `form`: `Content()`, content x (content + class), or `ContentClass()`, content x class, where keys of the host
    are not looked at.
    `trained`: tokens of the longest sequence in training: where not given as many as the host has positions, at most
    2048. Classes of longer sequences must be among those of that one.

    >>> from transformers import GPT2Config, GPT2Model
    >>> import torch
    >>> host = GPT2Model(GPT2Config(n_layer=2, n_head=2, n_embd=8, vocab_size=5, n_positions=16))
    >>> model = put_attention(host, Shaw(clip=4), positions="remove")
    >>> print(*(name for name, _ in model.named_parameters() if "class_vectors" in name))
    h.0.attn.class_vectors.tables.0 h.1.attn.class_vectors.tables.0
    >>> model(torch.zeros(1, 40, dtype=torch.long)).last_hidden_state.shape
    torch.Size([1, 40, 8])
    """
    encoding = choose(encoding, ENCODINGS, "encoding")
    if positions not in ("keep", "remove"):
        raise OrdinateError(f"positions = {positions!r} is not known: write 'keep' or 'remove'")
    stacks, cross = find_stacks(model)
    assert isinstance(model, PreTrainedModel)
    form, standing = form or Content(), Standing(coordinates)
    config: Any = model.config
    trained = trained or min(getattr(config, "max_position_embeddings", None) or WITHOUT, LONGEST)
    built = [_build(stack, encoding, form, standing(trained)) for stack in stacks]
    if positions == "remove":
        for stack in stacks:
            take_positions_away(stack)
    part: Any
    for part in cross:
        part.seat = Seat(size_of(part)[0], causal=False, keep=True)
    for stack, sizes in zip(stacks, built, strict=True):
        _seat(stack, sizes, standing, content=isinstance(form, Content))
    _give_config(model)
    without = all(getattr(stack.owner, "without_positions", False) for stack in stacks)
    Entry(
        encoding=encoding,
        form=form,
        positions="remove" if without else "keep",
        trained=trained,
        coordinates=digest(standing(trained)),
    ).write(model.config)
    model.set_attn_implementation(NAME)
    return model


def _build(stack: Stack, settings: EncodingSettings, form: Form, longest: Coordinates) -> Sizes:
    """The encoding for all layers of a stack, once for every size that they have."""
    if not isinstance(form, Content | ContentClass):
        raise OrdinateError(f"form {form.name!r} does not fit a host: write Content() or ContentClass()")
    unbuilt = settings.builds(settings)
    _check_kind(unbuilt, settings.name)
    if isinstance(form, ContentClass) and not unbuilt.relates:
        raise OrdinateError(
            f"encoding {settings.name!r} has no classes to look for: write Shaw, Upe or Pairwise, or form=Content()"
        )
    built: Sizes = {}
    sizes = [size_of(layer) for layer in stack.layers]
    for heads, width in dict.fromkeys(sizes):
        spec = BuildSpec((longest,), layers=sizes.count((heads, width)), heads=heads, head_dim=width)
        if isinstance(unbuilt, Shaw | Upe | Pairwise):
            built[heads, width] = _with_classes(settings, spec, form, back=stack.causal)
        else:
            built[heads, width] = unbuilt.build(spec)
    return built


def _check_kind(encoding: Encoding, name: str) -> None:
    wrong = ""
    if type(encoding).embed is not Encoding.embed:
        wrong = "puts positions into tokens, not into their attention"
    elif encoding.reads_scores:
        wrong = "reads the scores of all pairs, which attention in a host does not lay out"
    elif encoding.relates and not isinstance(encoding, Shaw | Upe | Pairwise):
        wrong = "has classes that attention in a host does not know"
    if wrong:
        raise OrdinateError(
            f"encoding {name!r} {wrong}: write one that enters the scores, such as Shaw(clip=16), Pairwise(...), "
            "Alibi(), KerpleLog() or Rope()"
        )


def _with_classes(settings: EncodingSettings, spec: BuildSpec, form: Form, *, back: bool) -> Encoding:
    """Class vectors of all layers, over relations that look back only where the host does."""
    built = settings.builds(settings)
    assert isinstance(built, Shaw | Upe | Pairwise)
    groups = built.groups(spec)
    if back:
        groups = [Group(group.heads, group.relation * causal()) for group in groups]
    built.use_groups(spec, groups, per_head=built.per_head, std=built.std)
    for bound in built.bound:
        bound.pattern(spec.trained[0])  # refuses tokens without any key
        if isinstance(form, ContentClass) and not bound.classes:
            raise OrdinateError(
                f"{bound.relation} has no classes to look for: multiply it with relative(clip=8)"
            )
    return built


def _seat(stack: Stack, built: Sizes, standing: Standing, *, content: bool) -> None:
    """Give every layer its seat, and parameters of their own to layers and stack."""
    owner: Any = stack.owner
    keep = not getattr(owner, "without_positions", False)
    if hasattr(owner, "encodings"):
        del owner.encodings
    numbers = dict.fromkeys(built, 0)
    layer: Any
    for layer in stack.layers:
        size = size_of(layer)
        heads, encoding, number = size[0], built[size], numbers[size]
        numbers[size] += 1
        like = next(layer.parameters())
        if hasattr(layer, "class_vectors"):
            del layer.class_vectors
        if isinstance(encoding, Shaw | Upe | Pairwise):
            layer.class_vectors = ClassVectors(encoding, number, content=content).to(like)
            layer.seat = Seat(heads, stack.causal, keep, standing)
        else:
            layer.seat = Seat(heads, stack.causal, keep, standing, encoding.to(like), number)
        layer.seat.unread = handed_over(layer)
    if not any(isinstance(encoding, Shaw | Upe | Pairwise) for encoding in built.values()):
        owner.encodings = nn.ModuleList(built.values())


def _give_config(model: PreTrainedModel) -> None:
    """A copy, since other models may be made of the same config."""
    copies: dict[int, Any] = {}
    for module in model.modules():
        config = getattr(module, "config", None)
        if isinstance(config, PreTrainedConfig):
            module.config = deepcopy(config, copies)
