"""The command line and the page: they parse, print and serve."""
