"""Recipes and changes of recipes, right and wrong: most keys are there, most values are of the right type."""

import inspect
import tomllib
from copy import deepcopy
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

import tomli_w
from hypothesis import strategies as st

from ordinate.encodings import ENCODINGS, EncodingSettings
from ordinate.kinds import Kind
from ordinate.lab.architectures import MODELS
from ordinate.lab.tasks import TASKS, Task
from ordinate.lab.training.optimizer import Optimizer
from ordinate.lab.training.recipe import Evaluation, Initial, Pick, Recipe, Training, set_dotted
from ordinate.models import ModelSettings
from ordinate.relations import RELATIONS, Relation

WHOLE = st.sampled_from(
    [-1, 0, 1, 2, 3, 4, 7, 17, 64, 1000, 10**6, 2**31, 2**63 - 1, 2**63, -(2**63), 10**30]
)
SMALL = st.integers(0, 9)
FRACTION = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0, 1.5, -1.0])
REAL = st.sampled_from(
    [0.0, -0.0, 0.5, 1.0, -1.5, 2.5, 9.99, 1e-300, 1e9, 1e300, float("nan"), float("inf"), -float("inf")]
)
NAMES = sorted(
    {*TASKS, *MODELS, *ENCODINGS, *RELATIONS}
    | {
        "adam",
        "cosine",
        "class",
        "float64",
        "bfloat16",
        "auto",
        "cuda",
        "cpu",
        "first",
        "second",
        "answer",
        "length",
        "scale",
        "hops",
    }
)
ODD = [
    ".",
    "..",
    "a/b",
    "NaN",
    "Infinity",
    "1e3",
    "-1",
    "0x10",
    "2020-01-01",
    "true",
    "[",
    "]",
    "{",
    "a=b",
    "=",
    "ä€",
    "²",
    "%s",
    "{0}",
    "None",
    "--json",
    "~",
    "os:getcwd",
    "*",
]
ODD += ["", " ", "\x1b[31mred", "a\nb", "\ufeff", "\u202egnol", "x" * 300]
TEXT = st.sampled_from(NAMES) | st.sampled_from(ODD) | st.text(max_size=6)
SCALAR = SMALL | WHOLE | REAL | TEXT | st.booleans()
VALUE = st.recursive(
    SCALAR,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["kind", "name", "of", "axis", "value", "x", "fields", "share"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=4,
)


def kinds_of(base):
    """The kinds of a base by their names, such as all encodings."""
    found = {base.name: base} if "name" in vars(base) and not inspect.isabstract(base) else {}
    for kind in base.__subclasses__():
        found |= kinds_of(kind)
    return found


def values_of(annotation):
    """Values of the type of a setting, not all of which are allowed."""
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return st.one_of([values_of(each) for each in inside if each is not type(None)])
    if origin is Annotated:
        return values_of(inside[0])
    if origin is Literal:
        return st.sampled_from(inside)
    if origin is tuple:
        return st.lists(values_of(inside[0]), min_size=len(inside) - (Ellipsis in inside), max_size=2)
    if origin is dict:
        return st.dictionaries(TEXT, values_of(inside[1]), max_size=2)
    if annotation is float:
        return FRACTION | SMALL
    if isinstance(annotation, type) and issubclass(annotation, Relation):
        return RELATION
    if isinstance(annotation, type) and issubclass(annotation, Kind):
        return kind_of(annotation)
    return {bool: st.booleans(), int: SMALL, str: TEXT}.get(annotation, VALUE)


@cache
def kind_of(base):
    """A kind: by its name, or as a table with some of its options or a foreign one."""
    table = kinds_of(base)

    def options(name):
        fields = table[name].model_fields
        known = {
            key: st.deferred(lambda field=field: values_of(field.annotation)) for key, field in fields.items()
        }
        some = st.lists(st.sampled_from(sorted(known)), max_size=2, unique=True) if known else st.just([])
        chosen = some.flatmap(lambda keys: st.fixed_dictionaries({key: known[key] for key in keys}))
        foreign = st.dictionaries(st.just("x"), SCALAR, max_size=1) if name[-1] in "ei" else st.just({})
        return st.tuples(chosen, foreign).map(lambda both: {**both[0], **both[1], base.label: name})

    return st.sampled_from(sorted(table)).flatmap(lambda name: st.just(name) | options(name))


FIELDS = st.lists(st.sampled_from(["first", "second", "answer", "text", "x"]), max_size=2)
PLAIN = [{"kind": kind} for kind in sorted(RELATIONS)] + [{"kind": "window", "back": back} for back in (0, 3)]
RELATION = st.recursive(
    st.sampled_from(PLAIN)
    | FIELDS.map(lambda fields: {"kind": "aligned", "fields": fields})
    | st.deferred(lambda: kind_of(Relation)),
    lambda inner: st.fixed_dictionaries(
        {"kind": st.sampled_from(["union", "product"]), "of": st.lists(inner, max_size=3) | SCALAR}
    ),
    max_leaves=3,
)
ENCODING = kind_of(EncodingSettings) | RELATION.map(
    lambda relation: {"kind": "pairwise", "relation": relation}
)
ENCODINGS_TOGETHER = ENCODING | st.lists(ENCODING, max_size=3)


def settings_of(document):
    """The dotted keys that a recipe of these kinds may have, with values for each."""
    places = {
        "": Recipe,
        "training": Training,
        "evaluation": Evaluation,
        "training.pick": Pick,
        "training.initial": Initial,
    }
    tables = {
        "task": (Task, "name"),
        "model": (ModelSettings, "kind"),
        "training.optimizer": (Optimizer, "kind"),
    }
    for place, (base, label) in tables.items():
        found = document
        for part in place.split("."):
            found = found.get(part, {}) if isinstance(found, dict) else {}
        name = found.get(label) if isinstance(found, dict) else found
        if isinstance(name, str) and name in kinds_of(base):
            places[place] = kinds_of(base)[name]
    known = {
        f"{place}.{key}".lstrip("."): st.deferred(lambda field=field: values_of(field.annotation))
        for place, kind in places.items()
        for key, field in kind.model_fields.items()
    }
    known |= {
        f"evaluation.axes.{axis}": st.lists(SMALL | REAL, max_size=3)
        for axis in ("length", "scale", "hops", "x")
    }
    known |= {
        "model.encoding": ENCODINGS_TOGETHER,
        "model.encoding.relation": RELATION,
        "training.compile": st.just(False),
    }
    del known["training.device"]
    return known


FOREIGN = [
    "x",
    "training.x",
    "model.encoding.x",
    "task.name.x.y",
    "training.optimizer.betas",
    "model.once",
    "task.lags",
    "task.digits",
]


@st.composite
def changed(draw, document):
    """A dotted key and a value for it: mostly a key that such a recipe has, and a value of the right type."""
    known = settings_of(document)
    key = draw(st.sampled_from([*sorted(known), *FOREIGN]))
    right = key in known and draw(st.integers(0, 7)) > 0
    return key, draw(known[key] if right else VALUE | SCALAR)


# Recipes


def tiny(document):
    """A recipe of the same form that is trained in a moment."""
    document["training"] = {**document["training"], "steps": 2, "batch": 4, "device": "cpu"}
    document["model"] |= {"layers": 1, "heads": 2, "width": 8, "hidden": 8}
    if isinstance(document["model"].get("encoding"), dict) and "width" in document["model"]["encoding"]:
        document["model"]["encoding"]["width"] = 8
    for key, most in (("length", 9), ("digits", 5)):
        if key in document["task"]:
            document["task"][key] = min(document["task"][key], most)
    evaluation = document["evaluation"]
    evaluation |= {"count": 2, "length": 9} if "length" in evaluation else {"count": 2}
    axes = evaluation.get("axes", {})
    evaluation["axes"] = {axis: [min(values[0], 12)] for axis, values in axes.items()}
    return document


ROOT = Path(__file__).parents[2] / "recipes"
BASES = [tiny(tomllib.loads(path.read_text(encoding="utf-8"))) for path in sorted(ROOT.rglob("*.toml"))]


@st.composite
def recipes(draw):
    """The bytes of a recipe: one of ours with values changed, keys added or taken away, now and then torn."""
    document = deepcopy(draw(st.sampled_from(BASES)))
    for _ in range(draw(st.integers(0, 3))):
        set_dotted(document, *draw(changed(document)))
    if draw(st.integers(0, 4)) == 0:
        table = draw(
            st.sampled_from(
                [document, *(part for part in document.values() if isinstance(part, dict) and part)]
            )
        )
        table.pop(draw(st.sampled_from(sorted(table))))
    data = tomli_w.dumps(document).encode(errors="replace")
    if draw(st.integers(0, 9)) == 0:
        place = draw(st.integers(0, len(data)))
        put = draw(
            st.binary(max_size=3)
            | st.sampled_from([b"[" * 2000, b"\xef\xbb\xbf", b"{a=" * 2000, b"\n[x]\n", b"9" * 5000])
        )
        data = data[:place] + put + data[place + draw(st.integers(0, 30)) :]
    return data


def as_toml(value):
    """A value as one would write it after `--set a.b=`; on one line."""
    text = tomli_w.dumps({"v": [value]}).removeprefix("v = ").strip().removeprefix("[").removesuffix("]")
    return " ".join(text.split()).removesuffix(",")


def settings(document):
    """The text of a change, mostly understood."""
    right = changed(document).map(lambda change: f"{change[0]}={as_toml(change[1])}")
    plain = st.tuples(st.sampled_from(sorted(settings_of(document))), TEXT).map("=".join)
    long = st.sampled_from(["x=" + "[" * 3000, "a" + ".a" * 500 + "=1", "training.steps=0x" + "f" * 4000])
    return st.integers(0, 7).flatmap(lambda chance: right if chance > 1 else plain if chance else TEXT | long)
