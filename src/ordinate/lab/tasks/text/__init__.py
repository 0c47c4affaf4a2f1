"""Text: the next character of what people have written."""

from ordinate.lab.tasks.text.next_character import NextCharacter

__all__ = ["NextCharacter"]
