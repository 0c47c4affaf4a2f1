"""Random streams."""

import torch

from ordinate.lab.seeds import seed_noise


def test_noise_is_that_of_a_global_seed():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2**62 + 5)
        expected = torch.rand(7), torch.randint(10, (3,))
        seed_noise(2**62 + 5)
        assert torch.equal(torch.rand(7), expected[0])
        assert torch.equal(torch.randint(10, (3,)), expected[1])
