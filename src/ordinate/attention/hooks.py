"""Named hooks: every intermediate of attention can be read and replaced.

A `Hook` is a module that passes its input on. Its name is its place in the model, for example
`layers.0.attention.weights`; the intermediates are `query`, `key`, `scores`, `weights`, `values`, `output`.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from torch import Tensor, nn

from ordinate.errors import OrdinateError, nearest

Patch = Callable[[Tensor], Tensor]


class Hook(nn.Module):
    """Passes a tensor on, through a function if one is set."""

    def __init__(self) -> None:
        super().__init__()
        self.patch: Patch | None = None

    def forward(self, x: Tensor) -> Tensor:
        """Return x, or what the patch makes of it."""
        return x if self.patch is None else self.patch(x)


def hooks(model: nn.Module) -> dict[str, Hook]:
    """All hooks of a model by name."""
    return {name: module for name, module in model.named_modules() if isinstance(module, Hook)}


@contextmanager
def patched(model: nn.Module, patches: Mapping[str, Patch]) -> Iterator[None]:
    """Replace intermediates inside the block: `with patched(model, {"layers.0.attention.weights": f}): ...`."""
    known = hooks(model)
    for name in patches:
        if name not in known:
            raise OrdinateError(f"no hook {name!r}: {nearest(name, known)}")
    before = {name: known[name].patch for name in patches}
    try:
        for name, patch in patches.items():
            known[name].patch = patch
        yield
    finally:
        for name, patch_before in before.items():
            known[name].patch = patch_before


@contextmanager
def captured(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Collect every intermediate inside the block, by hook name.

    >>> with captured(model) as seen:  # doctest: +SKIP
    ...     model(x, coordinates)
    >>> seen["layers.0.attention.weights"].shape  # doctest: +SKIP
    """
    seen: dict[str, Tensor] = {}

    def keep(name: str) -> Patch:
        def record(x: Tensor) -> Tensor:
            seen[name] = x
            return x

        return record

    with patched(model, {name: keep(name) for name in hooks(model)}):
        yield seen
