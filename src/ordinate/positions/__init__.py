"""Positions: relations between coordinates, and encodings."""
