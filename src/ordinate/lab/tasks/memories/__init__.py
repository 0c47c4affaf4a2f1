"""Memories: an answer at every token from what is behind it, in the three classes of arXiv 2402.00522."""

from ordinate.lab.tasks.memories.adaptive import PROPOSITION_4_2, WORKED_EXAMPLE, AdaptiveMemory
from ordinate.lab.tasks.memories.decaying import DecayingMemory
from ordinate.lab.tasks.memories.fixed import FixedMemory

__all__ = ["PROPOSITION_4_2", "WORKED_EXAMPLE", "AdaptiveMemory", "DecayingMemory", "FixedMemory"]
