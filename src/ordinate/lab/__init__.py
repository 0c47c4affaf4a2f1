"""The laboratory: tasks, training, runs, evaluation, studies, explanations, programs, reports."""
