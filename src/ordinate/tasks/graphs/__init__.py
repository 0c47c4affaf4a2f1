"""Graphs: tasks on adjacency matrices, one vertex a token, whose vertices are named at random."""

from ordinate.tasks.graphs.base import Graph, WeightedGraph
from ordinate.tasks.graphs.bfs import Bfs
from ordinate.tasks.graphs.connectivity import Connectivity
from ordinate.tasks.graphs.shortest_path import ShortestPath
from ordinate.tasks.graphs.spanning_tree import SpanningTree

__all__ = ["Bfs", "Connectivity", "Graph", "ShortestPath", "SpanningTree", "WeightedGraph"]
