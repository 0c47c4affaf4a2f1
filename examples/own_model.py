"""A relation inside a torch module of your own: learned on 8 numbers, right on 800."""

import torch
from torch import nn

import ordinate as od

near = od.aligned("number") * od.window(back=2)  # a number looks at itself and at the two before it


class Smoother(nn.Module):
    """The mean of a number and the two before it."""

    def __init__(self, dim=32):
        super().__init__()
        self.embed = nn.Linear(1, dim)
        self.attention = od.Attention(dim, heads=4, relation=near, scores="class")
        self.read = nn.Linear(dim, 1)

    def forward(self, x):  # [batch, token, 1], any number of tokens
        return self.read(self.attention(self.embed(x)))


def error(model, tokens):
    x = torch.randn(64, tokens, 1)
    mean = (x[:, 2:] + x[:, 1:-1] + x[:, :-2]) / 3
    return (model(x)[:, 2:] - mean).square().mean()


torch.manual_seed(0)
model = Smoother()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(300):
    optimizer.zero_grad()
    error(model, tokens=8).backward()
    optimizer.step()
for tokens in (8, 80, 800):
    print(f"{tokens} numbers: mean squared error {error(model, tokens):.1e}")
