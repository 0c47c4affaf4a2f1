"""Options that cannot be are refused in one line."""

import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import make_task


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("addition", {"digits": 0}, "task.digits = 0 is not allowed"),
        ("addition", {"width": 0}, "task.width = 0 is not allowed"),
        ("addition", {"words": -1}, "task.words = -1 is not allowed"),
        ("addition", {"format": "paded"}, "task.format.kind = 'paded' is not known: did you mean 'padded'?"),
        ("addition", {"format": {"kind": "padded", "revers": True}}, "did you mean 'reverse'?"),
        ("addition", {"format": 3}, "task.format = 3 is not allowed: write a name"),
        ("addition", {"sampler": "complex"}, "did you mean 'complexity'?"),
        ("addition", {"sampler": {"kind": "mixture", "share": 2}}, "task.sampler.share = 2 is not allowed"),
        ("addition", {"sampler": {"kind": "shifted", "of": "shifted"}}, "task.sampler.of.kind = 'shifted'"),
        ("several", {"addends": 1}, "task.addends = 1 is not allowed"),
        ("several", {"addends": 10}, "task.addends = 10 is not allowed"),
        ("several", {"sampler": "complexity"}, "the sampler draws pairs, and there are 3 numbers: write"),
        ("several", {"sampler": {"kind": "shifted", "of": "mixture"}}, "the sampler draws pairs"),
        ("multiplication", {"multiplier": 4}, "task.multiplier = 4 is not allowed"),
        ("multiplication", {"sampler": "mixture"}, "the sampler draws pairs to be added: write sampler ="),
        ("arithmetic", {"parts": []}, "parts must have different signs, got none"),
        ("arithmetic", {"parts": ["addition", "several"]}, "parts must have different signs, got + +"),
        ("arithmetic", {"parts": ["adition"]}, "did you mean 'addition'?"),
        (
            "arithmetic",
            {"parts": ["addition", {"name": "multiplication", "digits": 3}]},
            "parts must have the same digits, got 3, 5",
        ),
    ],
)
def test_bad_options(name, options, message):
    with pytest.raises(OrdinateError) as error:
        make_task(name, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_two_addends_may_be_hard_pairs(generator):
    task = make_task("several", addends=2, sampler="complexity")
    assert task.sample(3, generator=generator).input.shape == (3, 17)


def test_an_unknown_slice_gets_the_nearest(generator):
    for name, asked, hint in [("addition", "cascades", "cascade"), ("multiplication", "level", "levels")]:
        task = make_task(name)
        with pytest.raises(OrdinateError, match=f"has no slice '{asked}': did you mean '{hint}'"):
            task.slice(asked, task.sample(2, generator=generator))


def test_lines_of_several_operations_are_refused():
    task = make_task("arithmetic")
    with pytest.raises(OrdinateError, match=r"all lines of a batch need the same sign: write one of \+ x"):
        task.reference(torch.zeros(2, 17, dtype=torch.long))
