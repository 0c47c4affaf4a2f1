"""How well letters of a figure stand out from what is drawn behind them, in the light scheme and in the dark one."""

from dataclasses import dataclass

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.colors import to_hex, to_rgb, to_rgba_array
from matplotlib.text import Text

from ordinate.lab.report.inline import palette
from ordinate.lab.report.style import contrast, night, rgb

ENOUGH = 4.5
"""WCAG 2.2, 1.4.3."""
SPARED = 0.15
"""The share of the ground behind a word that a line may cross."""


def scheme(*, dark):
    """What a page makes of a colour: the variables that its stylesheet declares."""
    declared = (pair.split(": ") for pair in palette(dark=dark).rstrip(";").split("; "))
    return {f"#{name.removeprefix('--c-')}": colour for name, colour in declared}


@dataclass(frozen=True)
class Word:
    """Something that is written, its colour, and the colours behind it."""

    text: str
    colour: str
    ground: np.ndarray

    @property
    def contrast(self):
        """That of all but the worst pixels."""
        return float(np.quantile(contrast(self.ground, rgb(self.colour)), SPARED))


class Painter(RendererAgg):
    """Draws all but the letters, in the colours of a scheme."""

    def __init__(self, width, height, dpi, colours, dark):
        super().__init__(width, height, dpi)
        self.colours, self.dark = colours, dark
        native = {
            name: getattr(self, name)
            for name in ("draw_path_collection", "draw_markers", "draw_quad_mesh", "draw_image")
        }

        def collection(gc, *args):  # the sixth and seventh are the colours of faces and edges
            native["draw_path_collection"](gc, *args[:5], *map(self.several, args[5:7]), *args[7:])

        def markers(gc, *args):  # the fifth is the colour of the face
            face = None if args[4] is None else self.one(args[4])
            native["draw_markers"](self.pen(gc), *args[:4], face)

        def image(gc, x, y, picture, *rest):
            native["draw_image"](gc, x, y, self.picture(picture), *rest)

        def mesh(gc, *args):  # bars of colours, which an SVG has as images
            faces = np.array(args[6])
            if dark:
                faces[:, :3] = night(faces[:, :3])
            native["draw_quad_mesh"](gc, *args[:6], faces, *args[7:])

        self.draw_path_collection, self.draw_markers = collection, markers
        self.draw_image, self.draw_quad_mesh = image, mesh

    def one(self, colour):
        plain = to_hex(colour[:3])
        return (*to_rgb(self.colours.get(plain, plain)), *colour[3:])

    def several(self, colours):
        return np.array([self.one(tuple(colour)) for colour in to_rgba_array(colours)]).reshape(-1, 4)

    def picture(self, picture):
        if not self.dark:
            return picture
        turned = np.array(picture)
        turned[..., :3] = np.round(255 * night(turned[..., :3] / 255))
        return turned

    def pen(self, gc):
        mine = self.new_gc()
        mine.copy_properties(gc)
        mine.set_foreground((*self.one(gc.get_rgb())[:3], gc.get_rgb()[3]), isRGBA=True)
        return mine

    def draw_path(self, gc, path, transform, rgbFace=None):
        super().draw_path(self.pen(gc), path, transform, None if rgbFace is None else self.one(rgbFace))

    def draw_text(self, *args, **kwargs):
        """Letters are not behind themselves."""

    draw_mathtext = draw_tex = draw_text


def words(figure, *, dark):
    """Everything that is written in a figure."""
    FigureCanvasAgg(figure).draw()  # settles places and ticks
    width, height = figure.canvas.get_width_height()
    colours = scheme(dark=dark)
    painter = Painter(width, height, figure.dpi, colours, dark)
    figure.draw(painter)
    behind = np.asarray(painter.buffer_rgba())[..., :3] / 255
    found = []
    for text in figure.findobj(lambda artist: isinstance(artist, Text) and artist.get_visible()):
        box = text.get_window_extent(painter)
        left, right = (int(np.clip(x, 0, width)) for x in (box.x0, box.x1))
        top, bottom = (int(np.clip(height - y, 0, height)) for y in (box.y1, box.y0))
        ground = behind[top:bottom, left:right].reshape(-1, 3)
        if text.get_text().strip() and len(ground):
            colour = to_hex(text.get_color())
            found.append(Word(text.get_text(), colours.get(colour, colour), ground))
    return found


def faint(figure):
    """Words that cannot be read well in one of the schemes: scheme, word, colour and contrast."""
    return [
        ("dark" if dark else "light", word.text, word.colour, round(word.contrast, 2))
        for dark in (False, True)
        for word in words(figure, dark=dark)
        if word.contrast < ENOUGH
    ]
