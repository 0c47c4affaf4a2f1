"""Hops: tasks whose answer is found by following pointers that the data hold."""

from ordinate.lab.tasks.hops.k_hop import KHop

__all__ = ["KHop"]
