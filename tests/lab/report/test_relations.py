"""Pictures of relations."""

import numpy as np

from ordinate.coordinates import Coordinates
from ordinate.lab.report.classes import class_matrix
from ordinate.relations import aligned, everywhere, itself, window


def test_the_picture_shows_the_class_of_every_pair_and_names_the_tokens():
    coordinates = Coordinates.of(first=(1, 0), second=(2, 1, 0))
    (axes,) = class_matrix(aligned("second") * window(back=1) | itself(), coordinates).axes
    (image,) = axes.images
    shown = np.asarray(image.get_array().filled(np.nan))
    assert np.isnan(shown[0, 1])
    assert shown[0, 0] == shown[1, 1] == 2  # plain, behind the two classes
    assert shown[2].tolist()[2:4] == [0, 1]
    assert [label.get_text() for label in axes.get_yticklabels()][:2] == ["first 1", "first 0"]


def test_a_relation_without_classes_and_a_long_sequence_can_be_drawn():
    (axes,) = class_matrix(everywhere(), Coordinates.of(number=range(200))).axes
    assert len(axes.get_yticklabels()) <= 60
