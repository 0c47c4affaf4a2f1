"""Graphs: tasks on adjacency matrices, one vertex a token, whose vertices are named at random."""

from ordinate.lab.tasks.graphs.base import Graph, WeightedGraph
from ordinate.lab.tasks.graphs.bfs import Bfs
from ordinate.lab.tasks.graphs.connectivity import Connectivity
from ordinate.lab.tasks.graphs.shortest_path import ShortestPath
from ordinate.lab.tasks.graphs.spanning_tree import SpanningTree

__all__ = ["Bfs", "Connectivity", "Graph", "ShortestPath", "SpanningTree", "WeightedGraph"]
