"""The published setting of positional attention (arXiv 2410.01686) the way a textbook would write it.

Samples are made one at a time, a DataLoader collates them, both Transformers are plain modules that follow the
formulas layer by layer, and seeds are trained one after another. Nothing is slowed down on purpose and
nothing is tuned: this is what `ordinate bench` compares with. It needs PyTorch and nothing else.

    python bench/textbook.py --task sum --model positional --epochs 2001 --seeds 10
"""

import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

LOW, HIGH = -2.0, 2.0
SCALES = range(1, 11)
BATCH = 1000
TRAIN_SAMPLES = 30_000
TEST_SAMPLES = 1000
EPOCHS = 2001
EVALUATE_EVERY = 10

# ---------------------------------------------------------------------------------------------------------- data


def draw_range(scale):
    """A range for one sequence; beyond scale 1 it must stick out of the range of training."""
    low, high = scale * LOW, scale * HIGH
    while True:
        ends = low + (high - low) * torch.rand(2)
        lo, hi = ends.min(), ends.max()
        if scale == 1 or lo < LOW or hi > HIGH:
            return lo, hi


def draw_numbers(n, scale):
    lo, hi = draw_range(scale)
    return lo + (hi - lo) * torch.rand(n)


def draw_path(n, scale):
    """The weighted adjacency matrix of a path whose vertices have random names."""
    weights = draw_numbers(n - 1, scale).abs()
    order = torch.randperm(n)
    adjacency = torch.zeros(n, n)
    for k in range(n - 1):
        adjacency[order[k], order[k + 1]] = weights[k]
        adjacency[order[k + 1], order[k]] = weights[k]
    return adjacency


def draw_input(task, n, scale):
    """One input, [token, feature]."""
    if task == "path":
        return draw_path(n, scale)
    return draw_numbers(2 * n if task == "min-sum" else n, scale).unsqueeze(-1)


def median_of_prefixes(x):
    return torch.stack([x[:k].quantile(0.5, interpolation="midpoint") for k in range(1, len(x) + 1)])


def kadane(values):
    """The largest sum of a non-empty run of neighbours."""
    best = ending_here = values[0]
    for value in values[1:]:
        ending_here = max(value, ending_here + value)
        best = max(best, ending_here)
    return best


def max_subarray_of_prefixes(x):
    values = x.tolist()
    return torch.tensor([kadane(values[:k]) for k in range(1, len(values) + 1)])


def min_sum(x):
    n = len(x) // 2
    y = torch.zeros_like(x)
    y[0] = (x[:n] + x[n:]).min()
    return y


def path_distances(adjacency):
    """Floyd-Warshall."""
    distances = adjacency.masked_fill(adjacency == 0, math.inf)
    distances.fill_diagonal_(0)
    for k in range(len(distances)):
        distances = torch.minimum(distances, distances[:, k : k + 1] + distances[k : k + 1, :])
    return distances


TARGETS = {
    "sum": lambda x: x.cumsum(0),
    "min": lambda x: x.cummin(0).values,
    "max": lambda x: x.cummax(0).values,
    "median": median_of_prefixes,
    "sort": lambda x: x.sort().values,
    "max-subarray": max_subarray_of_prefixes,
    "min-sum": min_sum,
}


def target_of(task, x):
    """The exact answer to one input, [token, out]."""
    if task == "path":
        return path_distances(x)
    return TARGETS[task](x.squeeze(-1)).unsqueeze(-1)


def make_sample(task, n, scale=1):
    """One input and its answer, each with a row of zeros for the dummy node."""
    x = draw_input(task, n, scale)
    return F.pad(x, (0, 0, 0, 1)), F.pad(target_of(task, x), (0, 0, 0, 1))


class Samples(Dataset):
    def __init__(self, task, n, count, scale=1):
        self.samples = [make_sample(task, n, scale) for _ in range(count)]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index]


def make_loaders(task, n, train_samples=TRAIN_SAMPLES, test_samples=TEST_SAMPLES, batch=BATCH):
    """The loader of the training set, and those of the validation set and of the test sets at all scales."""
    train = DataLoader(Samples(task, n, train_samples), batch_size=batch, shuffle=True)
    sets = [Samples(task, n, test_samples, scale) for scale in (1, *SCALES)]
    return train, [DataLoader(samples, batch_size=batch) for samples in sets]


# -------------------------------------------------------------------------------------------------------- models


class Attention(nn.Module):
    """Attention whose queries and keys have the full width of their source in every head."""

    def __init__(self, source_width, width, heads):
        super().__init__()
        self.heads = heads
        self.query_key = nn.Linear(source_width, 2 * heads * source_width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)
        for linear in (self.query_key, self.value, self.output):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def split_heads(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(-3, -2)

    def forward(self, x, source):
        query, key = self.query_key(source).chunk(2, dim=-1)
        mixed = F.scaled_dot_product_attention(
            self.split_heads(query), self.split_heads(key), self.split_heads(self.value(x))
        )
        return self.output(mixed.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """MLP(x | attention(x))."""

    def __init__(self, source_width, width, heads, hidden):
        super().__init__()
        self.attention = Attention(source_width, width, heads)
        self.mlp = nn.Sequential(nn.Linear(2 * width, hidden), nn.ReLU(), nn.Linear(hidden, width))

    def forward(self, x, source):
        return self.mlp(torch.cat([x, self.attention(x, source)], dim=-1))


class PositionalTransformer(nn.Module):
    """Queries and keys come from the positions, values from the numbers."""

    def __init__(self, n, layers, width=64, heads=2, hidden=64):
        super().__init__()
        self.register_buffer("positions", torch.eye(n + 1), persistent=False)
        self.encode = nn.Linear(1, width)
        self.layers = nn.ModuleList(Layer(n + 1, width, heads, hidden) for _ in range(layers))
        self.decode = nn.Linear(width, 1)

    def forward(self, x):
        x = self.encode(x)
        for layer in self.layers:
            x = layer(x, self.positions)
        return self.decode(x)


class StandardTransformer(nn.Module):
    """Queries, keys and values come from the tokens; the one-hot position is appended to the input."""

    def __init__(self, n, layers, width=64, heads=2, hidden=64):
        super().__init__()
        self.register_buffer("positions", torch.eye(n + 1), persistent=False)
        self.encode = nn.Linear(1 + n + 1, width)
        self.layers = nn.ModuleList(Layer(width, width, heads, hidden) for _ in range(layers))
        self.decode = nn.Linear(width, 1)

    def forward(self, x):
        x = self.encode(torch.cat([x, self.positions.expand(len(x), -1, -1)], dim=-1))
        for layer in self.layers:
            x = layer(x, x)
        return self.decode(x)


MODELS = {"positional": PositionalTransformer, "standard": StandardTransformer}


def make_model(kind, n, layers=None):
    return MODELS[kind](n, layers or int(math.log2(n)) + 1)


# ------------------------------------------------------------------------------------------------------ training


def make_optimizer(model):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=50, factor=0.9, min_lr=1e-6)
    return optimizer, scheduler


def loss_of(model, x, y):
    """Mean squared error over all tokens but the dummy."""
    return F.mse_loss(model(x)[:, :-1], y[:, :-1])


def train_epoch(model, batches, optimizer):
    """One step a batch; return the sum of the losses."""
    model.train()
    total = 0.0
    for x, y in batches:
        optimizer.zero_grad()
        loss = loss_of(model, x, y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


@torch.no_grad()
def evaluate(model, loaders):
    """The mean loss on each of the sets."""
    model.eval()
    return [sum(loss_of(model, x, y).item() for x, y in loader) / len(loader) for loader in loaders]


def train_seed(task, kind, n, seed, epochs=EPOCHS):
    torch.manual_seed(seed)
    train, tests = make_loaders(task, n)
    model = make_model(kind, n)
    optimizer, scheduler = make_optimizer(model)
    losses = []
    for epoch in range(epochs):
        scheduler.step(train_epoch(model, train, optimizer))
        if epoch % EVALUATE_EVERY == 0:
            losses = evaluate(model, tests)
            print(f"seed {seed}  epoch {epoch}  validation {losses[0]:.3g}  scale 10 {losses[-1]:.3g}")
    return losses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--task", default="sum", choices=[*TARGETS][:-1])
    parser.add_argument("--model", default="positional", choices=[*MODELS])
    parser.add_argument("--length", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    for seed in range(options.seeds):
        train_seed(options.task, options.model, options.length, seed, options.epochs)


if __name__ == "__main__":
    main()
