"""Studies: many recipes and seeds as one thing that can be run, resumed and tabled."""

from ordinate.lab.studies.conduct import conduct
from ordinate.lab.studies.file import read_plan
from ordinate.lab.studies.findings import Findings, comparisons, summaries
from ordinate.lab.studies.plan import Compare, EqualParameters, EqualSamples, EqualSteps, StudyPlan
from ordinate.lab.studies.search import Search
from ordinate.lab.studies.study import Study, errors_at, scores_at, train_job

__all__ = [
    "Compare",
    "EqualParameters",
    "EqualSamples",
    "EqualSteps",
    "Findings",
    "Search",
    "Study",
    "StudyPlan",
    "comparisons",
    "conduct",
    "errors_at",
    "read_plan",
    "scores_at",
    "summaries",
    "train_job",
]
