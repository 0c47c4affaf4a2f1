"""Forms of attention that a recipe names: what the scores may depend on."""

from abc import abstractmethod
from typing import ClassVar

from ordinate.attention.multihead import ClassKeys, ClassOnly, ContentKeys, MultiHead
from ordinate.kinds import Kind


class Form(Kind):
    """Builds the attention of a layer."""

    @abstractmethod
    def build(self, width: int, heads: int, layer: int) -> MultiHead:
        """Make one layer."""


class Content(Form):
    """content x content, or content x (content + class) where the encoding has class vectors."""

    name: ClassVar[str] = "content"
    summary: ClassVar[str] = "scores from content, and from the pair's class where the encoding has vectors"

    def build(self, width: int, heads: int, layer: int) -> MultiHead:
        """Keys from the tokens."""
        return ContentKeys(width, heads, layer)


class ContentClass(Form):
    """content x class."""

    name: ClassVar[str] = "content-class"
    summary: ClassVar[str] = "the token decides which class of positions it looks for; keys have no content"

    def build(self, width: int, heads: int, layer: int) -> MultiHead:
        """Keys from the classes."""
        return ClassKeys(width, heads, layer)


class Class(Form):
    """class only."""

    name: ClassVar[str] = "class"
    summary: ClassVar[str] = "weights depend on the classes of positions only"

    def build(self, width: int, heads: int, layer: int) -> MultiHead:
        """One learned query."""
        return ClassOnly(width, heads, layer)


FORMS: dict[str, type[Form]] = {form.name: form for form in (Content, ContentClass, Class)}
