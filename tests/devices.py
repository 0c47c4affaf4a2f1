"""Two pretended devices, to show on a machine without a GPU that code runs on one.

- `AWAY` holds real numbers, so that values and gradients can be compared with those of the CPU. A tensor that lives
  there meets only others that do (and numbers without axes, as on a GPU); anything else is an error that names the
  operation. `AWAY.waits` counts how often the CPU would have waited for a number.
- `AFAR` is the device "afar:0" of a backend written in Python, and holds no numbers (`FakeTensorMode`): shapes, dtypes
  and devices alone. It knows `autocast` and refuses whatever would make the CPU wait. Nothing is differentiated there:
  torch would keep a thread for it, and a process with such threads cannot be forked.

What is made inside of `with AWAY:` or `with AFAR:` without `device=` is on the CPU, as always.

    x = away(torch.randn(3))                       # a module is moved in place
    with AWAY:
        model(x).sum().backward()

    assert_runs_anywhere(lambda x: attend(x, x, x, pattern), x)
    assert_trains_anywhere(model, lambda model, x: model(x, coordinates), x)

To torch's own code AWAY is the device "meta", the only one besides the CPU that needs no driver.
"""

from contextlib import nullcontext
from copy import deepcopy
from functools import cache, partial

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils import backend_registration as backends
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

aten = torch.ops.aten
COPIES = (aten._to_copy.default, aten.copy_.default, aten.detach.default, aten.lift_fresh.default)
"""What may read a tensor of the CPU."""
INDEXING = (aten.index.Tensor, aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default)
"""What takes indices of the CPU on every device."""


class TwoDevices(RuntimeError):
    """Tensors of two devices met."""


class Away(torch.Tensor):
    """A tensor of the pretended device around one of the CPU."""

    @staticmethod
    def __new__(cls, inner):
        layout = {"strides": inner.stride(), "storage_offset": inner.storage_offset()}
        return torch.Tensor._make_wrapper_subclass(
            cls, inner.shape, dtype=inner.dtype, device="meta", requires_grad=False, **layout
        )

    def __init__(self, inner):
        self.inner = inner

    def __repr__(self):
        return f"Away({self.inner!r})"

    def tolist(self):
        return self.inner.tolist()

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        with AWAY:  # the backward pass and optimisers run outside of the block
            return func(*args, **(kwargs or {}))


class _AwayMode(TorchDispatchMode):
    """Computes on what is inside, and refuses to mix."""

    waits = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        there = any(isinstance(x, Away) for x in tensors)
        if there and func in INDEXING and not isinstance(tensors[0], Away):
            raise TwoDevices(f"{func}: a tensor of the CPU is indexed by one of the device")
        mixed = there and any(x.dim() and not isinstance(x, Away) for x in tensors)
        if mixed and func not in COPIES + INDEXING:
            raise TwoDevices(f"{func}: tensors on two devices, shapes {[tuple(x.shape) for x in tensors]}")
        if func is aten._local_scalar_dense.default:
            self.waits += there
            return func(*tree_map(_inner, args))
        if kwargs.get("device") is not None:
            there = torch.device(kwargs["device"]).type == "meta"
            kwargs["device"] = torch.device("cpu")
        if func is aten._conj.default:  # a view that only marks its numbers, which a wrapper does not show
            func = aten._conj_physical.default
        inside, inside_kwargs = tree_map(_inner, (args, kwargs))
        result = func(*inside, **inside_kwargs)
        if func is aten.copy_.default:
            return args[0]
        if torch.Tag.inplace_view in func.tags and there:  # the shape outside follows
            with no_dispatch():
                func(*args, **kwargs)
            return args[0]
        known = {id(x.inner): x for x in tensors if isinstance(x, Away)}

        def outside(x):
            if not isinstance(x, torch.Tensor) or not there:
                return x
            return known[id(x)] if id(x) in known else Away(x)

        return tree_map(outside, result)


def _inner(x):
    return x.inner if isinstance(x, Away) else x


LOWERED = (
    aten.linear.default,
    aten.matmul.default,
    aten.mm.default,
    aten.bmm.default,
    aten.addmm.default,
    aten.baddbmm.default,
    aten.conv2d.default,
    aten.scaled_dot_product_attention.default,
)
"""What `autocast` computes in the lower precision, as on CUDA."""
RAISED = (aten.softmax.int, aten.exp.default, aten.log.default, aten.layer_norm.default, aten.cumsum.default)
"""What it computes in float32."""


class _Afar(backends._DummyBackendModule):
    """The module `torch.afar`."""

    def get_amp_supported_dtype(self):
        return [torch.bfloat16, torch.float16]

    def is_available(self):
        return False  # nothing is put there that was not asked for

    def get_rng_state(self, device=None):
        return torch.zeros(0, dtype=torch.uint8)  # where generators are forked, on all devices there are

    def set_rng_state(self, state, device=None):
        pass


class _Hooks(backends._DummyPrivateUse1Hook):
    def is_available(self):
        return False


@cache
def _register():
    """Let torch know the device "afar", once for the process, and not before a test wants it."""
    torch.ones((), requires_grad=True).backward()  # its engine starts without a thread for "afar"
    backends._setup_privateuseone_for_python_backend("afar", backend_module=_Afar(), hook=_Hooks())
    key = "AutocastPrivateUse1"
    others, rules = torch.library.Library("_", "IMPL", key), torch.library.Library("aten", "IMPL", key)
    others.fallback(torch.library.fallthrough_kernel)
    for operation in LOWERED + RAISED:
        rules.impl(operation, partial(_autocast, operation))
    return others, rules  # they hold as long as they are kept


def _autocast(operation, *args, **kwargs):
    dtype = torch.float32 if operation in RAISED else torch.get_autocast_dtype("afar")

    def cast(x):
        return (
            x.to(dtype)
            if isinstance(x, torch.Tensor) and x.dtype in (torch.float32, torch.bfloat16, torch.float16)
            else x
        )

    with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)):
        args, kwargs = tree_map(cast, (args, kwargs))
        return operation(*args, **kwargs)


class _AfarMode(FakeTensorMode):
    """Fake tensors on "afar"; those of the CPU have numbers, may be copied over, and be indices and scalars."""

    def __enter__(self):
        _register()
        return super().__enter__()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        there = any(isinstance(x, FakeTensor) for x in tree_leaves((args, kwargs)))
        device = kwargs.get("device")
        if not there and (device is None or torch.device(device).type != "afar"):
            return func(*args, **kwargs)

        def fake(x):
            if not isinstance(x, torch.Tensor) or isinstance(x, FakeTensor):
                return x
            if x.dim() and func not in COPIES + INDEXING:
                raise TwoDevices(f"{func}: tensors on two devices, one of shape {tuple(x.shape)} on the CPU")
            return self.fake_tensor_converter.from_real_tensor(self, x)

        return super().__torch_dispatch__(func, types, tree_map(fake, args), kwargs)


AWAY = _AwayMode()
AFAR = _AfarMode(allow_non_fake_inputs=False)
DEVICES = {"away": (AWAY, "meta"), "afar": (AFAR, "afar:0")}


def moved(x, device):
    """A tensor, or a module in place, on "away" or "afar"; what is neither stays as it is."""
    mode, name = DEVICES[device]
    if isinstance(x, nn.Module):
        for module in x.modules():
            for key, parameter in module._parameters.items():
                if parameter is not None:
                    there = moved(parameter.detach().clone(), device)
                    module._parameters[key] = nn.Parameter(
                        there, parameter.requires_grad and device != "afar"
                    )
            for key, buffer in module._buffers.items():
                module._buffers[key] = moved(buffer, device)
        return x
    if not isinstance(x, torch.Tensor):
        return x
    with mode:
        return x.detach().to(name).requires_grad_(x.requires_grad and device != "afar")


def away(x):
    """On the device that holds numbers."""
    return moved(x, "away")


def back(x):
    """The tensor of the CPU inside, detached."""
    return x.detach().inner.clone() if isinstance(x, Away) else x.detach()


def afar_autocast():
    """`torch.autocast` of the device without numbers."""
    return torch.autocast("afar", dtype=torch.bfloat16)


def assert_runs_anywhere(function, *given, autocast=True, **close):
    """The same output and gradients as on the CPU, without waiting; `given` are tensors, or what stays as it is."""
    out, gradients = _run(function, given)
    with AWAY:
        before = AWAY.waits
        found = _run(function, [moved(x, "away") for x in given])
        assert AWAY.waits == before, f"the CPU waited {AWAY.waits - before} times"
    assert _all_on("meta", found)
    torch.testing.assert_close(tree_map(back, found), (out, gradients), equal_nan=True, **close)
    there = [moved(x, "afar") for x in given]
    for context in (nullcontext, afar_autocast)[: 1 + autocast]:
        with AFAR, torch.no_grad(), context():
            found = function(*there)
            assert _all_on("afar:0", found)
            if context is nullcontext:
                assert (found.shape, found.dtype) == (out.shape, out.dtype)


def _run(function, given):
    out = function(*given)
    leaves = [x for x in given if isinstance(x, torch.Tensor) and x.requires_grad]
    weights = torch.linspace(-1, 2, max(1, out.numel()))[: out.numel()].view(out.shape).to(out)
    return out.detach(), torch.autograd.grad((out * weights).sum(), leaves, materialize_grads=True)


def assert_trains_anywhere(model, forward, *given, autocast=True, **close):
    """`forward(model, *given)` and a step of AdamW: the same output, gradients and parameters as on the CPU."""
    expected = _step(deepcopy(model), forward, given)
    twin, there = away(deepcopy(model)), [moved(x, "away") for x in given]
    with AWAY:
        found = _step(twin, forward, there)
    assert _all_on("meta", found)
    torch.testing.assert_close(tree_map(back, found), expected, **close)
    twin, there = moved(deepcopy(model), "afar"), [moved(x, "afar") for x in given]
    for context in (nullcontext, afar_autocast)[: 1 + autocast]:
        with AFAR, torch.no_grad(), context():
            assert _all_on("afar:0", forward(twin, *there))


def _step(model, forward, given):
    # With this eps a gradient that is 0 but for rounding stays small.
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, eps=1e-3)
    out = forward(model, *given)
    out.square().mean().backward()
    optimizer.step()
    parameters = dict(model.named_parameters())
    gradients = {name: p.grad for name, p in parameters.items() if p.grad is not None}
    return out.detach(), gradients, {name: p.detach() for name, p in parameters.items()}


def _all_on(device, tensors):
    return {x.device for x in tree_leaves(tensors)} == {torch.device(device)}
