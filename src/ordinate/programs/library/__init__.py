"""Programs by name."""
