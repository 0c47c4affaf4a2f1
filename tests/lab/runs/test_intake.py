"""What comes into a store as one file is checked before anything is written: contents, sizes, and where it would go."""

import zipfile

import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Store
from ordinate.lab.runs.archive import SMALL, TIGHTEST, pack, unpack
from tests.lab.runs.damage import DAMAGES, NAMES, RECORDS

RECIPE = {"name": "sum", "task": {"name": "sum"}}
LIMITS = "ordinate.lab.runs.archive"


@pytest.fixture
def store(tmp_path):
    """Two runs that are done."""
    store = Store(tmp_path / "here")
    for seed in range(2):
        run = store.open(RECIPE, seed)
        run.append_metrics([{"step": 1, "loss": 2.0}])
        run.write_result("evaluation", [])
        run.update(status="done", step=10, scores={"validation": 0.5})
    return store


@pytest.fixture
def other(tmp_path):
    return Store(tmp_path / "there")


@pytest.fixture
def packed(store, tmp_path):
    pack(store, tmp_path / "a.zip", all_of(store))
    return tmp_path / "a.zip"


def all_of(store):
    return [record.id for record in store.runs()]


def rewrite(file, change, kind=zipfile.ZIP_DEFLATED):
    """Write the file anew, with the entries that `change` makes of its own, from names in the second run."""
    with zipfile.ZipFile(file) as old:
        entries = {name: old.read(name) for name in old.namelist()}
    folder = max(entries).split("/seed-")[0] + "/seed-1/"
    entries |= {folder + name: data for name, data in change.items()}
    with zipfile.ZipFile(file, "w", kind) as new:
        for name, data in entries.items():
            new.writestr(name, data)


def refused(file, store, match):
    with pytest.raises(OrdinateError, match=match) as error:
        unpack(file, store)
    assert "\n" not in str(error.value)
    assert not store.root.exists()


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, _, text in DAMAGES], ids=NAMES)
def test_a_run_that_would_be_listed_as_damaged_is_refused_with_all_others(packed, other, name, text):
    rewrite(packed, {name: text})
    refused(packed, other, r"a\.zip: sum-[0-9a-f]{10}/seed-1")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("metrics.jsonl", '{"step": 1}\n[[[\n{"step": 3}\n'),
        ("metrics.jsonl", '{"step": "one"}\n'),
        ("results/evaluation.json", "[" * 5000),
        ("results/evaluation.json", "no json"),
    ],
)
def test_so_is_one_whose_measurements_cannot_be_read(packed, other, name, text):
    rewrite(packed, {name: text})
    refused(packed, other, name)


def test_a_seed_beyond_all_integers_is_refused(packed, other):
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(packed.with_name("b.zip"), "w") as new:
        for name in old.namelist():
            new.writestr(name.replace("seed-1", f"seed-{2**63}"), old.read(name))
    refused(packed.with_name("b.zip"), other, "a seed cannot be")


def test_a_run_that_is_cut_off_keeps_the_others_out(packed, other):
    data = packed.read_bytes()
    place = data.rindex(b"metrics.jsonl", 0, data.index(b"PK\x01\x02")) + 30
    packed.write_bytes(data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :])
    with pytest.raises(OrdinateError, match=r"a\.zip"):
        unpack(packed, other)
    assert other.runs() == []


class TestDamagedRunsHere:
    @pytest.fixture
    def damaged(self, store):
        file = store.root / all_of(store)[0] / "run.json"
        file.write_text(RECORDS["a newer version"])
        return file

    def test_one_is_left_out_when_the_others_are_packed(self, store, damaged, tmp_path):
        for whole in (False, True):
            packed = pack(store, tmp_path / "b.zip", all_of(store), whole=whole)
            assert [id_[-1] for id_ in packed] == ["1"]

    def test_one_is_not_replaced_by_a_run_that_comes_in(self, packed, store, damaged):
        before = damaged.read_bytes()
        added, kept = unpack(packed, store)
        assert (added, len(kept)) == ([], 2)
        assert damaged.read_bytes() == before


class TestLimits:
    def test_files_of_a_kind_have_a_size(self, packed, other, monkeypatch):
        rewrite(packed, {"results/big.json": "[" + "1," * 3000 + "1]"})
        monkeypatch.setattr(f"{LIMITS}.LARGEST_TEXT", 6002)
        refused(packed, other, r"big\.json' would have 6003 bytes: at most 6002 are taken")
        monkeypatch.setattr(f"{LIMITS}.LARGEST_TEXT", 6003)
        assert len(unpack(packed, other).added) == 2

    def test_tensors_have_another_one(self, packed, other, monkeypatch):
        rewrite(packed, {"arrays/errors.safetensors": b"12345"})
        monkeypatch.setattr(f"{LIMITS}.LARGEST_TENSORS", 4)
        refused(packed, other, "at most 4 are taken")

    def test_the_files_are_counted(self, packed, other, monkeypatch):
        monkeypatch.setattr(f"{LIMITS}.MOST_FILES", 7)
        refused(packed, other, "holds 8 files: at most 7 are taken")
        monkeypatch.setattr(f"{LIMITS}.MOST_FILES", 8)
        assert len(unpack(packed, other).added) == 2

    def test_more_than_is_taken_is_not_packed_either(self, store, tmp_path, monkeypatch):
        monkeypatch.setattr(f"{LIMITS}.MOST_FILES", 7)
        with pytest.raises(OrdinateError, match="pack fewer runs at a time"):
            pack(store, tmp_path / "b.zip", all_of(store))
        assert list(tmp_path.glob("*.zip")) == list(tmp_path.glob(".*.tmp")) == []

    def test_a_small_file_that_would_unpack_to_64_mebibytes_is_refused(self, packed, other):
        rewrite(packed, {"results/big.json": bytes(1 << 26)})
        assert packed.stat().st_size < 100_000
        refused(packed, other, f"unpack to more than {TIGHTEST} times its size")

    def test_so_is_one_that_lies_about_its_packed_size(self, packed, other):
        rewrite(packed, {"results/big.json": bytes(1 << 26)})
        with zipfile.ZipFile(packed) as file:
            real = file.getinfo(max(file.namelist(), key=lambda name: file.getinfo(name).file_size))
        data, told = packed.read_bytes(), (1 << 20).to_bytes(4, "little")
        packed.write_bytes(data.replace(real.compress_size.to_bytes(4, "little"), told))
        refused(packed, other, "is not a file of runs")

    @pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_other_ways_to_pack_are_refused(self, packed, other, kind):
        rewrite(packed, {}, kind)
        refused(packed, other, "is not a file of runs")

    @pytest.mark.parametrize("numbers", [SMALL // 4, SMALL, 1 << 20])
    def test_what_is_packed_here_comes_in_however_tight_it_is(self, store, other, tmp_path, numbers):
        run = store.open(RECIPE, 0)
        run.save_arrays("errors", {"length=5": torch.zeros(numbers)})
        pack(store, tmp_path / "b.zip", [run.id])
        unpack(tmp_path / "b.zip", other)
        assert len(other.open(RECIPE, 0).load_arrays("errors")["length=5"]) == numbers


class TestLinks:
    @pytest.mark.parametrize("depth", [1, 2])
    @pytest.mark.parametrize("there", [True, False])
    def test_nothing_is_written_through_a_link_in_the_store(
        self, packed, store, other, tmp_path, depth, there
    ):
        place = other.root.joinpath(*all_of(store)[1].split("/")[:depth])
        outside = tmp_path / "outside"
        if there:
            outside.mkdir()
        place.parent.mkdir(parents=True)
        place.symlink_to(outside)
        with pytest.raises(OrdinateError, match="is a link"):
            unpack(packed, other)
        assert other.runs() == []
        assert not there or list(outside.iterdir()) == []

    def test_a_store_may_itself_be_a_link(self, packed, other, tmp_path):
        (tmp_path / "outside").mkdir()
        other.root.symlink_to(tmp_path / "outside")
        assert len(unpack(packed, other).added) == 2
