"""Relations and their class vectors in models of `transformers`.

>>> from ordinate.hub import put_attention                                      # doctest: +SKIP
>>> put_attention(model, Shaw())                                                # doctest: +SKIP
"""

from importlib.util import find_spec

from ordinate.errors import OrdinateError

if find_spec("transformers") is None:
    raise OrdinateError("transformers is not installed: write pip install 'ordinate[hf]'")

from ordinate.hub.inkling import from_inkling, to_inkling
from ordinate.hub.put import put_attention
from ordinate.hub.saved import load, load_class_vectors

__all__ = ["from_inkling", "load", "load_class_vectors", "put_attention", "to_inkling"]
