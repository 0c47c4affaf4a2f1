"""Fifth stage: the weights of a `Transformer`, the class that training uses (ablation model M1: X with P beside it).

encode    writes the columns of boundary 0: input words, and constants of the position from the rows of P = I;
values    of a head are the forms that it sends, one a slot; `to_output` is the identity;
up, down  are the hidden units of the layer and the columns behind it;
decode    reads the outputs.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import nn

from ordinate.encodings import BuildSpec, OneHot, VectorEncoding
from ordinate.lab.architectures import ConcatTransformer
from ordinate.lab.architectures.concat import append_dummy
from ordinate.lab.programs.compiler.columns import Allocation, Head, Layer
from ordinate.lab.programs.compiler.graph import Constant, Input, Receive
from ordinate.lab.programs.table import DUMMY_SOURCE, TableAttention, densify
from ordinate.lab.tasks.numbers import number_coordinates


def build(allocation: Allocation, dtype: torch.dtype) -> ConcatTransformer:
    """A model with tables of sources instead of queries and keys."""
    graph = allocation.schedule.graph
    coordinates = append_dummy(number_coordinates(graph.n))
    encoding = OneHot().build(
        BuildSpec((coordinates,), len(allocation.layers), allocation.heads, allocation.width)
    )
    attentions = [_attention(allocation, layer, k) for k, layer in enumerate(allocation.layers)]
    outputs = len(graph.outputs)
    model = ConcatTransformer(
        graph.words, outputs, allocation.hidden, attentions, encoding, embed_positions=True
    ).to(dtype)
    with torch.no_grad():
        _fill(model.encode, _encode(allocation), np.zeros(allocation.width))
        for number, (block, layer) in enumerate(zip(model.blocks, allocation.layers, strict=True)):
            _fill(block.attention.to_values, *_values(allocation, layer))
            _fill(block.attention.to_output, np.eye(allocation.width), np.zeros(allocation.width))
            _fill(block.up, *_up(allocation, layer, number))
            _fill(block.down, _down(allocation, layer), np.zeros(allocation.width))
        _fill(model.decode, *_decode(allocation))
    return model.requires_grad_(False).eval()


def with_queries_and_keys(model: ConcatTransformer) -> ConcatTransformer:
    """The same model in the parameters that training has: dense query and key weights in every layer."""
    attentions = []
    for block in model.blocks:
        assert isinstance(block.attention, TableAttention)
        assert isinstance(model.encoding, VectorEncoding)
        attentions.append(densify(block.attention, model.encoding))
    dense = ConcatTransformer(
        model.features,
        model.decode.out_features,
        model.blocks[0].up.out_features,
        attentions,
        model.encoding,
        embed_positions=True,
    ).to(model.encode.weight.dtype)
    known = {name: value for name, value in model.state_dict().items() if ".attention." not in name}
    dense.load_state_dict({**dense.state_dict(), **known})
    dense.merge = False  # the proof of the error bound is about the layers as they are
    return dense.eval()


def _fill(linear: nn.Linear, weight: Float[np.ndarray, "out in"], bias: Float[np.ndarray, " out"]) -> None:
    linear.weight.copy_(torch.from_numpy(weight))
    linear.bias.copy_(torch.from_numpy(bias))


def _attention(allocation: Allocation, layer: Layer, number: int) -> TableAttention:
    n = allocation.schedule.graph.n
    source = np.full((allocation.heads, n), DUMMY_SOURCE)
    weight = np.ones((allocation.heads, n))
    for row, head in enumerate(layer.heads):
        source[row], weight[row] = head.pattern.source, head.pattern.weight
    return TableAttention(allocation.width, torch.from_numpy(source), torch.from_numpy(weight), number)


def _encode(allocation: Allocation) -> Float[np.ndarray, "width input"]:
    graph = allocation.schedule.graph
    weight = np.zeros((allocation.width, graph.words + graph.n + 1))
    for column, form in enumerate(allocation.layers[0].before.forms):
        for number, coefficient in form.terms:
            atom = graph.atoms[number]
            if isinstance(atom, Input):
                weight[column, atom.word] += coefficient
            elif isinstance(atom, Constant):
                weight[column, graph.words : graph.words + graph.n] += coefficient * atom.values
    return weight


def _slots(allocation: Allocation, heads: tuple[Head, ...]) -> dict[int, int]:
    """The column of what attention brings, for every received word."""
    wide = allocation.width // allocation.heads
    return {word: h * wide + s for h, head in enumerate(heads) for s, word in enumerate(head.words)}


def _values(
    allocation: Allocation, layer: Layer
) -> tuple[Float[np.ndarray, "width width"], Float[np.ndarray, " width"]]:
    weight, bias = np.zeros((allocation.width, allocation.width)), np.zeros(allocation.width)
    for word, row in _slots(allocation, layer.heads).items():
        atom = allocation.schedule.graph.atoms[word]
        assert isinstance(atom, Receive)
        weight[row, : len(layer.before.forms)] = layer.before.express(atom.form)
        bias[row] = atom.form.constant
    return weight, bias


def _up(
    allocation: Allocation, layer: Layer, number: int
) -> tuple[Float[np.ndarray, "hidden both"], Float[np.ndarray, " hidden"]]:
    weight, bias = np.zeros((allocation.hidden, 2 * allocation.width)), np.zeros(allocation.hidden)
    slots = _slots(allocation, layer.heads)
    for row, unit in enumerate(layer.units):
        stored = allocation.schedule.stored_part(unit.form, number)
        weight[row, : len(layer.before.forms)] = unit.sign * layer.before.express(stored)
        for atom, coefficient in unit.form.terms:
            if atom in slots:
                weight[row, allocation.width + slots[atom]] = unit.sign * coefficient
        bias[row] = unit.sign * unit.form.constant
    return weight, bias


def _down(allocation: Allocation, layer: Layer) -> Float[np.ndarray, "width hidden"]:
    weight = np.zeros((allocation.width, allocation.hidden))
    for column, unit, coefficient in layer.down:
        weight[column, unit] += coefficient
    return weight


def _decode(
    allocation: Allocation,
) -> tuple[Float[np.ndarray, "out width"], Float[np.ndarray, " out"]]:
    graph, last = allocation.schedule.graph, allocation.layers[-1].after
    weight = np.zeros((len(graph.outputs), allocation.width))
    for row, form in enumerate(graph.outputs):
        weight[row, : len(last.forms)] = last.express(form)
    return weight, np.array([form.constant for form in graph.outputs])
