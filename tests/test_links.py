"""Links of the documents lead somewhere, and each kind that does not is found."""

from pathlib import Path

import pytest

from tests.links import broken_links, broken_navigation, broken_reference, broken_site

ROOT = Path(__file__).parent.parent

README = """# A library
See [the docs](docs/index.md), [how](docs/index.md#how-it-works), [below](#what-it-says--why), [the code](src/),
[a label][site] and [site], <https://example.org/a>, https://example.org. ![a picture](docs/img/a.png "a title")
<a id="here"></a> [here](#here) <img src="docs/img/a.png">

## What it says & `why`

```sh
cat [no](link.md)   # https://
```
`[no](link.md) and [no][label]` <!-- [no](link.md) -->

[site]: https://example.org/b
"""
INDEX = """# Start
## How it works
[Here](#how-it-works), [again](#how-it-works_1), [there](more.md#more), ![a picture](img/a.png).
## How it works
::: library.part
::: library.part.thing
[What is drawn from the code](#library.part.other)
"""
NAV = "docs_dir: docs\nnav:\n  - Start: index.md\n  - Section:\n      - More of it: more.md\n"


@pytest.fixture
def tree(tmp_path):
    """A small repository in which all links are right."""
    files = {
        "README.md": README,
        "docs/index.md": INDEX,
        "docs/more.md": "# More\n",
        "docs/img/a.png": "",
        "mkdocs.yml": NAV,
        "src/library/part.py": "def thing(): ...\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def problems(root):
    return [*broken_links(root), *broken_navigation(root), *broken_reference(root)]


def test_the_links_of_the_documents_lead_somewhere():
    assert problems(ROOT) == []


def test_what_is_right_is_left_alone(tree):
    assert problems(tree) == []


@pytest.mark.parametrize(
    ("name", "words", "problem"),
    [
        ("README.md", "[x](docs/none.md)", "docs/none.md does not exist"),
        ("README.md", "[x](none/)", "none/ does not exist"),
        ("README.md", "![x](docs/img/b.png)", "docs/img/b.png does not exist"),
        ("README.md", "[x](#nowhere)", "#nowhere names no heading"),
        ("README.md", "[x](#what-it-says-why)", "#what-it-says-why names no heading"),
        ("README.md", "[x](docs/index.md#how)", "docs/index.md#how names no heading"),
        ("README.md", "[x](src/library/part.py#x)", "src/library/part.py#x names no heading"),
        ("README.md", "[x](/etc)", "/etc is not a path from this page"),
        ("README.md", "[x]()", " is not a path from this page"),
        ("README.md", "[x](..)", ".. leads out of the documentation"),
        ("README.md", "[x][label]", "[label] is not defined"),
        ("README.md", "[x][]", "[x] is not defined"),
        ("README.md", "[x]: docs/index.md", "[x] is defined and not used"),
        ("README.md", "[x]\n\n[x]: none.md", "none.md does not exist"),
        ("README.md", '<a href="none.md">x</a>', "none.md does not exist"),
        ("README.md", "[x](http://example.org)", "http://example.org is not a whole address of https"),
        ("README.md", "[x](https:/example.org)", "https:/example.org is not a whole address of https"),
        ("README.md", "<https://example>", "https://example is not a whole address of https"),
        ("docs/index.md", "[x](#how-it-works-1)", "#how-it-works-1 names no heading"),
        ("docs/index.md", "[x](../README.md)", "../README.md leads out of the documentation"),
        ("docs/index.md", "[x](img)", "img does not exist"),
        ("docs/index.md", "::: library.none", "there is no module library.none"),
        ("docs/index.md", "::: library.part.none", "there is no module library.part.none"),
        ("docs/index.md", "::: library.part", "library.part is there twice"),
        ("docs/index.md", "[x](#library.none.thing)", "#library.none.thing names no heading"),
        ("mkdocs.yml", "  - Gone: gone.md", "gone.md does not exist"),
        ("mkdocs.yml", "  - Again: more.md", "more.md is in the navigation twice"),
    ],
)
def test_each_kind_that_leads_nowhere_is_found(tree, name, words, problem):
    with (tree / name).open("a") as file:
        file.write(f"\n{words}\n")
    assert problems(tree) == [f"{name}: {problem}"]


def test_pages_and_pictures_that_nothing_leads_to_are_found(tree):
    (tree / "docs" / "lost.md").write_text("# Lost\n")
    (tree / "docs" / "img" / "lost.png").write_text("")
    assert problems(tree) == [
        "mkdocs.yml: lost.md is not in the navigation",
        "docs/img/lost.png is shown nowhere",
    ]


def test_links_of_a_built_site(tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="a">A</h1><a href="#a">a</a><a href="b.html#b">b</a><a href="https://example.org">c</a>'
        '<a href="b.html#none">d</a><img src="none.png"><autoref identifier="library.none">e</autoref>'
    )
    (tmp_path / "b.html").write_text('<h1 id="b">B</h1><a href=".">no index</a>')
    assert broken_site(tmp_path) == [
        "a.html: library.none is no name of the reference",
        "a.html: b.html#none names nothing",
        "a.html: none.png does not exist",
        "b.html: . does not exist",
    ]
