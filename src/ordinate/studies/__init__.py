"""Studies: many recipes and seeds as one thing that can be run, resumed and tabled."""

from ordinate.studies.study import Study, errors_at, scores_at, train_job

__all__ = ["Study", "errors_at", "scores_at", "train_job"]
