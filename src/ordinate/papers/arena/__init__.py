"""The arena: all encodings on equal terms, over lengths and values that training never shows."""
