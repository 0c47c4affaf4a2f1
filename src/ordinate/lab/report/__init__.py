"""Figures and reports: what a person sees of a study.

`curves` draws, `style` decides how it looks, `save` writes PNG and SVG, `report` makes one HTML file.
Every figure is a value: a function returns a `matplotlib.figure.Figure` and changes nothing else.
"""
