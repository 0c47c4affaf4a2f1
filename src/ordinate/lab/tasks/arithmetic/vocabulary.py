"""The one vocabulary of all arithmetic tasks: a digit's index is its value."""

import string

DIGITS = "0123456789"
PAD = 10
PLUS, MINUS, TIMES, EQUALS, BLANK = range(11, 16)
LETTERS = string.ascii_lowercase
FIRST_LETTER = 16

SYMBOLS: tuple[str, ...] = (*DIGITS, "pad", "+", "-", "x", "=", "_", *LETTERS)
"""Every symbol by its index: digits, pad, signs, the blank that an answer is read at, letters of random text."""

ANSWERS = 11
"""Answers are written with digits and pad."""
