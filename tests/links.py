"""Do the links of the documents lead somewhere: files, headings, pictures, the navigation, the reference."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

HIDDEN = re.compile(
    r"^( *)(```|~~~).*?^\1\2|<!--.*?-->|(`+)(?!`)(?:(?!\n\n).)*?(?<!`)\3(?!`)", re.DOTALL | re.MULTILINE
)
"""Fenced code, comments and code in a line: what is a link there is text."""
INLINE = re.compile(r"""\]\(\s*<?([^)\s>]*)>?(?:\s+["'][^)]*["'])?\s*\)""")
TAG = re.compile(r"""\b(?:href|src)=["']([^"']*)["']""")
BARE = re.compile(r"""(?<![("'\w])https?:[^\s)>\]"'|]*""")
DEFINED = re.compile(r"^ {0,3}\[([^\]]+)\]:\s*<?([^\s>]+)>?.*$", re.MULTILINE)
USED = re.compile(r"\[([^\[\]]*)\]\[([^\[\]]*)\]")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$", re.MULTILINE)
NAMED = re.compile(r"""\b(?:id|name)=["']([^"']+)["']""")
DRAWN = re.compile(r"^::: (\S+)$", re.MULTILINE)
"""What a page of the reference takes from the code: a module, or a function or class of one."""
HOST = re.compile(r"[\w-]+(\.[\w-]+)+(:\d+)?")


def documents(root: Path) -> list[Path]:
    """Every document of the repository: of the root, of a folder of the root, of the site."""
    return sorted({*root.glob("*.md"), *root.glob("[a-z]*/*.md"), *(root / "docs").rglob("*.md")})


def broken_links(root: Path) -> list[str]:
    """One line for every link of every document that leads nowhere."""
    return [
        f"{page.relative_to(root)}: {problem}"
        for page in documents(root)
        for problem in (*_unknown_labels(page), *_broken(page, root))
    ]


def targets(page: Path) -> list[str]:
    """Where a document leads to: links and pictures in the text, by reference and as tags, and bare addresses."""
    text = _text(page)
    plain = DEFINED.sub("", text)
    return [
        *INLINE.findall(plain),
        *TAG.findall(plain),
        *(address.rstrip(".,;:!?") for address in BARE.findall(plain)),
        *(target for _, target in DEFINED.findall(text)),
    ]


def _broken(page: Path, root: Path) -> Iterator[str]:
    for target in targets(page):
        if re.match(r"[a-z][a-z0-9+.-]*:", target, re.IGNORECASE) or target.startswith("//"):
            if not _well_formed(target):
                yield f"{target} is not a whole address of https"
        elif problem := _missing(page, target, root):
            yield f"{target} {problem}"


def _well_formed(address: str) -> bool:
    """Whether an address is one of https with a host."""
    parts = urlsplit(address)
    return parts.scheme == "https" and HOST.fullmatch(parts.netloc) is not None


def _missing(page: Path, target: str, root: Path) -> str:
    """What is wrong with a link to a file or heading of the repository, if anything."""
    path, _, anchor = target.partition("#")
    if not target or path.startswith("/"):
        return "is not a path from this page"
    end = (page.parent / unquote(path)).resolve() if path else page
    site = root.resolve() / "docs"
    if not end.is_relative_to(site if page.resolve().is_relative_to(site) else root.resolve()):
        return "leads out of the documentation"
    if not (end.is_file() if page.resolve().is_relative_to(site) else end.exists()):
        return "does not exist"
    if "#" in target and (end.suffix != ".md" or not _names(unquote(anchor), end, root)):
        return "names no heading"
    return ""


def _names(anchor: str, page: Path, root: Path) -> bool:
    """Whether a page has a heading of this name, or may get it from the code, as `broken_site` looks up."""
    drawn = DRAWN.findall(page.read_text(encoding="utf-8"))
    return anchor in anchors(page, root) or any(f"{anchor}.".startswith(f"{name}.") for name in drawn)


def _unknown_labels(page: Path) -> Iterator[str]:
    """Links by reference whose label is not defined, and definitions that nothing uses."""
    text = _text(page)
    known = {_label(label) for label, _ in DEFINED.findall(text)}
    body = DEFINED.sub("", text)
    used = {_label(label or words) for words, label in USED.findall(body)}
    alone = {_label(words) for words in re.findall(r"\[([^\[\]]+)\]", body)}
    yield from (f"[{label}] is not defined" for label in sorted(used - known))
    yield from (f"[{label}] is defined and not used" for label in sorted(known - used - alone))


def _label(words: str) -> str:
    return " ".join(words.lower().split())


@cache
def anchors(page: Path, root: Path) -> frozenset[str]:
    """The names by which a document's headings can be linked to, where it is shown: on the site, or beside the code."""
    on_site = page.resolve().is_relative_to((root / "docs").resolve())
    return frozenset(_anchors(page, site_slug if on_site else code_slug, "_" if on_site else "-"))


def _anchors(page: Path, slug: Callable[[str], str], joint: str) -> Iterator[str]:
    seen: Counter[str] = Counter()
    text = _text(page, keep_spans=True)
    for heading in HEADING.findall(text):
        name = slug(INLINE.sub("]", heading).replace("`", ""))
        yield f"{name}{joint}{seen[name]}" if seen[name] else name
        seen[name] += 1
    yield from NAMED.findall(text)


def site_slug(heading: str) -> str:
    """The anchor of a heading on the site, as Python-Markdown makes it.

    >>> site_slug("What it says & why")
    'what-it-says-why'
    """
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def code_slug(heading: str) -> str:
    """The anchor of a heading where a document is shown beside the code.

    >>> code_slug("What it says & why")
    'what-it-says--why'
    """
    return re.sub(r"[^\w\s-]", "", heading.strip().lower()).replace(" ", "-")


@cache
def _text(page: Path, keep_spans: bool = False) -> str:
    """A document without what is no text; spans of code may stay, for headings hold them."""
    text = page.read_text(encoding="utf-8")
    return HIDDEN.sub(lambda match: match[0] if keep_spans and match[3] else "", text)


def broken_navigation(root: Path) -> list[str]:
    """Entries of the navigation without a page, pages without an entry, pictures that no document shows."""
    site = root / "docs"
    entries = Counter(re.findall(r"^ +- .*?(\S+\.md) *$", _navigation(root), re.MULTILINE))
    pages = {str(page.relative_to(site)) for page in site.rglob("*.md")}
    shown = {
        (page.parent / unquote(target)).resolve()
        for page in documents(root)
        for target in targets(page)
        if ":" not in target
    }
    pictures = [path for path in site.rglob("*") if path.suffix in {".png", ".svg", ".jpg", ".gif"}]
    return [
        *(f"mkdocs.yml: {name} does not exist" for name in sorted(set(entries) - pages)),
        *(f"mkdocs.yml: {name} is not in the navigation" for name in sorted(pages - set(entries))),
        *(f"mkdocs.yml: {name} is in the navigation twice" for name in entries if entries[name] > 1),
        *(
            f"{picture.relative_to(root)} is shown nowhere"
            for picture in pictures
            if picture.resolve() not in shown
        ),
    ]


def _navigation(root: Path) -> str:
    return re.split(r"^nav:", (root / "mkdocs.yml").read_text(encoding="utf-8"), flags=re.MULTILINE)[1]


def broken_reference(root: Path) -> list[str]:
    """Modules, functions and classes of the reference that do not exist, or that are there twice."""
    found = []
    for page in documents(root):
        for name, count in Counter(DRAWN.findall(page.read_text(encoding="utf-8"))).items():
            if not (_module(name, root) or _defined(name, root)):
                found.append(f"{page.relative_to(root)}: there is no module {name}")
            elif count > 1:
                found.append(f"{page.relative_to(root)}: {name} is there twice")
    return found


def _module(name: str, root: Path) -> Path | None:
    path = root.joinpath("src", *name.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def _defined(name: str, root: Path) -> bool:
    """Whether a module has a function or class of this name: `library.part.thing`."""
    module, _, last = name.rpartition(".")
    file = _module(module, root)
    return file is not None and re.search(rf"(?m)^(def|class) {last}\b", file.read_text("utf-8")) is not None


class _Page(HTMLParser):
    """The links, names and loose references of a built page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.loose: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if value is None:
                continue
            if key in ("href", "src"):
                self.links.append(value)
            elif key in ("id", "name"):
                self.names.add(value)
        if tag == "autoref":
            self.loose.append(str(dict(attrs).get("identifier")))


def broken_site(site: Path) -> list[str]:
    """One line for every link of a built site that leads nowhere in it, those of the reference among them."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
        pages[path.resolve()] = _Page()
        pages[path.resolve()].feed(path.read_text(encoding="utf-8"))
    found = []
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        if where.name == "404.html":  # it is shown at any address, so its links begin at the root
            continue
        found += [f"{where}: {name} is no name of the reference" for name in page.loose]
        for link in dict.fromkeys(page.links):
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            name, _, anchor = link.partition("#")
            end = (path.parent / unquote(name.partition("?")[0])).resolve() if name else path
            if end.is_dir():
                end /= "index.html"
            if not end.is_file():
                found.append(f"{where}: {link} does not exist")
            elif anchor and end in pages and unquote(anchor) not in pages[end].names:
                found.append(f"{where}: {link} names nothing")
    return found
