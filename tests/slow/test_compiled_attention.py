"""`torch.compile` of a layer of attention: one graph, and the same numbers, forward and backward."""

import subprocess
import sys

import pytest

# In a process of its own: the checks of shapes that tests install cannot be compiled.
LAYER = """
import torch
from ordinate.attention import FORMS
from ordinate.coordinates import Coordinates
from ordinate.encodings import BuildSpec, Pairwise
from ordinate.relations import relative, window

here = Coordinates.of(text=range(8))
spec = BuildSpec((here,), layers=1, heads=4, head_dim=2)
encoding = Pairwise(relation=(relative() * window(back=2),)).build(spec)
layer, x = FORMS["{form}"]().build(8, 4, 0), torch.randn(2, 8, 8)
x[0, 5] = float("nan")  # three rows of one sample see it
expected = layer(x, here, encoding)  # tables are made before
compiled = torch.compile(lambda x: layer(x, here, encoding), backend="aot_eager", fullgraph=True)
torch.testing.assert_close(compiled(x), expected, equal_nan=True)
assert expected.isnan().any(-1).nonzero().tolist() == [[0, 5], [0, 6], [0, 7]]
given = x.nan_to_num().requires_grad_()
grads = [torch.autograd.grad(f(given).square().sum(), [given, *layer.parameters()])
         for f in (compiled, lambda x: layer(x, here, encoding))]
torch.testing.assert_close(*grads)
"""


@pytest.mark.parametrize("form", ["content", "content-class", "class"])
def test_a_compiled_layer_says_the_same(form):
    code = LAYER.format(form=form)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
