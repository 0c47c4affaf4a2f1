"""The symbols of the text, and the one that stands where a price is."""

import string

QUERIES = ("sum", "min", "max")
"""What can be asked, in the order of their symbols."""

LETTERS = string.ascii_letters
SIGNS, UNSEEN_SIGNS = "+-", "*_"
"""Between Cat and a letter they make an entry that is none: in training, and among unseen names."""

SYMBOLS: tuple[str, ...] = ("price", *LETTERS, *SIGNS, *UNSEEN_SIGNS, *" ,.", *QUERIES)
PRICE = 0
FIRST_LETTER = 1
FIRST_SIGN = FIRST_LETTER + len(LETTERS)
FIRST_QUERY = len(SYMBOLS) - len(QUERIES)


def spell(text: str) -> tuple[int, ...]:
    """The symbols of a text, one a character.

    >>> spell("ab, "), [SYMBOLS[i] for i in spell("Cat+a")]
    ((1, 2, 58, 57), ['C', 'a', 't', '+', 'a'])
    """
    return tuple(SYMBOLS.index(character) for character in text)
