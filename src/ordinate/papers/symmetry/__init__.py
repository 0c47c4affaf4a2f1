"""Explicitly encoding structural symmetry is key to length generalization in arithmetic tasks, arXiv 2406.01895."""
