"""positional."""
