"""Models of this library for others, as files that `transformers` opens.

>>> from ordinate.lab.export import OrdinateModel                               # doctest: +SKIP
>>> OrdinateModel.of("runs/addition-1000-3f/seed-0").save_pretrained("adder")   # doctest: +SKIP
>>> from transformers import AutoModel                                          # doctest: +SKIP
>>> AutoModel.from_pretrained("adder").answer("123+4095")                       # doctest: +SKIP
"""

from importlib.util import find_spec

from ordinate.errors import OrdinateError

if find_spec("transformers") is None:
    raise OrdinateError("transformers is not installed: write pip install 'ordinate[hf]'")

from ordinate.lab.export.pretrained import OrdinateConfig, OrdinateModel, OrdinateOutput, model_card

__all__ = ["OrdinateConfig", "OrdinateModel", "OrdinateOutput", "model_card"]
