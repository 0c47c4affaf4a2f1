"""On a real GPU: what the pretended devices promise. Skipped where there is none."""

from pathlib import Path

import pytest
import torch

import ordinate as od
from ordinate.lab.training import Recipe

GPU = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else None
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(GPU is None, reason="neither CUDA nor MPS is there")]

RECIPES = Path(__file__).parent.parent / "recipes"
NEAR = od.aligned("number") * od.window(back=2)


@pytest.mark.parametrize("tokens", [20, 2000])
@pytest.mark.parametrize("scores", ["content", "content-class", "class"])
def test_attention_gives_the_numbers_of_the_cpu(tokens, scores):
    torch.manual_seed(0)
    attention = od.Attention(dim=32, heads=4, relation=NEAR, scores=scores)
    x = torch.randn(2, tokens, 32)
    expected = attention(x)
    expected.square().mean().backward()
    gradients = {name: p.grad.clone() for name, p in attention.named_parameters() if p.grad is not None}
    attention.zero_grad()
    attention.to(GPU)
    out = attention(x.to(GPU))
    out.square().mean().backward()
    torch.testing.assert_close(out.cpu(), expected, atol=1e-4, rtol=1e-4)
    for name, parameter in attention.named_parameters():
        if name in gradients:
            torch.testing.assert_close(parameter.grad.cpu(), gradients[name], atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("path", ["addition-1000", "sum-positional", "k-hop", "memory"])
def test_recipes_train_and_are_opened_on_the_cpu(tmp_path, path, precision):
    document = Recipe.read(RECIPES / f"{path}.toml").to_dict()
    document["training"] |= {"steps": 3, "batch": 8, "device": GPU, "precision": precision}
    document["training"].pop("pick", None)
    document["evaluation"] = {"count": 8}
    run = od.train(Recipe.parse(document), [0, 1], store=str(tmp_path))[0]
    assert run.status == "done"
    assert {parameter.device.type for parameter in od.load(run).parameters()} == {"cpu"}
