"""Ordinate: positional structure in Transformers.

    import ordinate as od

    near = od.aligned("number") * od.window(back=2)                 # where attention may look
    attention = od.Attention(dim=64, heads=4, relation=near)        # a torch module
    y = attention(x)                                                # [batch, token, dim]

The public names are those of `__init__.pyi`, beside this file; each is imported when it is first used, so that
`import ordinate` loads nothing. What is not among them is internal and may change.
"""

__version__ = "0.2.0"

_found: dict[str, str] = {}


def _modules() -> dict[str, str]:
    """The public names, each with the module that it is imported from."""
    if not _found:
        import ast
        from pathlib import Path

        listed = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
        imports = [line for line in listed.body if isinstance(line, ast.ImportFrom)]
        _found.update((alias.name, str(line.module)) for line in imports for alias in line.names)
    return _found


def __getattr__(name: str) -> object:
    if name == "__all__":
        return sorted(_modules())
    if name not in _modules():
        from difflib import get_close_matches

        close = get_close_matches(name, _modules(), n=1)
        hint = f"did you mean {close[0]!r}?" if close else "dir(ordinate) lists the public names"
        raise AttributeError(f"module 'ordinate' has no public name {name!r}: {hint}")
    from importlib import import_module

    module = _modules()[name]
    if module == __name__:  # a room of its own, such as `od.hub`
        return import_module(f"{__name__}.{name}")
    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted([*_modules(), "__version__"])
