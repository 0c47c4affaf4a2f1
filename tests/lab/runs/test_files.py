"""A file is either whole or not there, and an error says which file and why."""

import errno
import math
import os

import numpy as np
import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.lab.runs import files
from ordinate.lab.runs.files import (
    is_complete,
    read_json,
    read_tensors,
    sealed,
    write_bytes,
    write_json,
    write_tensors,
    write_text,
)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


class TestAtomicity:
    def test_a_write_replaces_the_file_and_makes_its_folders(self, tmp_path):
        path = tmp_path / "a" / "b" / "note.txt"
        write_text(path, "old")
        write_text(path, "new, with ä")
        assert path.read_text(encoding="utf-8") == "new, with ä"
        assert names(path.parent) == ["note.txt"]

    def test_a_failure_before_the_rename_leaves_the_old_file_and_nothing_else(self, tmp_path, monkeypatch):
        path = tmp_path / "note.txt"
        write_text(path, "old")

        def refuse(*_):
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(files.os, "replace", refuse)
        with pytest.raises(OrdinateError, match="input/output error"):
            write_text(path, "new")
        assert path.read_text() == "old"
        assert names(tmp_path) == ["note.txt"]

    def test_a_full_disk_leaves_the_old_file_and_is_named(self, tmp_path, monkeypatch):
        path = tmp_path / "model.safetensors"
        write_tensors(path, {"w": torch.ones(3)}, {"step": 1})

        def full(_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(files.os, "fsync", full)
        with pytest.raises(OrdinateError) as caught:
            write_tensors(path, {"w": torch.zeros(3)}, {"step": 2})
        assert str(caught.value) == f"cannot write {path}: no space left on device"
        monkeypatch.undo()
        assert read_tensors(path)[1] == {"step": 1}
        assert names(tmp_path) == ["model.safetensors"]

    def test_an_interrupt_leaves_no_temporary_file(self, tmp_path, monkeypatch):
        def interrupt(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(files.os, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_bytes(tmp_path / "x", b"1")
        assert names(tmp_path) == []

    def test_a_write_that_stops_in_the_middle_leaves_the_old_file(self, tmp_path):
        resource = pytest.importorskip("resource")
        path = tmp_path / "blob"
        write_bytes(path, b"old")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
        try:
            with pytest.raises(OrdinateError, match=r"cannot write .*blob: file too large"):
                write_bytes(path, b"x" * 200_000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert path.read_bytes() == b"old"
        assert names(tmp_path) == ["blob"]

    def test_a_parent_that_is_a_file_is_named(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(
            OrdinateError, match=r"cannot write .*file/x\.json: (not a directory|file exists)"
        ):
            write_json(tmp_path / "file" / "x.json", {})

    def test_a_folder_in_the_place_of_the_file_is_named(self, tmp_path):
        (tmp_path / "x.json").mkdir()
        with pytest.raises(OrdinateError, match=r"x\.json: is a directory"):
            write_json(tmp_path / "x.json", {})
        assert names(tmp_path) == ["x.json"]


class TestJson:
    def test_values_come_back(self, tmp_path):
        value = {"a": [1, 2.5, None, True], "b": {"text": "ß"}}
        write_json(tmp_path / "x.json", value)
        assert read_json(tmp_path / "x.json") == value

    def test_numbers_that_are_not_finite_are_valid_json_and_come_back(self, tmp_path):
        write_json(tmp_path / "x.json", {"best": math.inf, "least": -math.inf, "loss": math.nan})
        assert '"best": "Infinity"' in (tmp_path / "x.json").read_text()
        back = read_json(tmp_path / "x.json")
        assert back["best"] == math.inf
        assert back["least"] == -math.inf
        assert math.isnan(back["loss"])

    def test_arrays_and_scalars_of_numpy_and_torch_become_plain(self, tmp_path):
        value = {
            "a": np.float32(0.5),
            "b": np.arange(2),
            "c": torch.tensor([1.5]),
            "d": (1, 2),
            "e": tmp_path,
        }
        write_json(tmp_path / "x.json", value)
        back = {"a": 0.5, "b": [0, 1], "c": [1.5], "d": [1, 2], "e": str(tmp_path)}
        assert read_json(tmp_path / "x.json") == back

    def test_what_json_cannot_hold_is_refused_before_writing(self, tmp_path):
        with pytest.raises(OrdinateError, match="a set cannot be written as JSON"):
            write_json(tmp_path / "x.json", {"a": {1, 2}})
        assert names(tmp_path) == []

    @pytest.mark.parametrize("text", ["[" * 100_000, '{"a": "\\udfff"}'])
    def test_what_is_no_json_is_one_line_with_the_file(self, tmp_path, text):
        (tmp_path / "x.json").write_text(text)
        with pytest.raises(OrdinateError, match=r"x\.json is not readable JSON: .+") as refused:
            read_json(tmp_path / "x.json")
        assert "\n" not in str(refused.value)

    def test_broken_json_is_named(self, tmp_path):
        (tmp_path / "x.json").write_text('{"a": 1')
        with pytest.raises(OrdinateError, match=r"x\.json is not readable JSON"):
            read_json(tmp_path / "x.json")

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(OrdinateError, match=r"cannot read .*x\.json: no such file"):
            read_json(tmp_path / "x.json")


class TestTensors:
    def test_tensors_and_meta_come_back_bit_for_bit(self, tmp_path):
        tensors = {
            "float": torch.randn(3, 4, generator=torch.Generator().manual_seed(0)),
            "bytes": torch.Generator().get_state(),
            "scalar": torch.tensor(7),
            "half": torch.ones(2, dtype=torch.bfloat16),
            "empty": torch.zeros(0, 3),
            "also empty": torch.zeros(0),
        }
        meta = {"step": 10, "rate": 0.1 + 0.2, "best": math.inf, "nested": {"list": [1, None]}}
        write_tensors(tmp_path / "x.safetensors", tensors, meta)
        back, back_meta = read_tensors(tmp_path / "x.safetensors")
        assert back_meta == meta
        assert back.keys() == tensors.keys()
        for name, tensor in tensors.items():
            assert back[name].dtype == tensor.dtype
            assert torch.equal(back[name], tensor)
        back["float"].add_(1)  # and they can be written to

    def test_tied_weights_views_and_parameters_are_stored_apart(self, tmp_path):
        weight = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
        tensors = {"a": weight, "b": weight, "transposed": weight.T, "row": weight[1]}
        write_tensors(tmp_path / "x.safetensors", tensors, {})
        back, _ = read_tensors(tmp_path / "x.safetensors")
        assert all(torch.equal(back[name], tensor) for name, tensor in tensors.items())

    def test_no_tensors_is_a_file_too(self, tmp_path):
        write_tensors(tmp_path / "x.safetensors", {}, {"only": "meta"})
        assert read_tensors(tmp_path / "x.safetensors") == ({}, {"only": "meta"})
        assert is_complete(tmp_path / "x.safetensors")

    @pytest.mark.parametrize("kept", [0, 5, 60, -1])
    def test_a_truncated_file_is_not_a_readable_checkpoint(self, tmp_path, kept):
        path = tmp_path / "x.safetensors"
        write_tensors(path, {"w": torch.ones(100)}, {"step": 1})
        assert is_complete(path)
        path.write_bytes(path.read_bytes()[:kept])
        assert not is_complete(path)
        with pytest.raises(OrdinateError, match=r"x\.safetensors is not a readable checkpoint: ") as caught:
            read_tensors(path)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("content", [b"hello, world", b"\x80\x04pickle", b"\xff" * 64, b"{}" * 100])
    def test_a_file_of_another_kind_is_not_a_readable_checkpoint(self, tmp_path, content):
        path = tmp_path / "x.safetensors"
        path.write_bytes(content)
        assert not is_complete(path)
        with pytest.raises(OrdinateError, match="is not a readable checkpoint"):
            read_tensors(path)

    @pytest.mark.parametrize("metadata", [None, {"format": "pt"}, {"ordinate": "{"}, {"ordinate": "[]"}])
    def test_safetensors_of_others_are_not_readable_checkpoints(self, tmp_path, metadata):
        from safetensors.torch import save_file

        save_file({"w": torch.ones(2)}, tmp_path / "x.safetensors", metadata=metadata)
        with pytest.raises(OrdinateError, match="is not a readable checkpoint"):
            read_tensors(tmp_path / "x.safetensors")

    def test_a_changed_byte_is_noticed_wherever_it_is(self, tmp_path):
        path = tmp_path / "x.safetensors"
        write_tensors(path, {"w": torch.ones(5), "v": torch.zeros(2)}, {"step": 1})
        data = path.read_bytes()
        for place in range(len(data)):
            path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
            with pytest.raises(OrdinateError, match="is not a readable checkpoint"):
                read_tensors(path)

    @pytest.mark.parametrize("change", [{}, {"sha256": "0" * 64}, {"seal": "0" * 64}])
    def test_a_seal_that_was_taken_off_is_missed(self, tmp_path, change):
        """As a tool does that loads the tensors, changes one, and saves them with the metadata that it knows."""
        from safetensors import safe_open
        from safetensors.torch import save_file

        path = tmp_path / "x.safetensors"
        write_tensors(path, {"w": torch.ones(2)}, {"step": 1})
        with safe_open(path, "pt") as file:
            known = {"ordinate": file.metadata()["ordinate"]}
        for tensor in (torch.ones(2), torch.zeros(2)):
            save_file({"w": tensor}, path, metadata=known | change)
            with pytest.raises(OrdinateError, match=r"is not a readable checkpoint: it.* was") as refused:
                read_tensors(path)
            assert "\n" not in str(refused.value)

    def test_a_sealed_file_from_before_files_said_so_is_read(self, tmp_path):
        from safetensors.torch import save

        path = tmp_path / "x.safetensors"
        data = sealed(save({"w": torch.ones(2)}, metadata={"ordinate": '{"step": 1}'}))
        path.write_bytes(data)
        assert read_tensors(path)[1] == {"step": 1}
        path.write_bytes(data.replace(b'step\\": 1', b'step\\": 2'))
        with pytest.raises(OrdinateError, match="it was changed after it was written"):
            read_tensors(path)

    def test_a_header_nested_too_deeply_is_no_whole_file(self, tmp_path):
        header = b"[" * 100_000 + b"]" * 100_000
        (tmp_path / "x.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
        assert not is_complete(tmp_path / "x.safetensors")

    def test_a_file_without_a_seal_is_read(self, tmp_path):
        from safetensors.torch import save_file

        save_file({"w": torch.ones(2)}, tmp_path / "x.safetensors", metadata={"ordinate": '{"step": 1}'})
        assert read_tensors(tmp_path / "x.safetensors")[1] == {"step": 1}

    def test_a_sparse_tensor_is_refused_in_one_line(self, tmp_path):
        with pytest.raises(OrdinateError, match="cannot write"):
            write_tensors(tmp_path / "x.safetensors", {"w": torch.eye(2).to_sparse()}, {})
        assert names(tmp_path) == []
