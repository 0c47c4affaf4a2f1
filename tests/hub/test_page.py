"""The page `docs/hub.md`: its examples run, and its tables say what is."""

import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from ordinate.encodings import ENCODINGS as REGISTRY
from ordinate.encodings import NoPosition
from ordinate.errors import OrdinateError
from ordinate.hub import put_attention
from ordinate.hub.hosts import NoLogits, NoPositions, find_stacks
from ordinate.kinds import choose
from tests.hub.hosts import ENCODINGS, NAMED, gpt2, host

PAGE = (Path(__file__).parents[2] / "docs" / "hub.md").read_text(encoding="utf-8")


def table(head):
    """The cells of the table that begins so."""
    rows = PAGE.partition(head)[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("| ").split("|")] for row in rows]


def plain(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


def test_the_table_of_hosts_is_what_the_hosts_are():
    rows = {plain(name): (looks, own) for name, looks, own in table("| host | looks |")}
    assert rows.keys() == {plain(name) for name in NAMED}
    for name in NAMED:
        model = host(name)
        looks = {True: "back", False: "both ways"}
        ways = [looks[stack.causal] for stack in find_stacks(model)[0]]
        put_attention(model, NoPosition(), positions="remove")
        kinds = {
            "learned vectors": any(isinstance(part, NoPositions) for part in model.modules()),
            "rotations": any("Rotary" in type(p).__name__ and p._forward_hooks for p in model.modules()),
            "logits of distance": any(isinstance(part, NoLogits) for part in model.modules()),
            "buckets of distance": name == "t5" and "relative_attention_bias" not in str(model),
        }
        found = ", and ".join([ways[0], *(f"{way} in the decoder" for way in ways[1:])])
        assert rows[plain(name)] == (found, *(kind for kind, there in kinds.items() if there))


def test_the_table_of_encodings_is_what_a_host_takes():
    listed = {name: row[2] for row in table("| encoding | where it enters |") for name in row[0].split(", ")}
    listed = {name.strip("`"): parameters for name, parameters in listed.items()}
    assert listed.keys() == {encoding.name for encoding in ENCODINGS.values()}
    (refused,) = re.findall(r"Encodings that put positions.*?are refused", PAGE, re.DOTALL)
    refused = set(re.findall(r"`([\w-]+)`", refused))
    assert listed.keys() | refused == set(REGISTRY)
    for name in sorted(refused):
        with pytest.raises(OrdinateError, match=f"encoding '{name}' .*: write one that enters the scores"):
            put_attention(gpt2(), choose(name, REGISTRY, "encoding"))
    for encoding in ENCODINGS.values():
        names = [name for name, _ in put_attention(gpt2(), encoding).named_parameters()]
        where = {"class_vectors.tables": "of every layer", "encodings": "of the stack of layers"}
        found = [f"{said}, `{part}`" for part, said in where.items() if any(part in name for name in names)]
        assert [listed[encoding.name]] == (found or ["none"])


def test_the_examples_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(code, names)
    opened, stored = names["again"].state_dict(), load_file("with-shaw/model.safetensors")
    assert any("class_vectors" in name for name in stored)
    assert all(torch.equal(opened[name], tensor) for name, tensor in stored.items())
    assert names["encoding"].bound[0].names[-1] == "11 back"
