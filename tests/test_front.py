"""The front door, `import ordinate as od`: few names, loaded when used, and enough for a model of one's own."""

import ast
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from torch import nn

import ordinate as od

NAMES = sorted(set(dir(od)) - {"__version__"})


def run(code):
    """What a new Python prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_there_are_about_sixty_names():
    assert 50 <= len(NAMES) <= 68


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there_and_says_what_it_is(name):
    assert getattr(od, name).__doc__


def test_a_misspelt_name_is_told_the_right_one():
    with pytest.raises(AttributeError, match="did you mean 'relative'"):
        od.relativ  # noqa: B018


def test_star_brings_the_public_names():
    names = {}
    exec("from ordinate import *", names)
    assert set(NAMES) <= set(names)


def test_the_door_alone_loads_nothing_behind_it():
    code = (
        "import ordinate, sys; print([m for m in sys.modules if m == 'torch' or m.startswith('ordinate.')])"
    )
    assert run(code) == "[]"


def test_the_door_alone_loads_no_module_that_python_has_not():
    code = "import sys; known = set(sys.modules); import ordinate; print(set(sys.modules) - known)"
    assert run(code) == "{'ordinate'}"


def test_core_names_load_nothing_of_the_lab():
    code = (
        "import ordinate as od, sys; near = od.aligned('number') * od.window(back=2); "
        "od.Attention(dim=8, heads=2, relation=near); "
        "print([m for m in sys.modules if m.startswith(('ordinate.lab', 'ordinate.papers', 'ordinate.app'))])"
    )
    assert run(code) == "[]"


def test_opening_the_door_takes_hardly_longer_than_starting_python():
    """Below 50 ms, measured against Python's own start in the same minute."""

    def seconds(code):
        begun = time.perf_counter()
        run(code)
        return time.perf_counter() - begun

    pairs = [(seconds("pass"), seconds("import ordinate")) for _ in range(7)]
    bare, door = (min(times) for times in zip(*pairs, strict=True))
    assert door < 2 * bare + 0.02


def test_the_stub_imports_every_name_from_where_it_is_public():
    """From a package that lists it, not from a file inside of one."""
    for line in ast.parse((Path(od.__file__).with_suffix(".pyi")).read_text()).body:
        if isinstance(line, ast.ImportFrom) and line.module != "ordinate":
            module = __import__(line.module, fromlist=["_"])
            listed = getattr(module, "__all__", None)
            assert listed is None or {alias.name for alias in line.names} <= set(listed)


NEAR = od.aligned("number") * od.window(back=2)


@pytest.mark.parametrize("scores", ["content", "content-class", "class"])
def test_attention_runs_at_every_length(scores):
    torch.manual_seed(0)
    attention = od.Attention(dim=8, heads=2, relation=NEAR, scores=scores)
    for tokens in (1, 5, 200):
        assert attention(torch.randn(3, tokens, 8)).shape == (3, tokens, 8)


@pytest.mark.parametrize("scores", ["content", "content-class", "class"])
def test_attention_looks_where_the_relation_says(scores):
    """A changed token changes the outputs of the two behind it and its own."""
    torch.manual_seed(0)
    attention = od.Attention(dim=8, heads=2, relation=NEAR, scores=scores)
    x = torch.randn(1, 9, 8)
    other = x.clone()
    other[0, 4] += 1.0
    changed = (attention(x) - attention(other)).abs().sum(-1)[0] > 1e-6
    assert changed.tolist() == [4 <= token <= 6 for token in range(9)]


def test_a_layout_says_which_tokens_are_in_which_field():
    sums = od.aligned("first", "second", "answer") * od.window(back=1)
    attention = od.Attention(dim=8, heads=2, relation=sums, scores="content-class")
    y = attention(torch.randn(2, 28, 8), od.layout(first=9, second=9, answer=10))
    assert y.shape == (2, 28, 8)
    with pytest.raises(od.OrdinateError, match=r"several fields.*od\.layout"):
        attention(torch.randn(2, 28, 8))


def test_attention_is_attend_over_the_same_relation():
    torch.manual_seed(0)
    attention = od.Attention(dim=8, heads=2, relation=NEAR)
    x = torch.randn(2, 6, 8)
    layout = od.layout(number=6)
    query, key, value = attention.heads.project(x).view(2, 6, 3, 2, 4).permute(2, 0, 3, 1, 4)
    (pairs,) = attention.encoding.pairs(layout, 0)
    mixed = od.attend(query, key, value, NEAR.on(layout), vectors=pairs.vectors, scale=0.5)
    expected = attention.heads.to_output(mixed.transpose(1, 2).flatten(2))
    torch.testing.assert_close(attention(x), expected)


def test_encodings_go_where_a_relation_goes():
    attention = od.Attention(dim=8, heads=2, encoding=od.Rope())
    assert attention(torch.randn(1, 50, 8)).shape == (1, 50, 8)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: od.Attention(dim=10, heads=4), "dim = 10.*4 heads"),
        (lambda: od.Attention(dim=8, heads=2, relation=NEAR, encoding=od.Rope()), "exclude each other"),
        (lambda: od.Attention(dim=8, heads=2, relation=NEAR, scores="contents"), "did you mean 'content'"),
        (lambda: od.Attention(dim=8, heads=2, scores="class"), "relation"),
        (lambda: od.Attention(dim=8, heads=2, relation=od.relative()), "trained="),
        (lambda: od.Attention(dim=8, heads=2, encoding=od.OneHot()), "trained="),
        (lambda: od.Attention(dim=8, heads=2, encoding=od.OneHot(), trained=8), "od.Transformer"),
        (lambda: od.Attention(dim=8, heads=2, relation=NEAR)(torch.zeros(1, 5, 6)), r"\(1, 5, 6\).*token, 8"),
        (lambda: od.Attention(dim=8, heads=2, relation=NEAR)(torch.zeros(5, 8)), r"\(5, 8\).*batch"),
        (
            lambda: od.Attention(dim=8, heads=2, relation=NEAR)(torch.zeros(1, 5, 8), od.layout(number=6)),
            "layout has 6 tokens.*5",
        ),
        (
            lambda: od.Attention(dim=8, heads=2, relation=NEAR)(torch.zeros(1, 5, 8), od.layout(letters=5)),
            "number.*letters",
        ),
    ],
)
def test_what_cannot_be_is_said_in_one_line(make, said):
    with pytest.raises(od.OrdinateError, match=said) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_it_learns_in_a_module_of_ones_own_and_carries_over():
    """The mean of a number and the two before it, learned on 8 numbers and right on 80."""

    class Mean(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Linear(1, 16)
            self.attention = od.Attention(dim=16, heads=2, relation=NEAR, scores="class")
            self.read = nn.Linear(16, 1)

        def forward(self, x):
            return self.read(self.attention(self.embed(x)))

    torch.manual_seed(0)
    model = Mean()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)

    def error(tokens):
        x = torch.randn(64, tokens, 1)
        target = nn.functional.avg_pool1d(nn.functional.pad(x, (0, 0, 2, 0)).mT, 3, 1).mT
        return ((model(x) - target)[:, 2:] ** 2).mean()

    for _ in range(300):
        optimizer.zero_grad()
        error(8).backward()
        optimizer.step()
    assert error(80) < 1e-3


def test_a_model_is_saved_and_loaded_as_any_other(tmp_path):
    one = od.Attention(dim=8, heads=2, relation=NEAR)
    torch.save(one.state_dict(), tmp_path / "weights.pt")
    other = od.Attention(dim=8, heads=2, relation=NEAR)
    other.load_state_dict(torch.load(tmp_path / "weights.pt", weights_only=True))
    x = torch.randn(1, 7, 8)
    assert torch.equal(one(x), other(x))


def test_the_first_python_of_the_readme_is_a_model_of_ones_own():
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    block = readme.split("```python\n", 1)[1].split("```", 1)[0]
    names = {}
    exec(block, names)
    assert any(isinstance(value, type) and issubclass(value, nn.Module) for value in names.values())


def test_the_page_about_ones_own_model_works(capsys):
    page = (Path(__file__).parent.parent / "docs" / "own-model.md").read_text(encoding="utf-8")
    names = {}
    for block in page.split("```python\n")[1:]:
        exec(block.split("```", 1)[0], names)
    said = capsys.readouterr().out
    assert "3 classes" in said
    assert "second 0" in said
    assert "od.relative" not in said
    assert "clip=" in said
    assert names["logits"].shape == (8, 28, 12)
    assert names["out"].shape == (8, 4, 300, 16)
