"""A process that trains, to be killed by the tests: python -m tests.lab.training.trainer RECIPE STORE SEED..."""

import json
import sys

import torch

from ordinate.lab.training import Recipe, train

if __name__ == "__main__":
    torch.set_num_threads(1)
    recipe, store, *seeds = sys.argv[1:]
    print("ready", flush=True)
    train(Recipe.parse(json.loads(recipe)), [int(s) for s in seeds], store=store, resume=True)
