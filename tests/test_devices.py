"""The pretended devices refuse what a GPU would, and give the numbers of the CPU."""

import multiprocessing

import pytest
import torch
from torch import nn

from tests.devices import (
    AFAR,
    AWAY,
    DEVICES,
    TwoDevices,
    afar_autocast,
    assert_runs_anywhere,
    assert_trains_anywhere,
    away,
    back,
    moved,
)


def test_numbers_are_those_of_the_cpu():
    x = torch.randn(3, 4, requires_grad=True)
    assert_runs_anywhere(lambda x: (x @ x.mT).softmax(-1) * torch.arange(3, device=x.device), x)


def test_a_step_of_training_is_that_of_the_cpu():
    model = nn.Sequential(nn.Linear(3, 5), nn.LayerNorm(5), nn.GELU(), nn.Linear(5, 2))
    assert_trains_anywhere(model, lambda model, x: model(x), torch.randn(4, 3))


def test_in_place_views_and_copies_work():
    x = away(torch.arange(6.0))
    with AWAY:
        y = torch.zeros(2, 3, device=x.device)
        y.t_()
        y.copy_(x.view(3, 2))
        y += 1
        z = torch.stack([part.sum() for part in y.unbind()])
    assert y.shape == (3, 2)
    assert back(z).tolist() == [3.0, 7.0, 11.0]
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


MIXES = {
    "sum": lambda x: x + torch.ones(3),
    "product": lambda x: x @ torch.ones(3),
    "lookup": lambda x: x.index_select(0, torch.tensor([0])),
    "gather": lambda x: x.gather(0, torch.tensor([0])),
    "mask": lambda x: x.masked_fill(torch.tensor([True, False, True]), 0.0),
    "parts": lambda x: torch.cat([x, torch.zeros(1)]),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mix", MIXES.values(), ids=MIXES)
def test_tensors_of_two_devices_do_not_meet(mix, device):
    x = moved(torch.ones(3), device)
    with DEVICES[device][0], pytest.raises(TwoDevices, match="tensors on two devices"):
        mix(x)


def test_a_table_of_the_cpu_is_not_read_by_an_index_of_the_device():
    x = away(torch.zeros(3, dtype=torch.long))
    with AWAY, pytest.raises(TwoDevices, match="a tensor of the CPU is indexed by one of the device"):
        torch.ones(3)[x]


def test_complex_numbers_and_transforms():
    x, y = (torch.randn(2, 8, requires_grad=True) for _ in range(2))

    def convolve(x, y):
        return torch.fft.irfft(torch.fft.rfft(x) * torch.fft.rfft(y).conj(), n=8)

    assert_runs_anywhere(convolve, x, y)


def test_what_a_gpu_allows_is_allowed():
    x = away(torch.ones(3))
    with AWAY:
        assert back(x * torch.tensor(2.0)).tolist() == [2.0, 2.0, 2.0]
        assert back(x[torch.tensor([0, 1])]).tolist() == [1.0, 1.0]
        before = AWAY.waits
        assert float(x.sum()) == 3.0
        assert AWAY.waits == before + 1


def test_a_number_that_the_cpu_would_wait_for_is_refused_afar():
    x = moved(torch.ones(3), "afar")
    with AFAR, pytest.raises(Exception, match=r"aten::_local_scalar_dense|data-dependent|_local_scalar"):
        bool(x.any())


def test_a_table_of_the_cpu_may_be_worked_out_and_copied_afar_or_be_an_index_there():
    x = moved(torch.ones(3), "afar")
    with AFAR:
        table = torch.arange(3) + 1
        assert int(table.sum()) == 6
        assert (table.to(x.device) + x).device.type == "afar"
        assert x[table - 1].device.type == "afar"


def test_a_step_afar_leaves_no_thread_that_forked_processes_would_miss():
    """Torch keeps a thread for every device that it differentiates on."""
    assert_runs_anywhere(torch.sin, torch.ones(2, requires_grad=True))
    child = multiprocessing.get_context("fork").Process(target=_differentiate)
    child.start()
    child.join(60)
    assert child.exitcode == 0


def _differentiate():
    torch.ones((), requires_grad=True).sin().backward()


def test_autocast_afar():
    layer, x = moved(nn.Linear(3, 3), "afar"), moved(torch.ones(2, 3), "afar")
    with AFAR, afar_autocast():
        assert layer(x).dtype == torch.bfloat16
        with torch.autocast("afar", enabled=False):
            assert layer(x).dtype == torch.float32
