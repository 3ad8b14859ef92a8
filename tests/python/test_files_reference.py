"""Tests that files are the same to oneflow, NumPy and the safetensors package, in both directions."""

from __future__ import annotations

import io
import itertools
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import oneflow_py as flow

# The dtypes of NumPy that oneflow has; those that safetensors has, too.
KINDS = ["b1", "u1", "i1", "i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
SAFE_KINDS = [kind for kind in KINDS if kind != "c16"]
SETTINGS = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
shapes = hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=5)


def arrays(kinds: list[str], orders: str = "<") -> st.SearchStrategy[np.ndarray[Any, Any]]:
    dtypes = [f"{order}{kind}" for kind, order in itertools.product(kinds, orders)]
    return st.sampled_from(dtypes).flatmap(lambda dtype: hnp.arrays(np.dtype(dtype), shapes))


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def check(tensor: flow.Tensor, array: np.ndarray[Any, Any]) -> None:
    """Asserts that dtype, shape and all bits are the same."""
    found = tensor.numpy()
    assert found.shape == array.shape
    assert found.dtype == array.dtype.newbyteorder("=")
    assert found.tobytes() == array.astype(found.dtype).tobytes()


def tensor_of(array: np.ndarray[Any, Any]) -> flow.Tensor:
    return flow.from_numpy(np.array(array, dtype=array.dtype.newbyteorder("="), order="C"))


names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6).filter(lambda name: name != "__metadata__")

# ------------------------------------------------------------------------------------------------ safetensors


@SETTINGS
@given(data=st.dictionaries(names, arrays(SAFE_KINDS), max_size=5), metadata=st.dictionaries(names, names, max_size=2))
def test_safetensors_reads_ours(data: dict[str, np.ndarray[Any, Any]], metadata: dict[str, str]) -> None:
    flow.save({name: tensor_of(array) for name, array in data.items()}, "a.safetensors", metadata=metadata)
    with safetensors.safe_open("a.safetensors", "np") as file:
        assert set(file.keys()) == set(data)
        assert (file.metadata() or {}) == metadata
        for name, array in data.items():
            found = file.get_tensor(name)
            assert found.dtype == array.dtype
            assert found.shape == array.shape
            assert found.tobytes() == array.tobytes()


@SETTINGS
@given(
    data=st.dictionaries(names, arrays(SAFE_KINDS), min_size=1, max_size=5),  # without tensors it writes no JSON
    metadata=st.dictionaries(names, names, max_size=2),
)
def test_we_read_safetensors(data: dict[str, np.ndarray[Any, Any]], metadata: dict[str, str]) -> None:
    contiguous = {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in data.items()}
    safetensors.numpy.save_file(contiguous, "a.safetensors", metadata)
    for mmap in (True, False):
        found = flow.load("a.safetensors", mmap=mmap)
        assert set(found) == set(data)
        for name, array in data.items():
            check(found[name], array)
    with flow.open_file("a.safetensors") as file:
        assert file.metadata == metadata


def test_bfloat16() -> None:
    x = torch.tensor([1.5, -2.0, float("inf")], dtype=torch.bfloat16)
    safetensors.torch.save_file({"x": x}, "a.safetensors")
    found = flow.load("a.safetensors")["x"]
    assert found.dtype == flow.bfloat16
    assert found.tolist() == x.tolist()
    flow.save({"x": found}, "b.safetensors")
    assert torch.equal(safetensors.torch.load_file("b.safetensors")["x"], x)


def test_element_types_that_only_safetensors_has() -> None:
    x = torch.ones(4, dtype=torch.float8_e4m3fn)
    safetensors.torch.save_file({"x": x, "y": torch.ones(2)}, "a.safetensors")
    with flow.open_file("a.safetensors") as file:
        assert file.info("x") == (None, "F8_E4M3", (4,), 4)
        assert file["y"].tolist() == [1, 1]
        with pytest.raises(flow.DTypeError, match=r"'a\.safetensors' holds elements of type F8_E4M3 for 'x'"):
            file["x"]
    with pytest.raises(flow.DTypeError, match="F8_E4M3"):
        flow.load("a.safetensors")


def index_of(weights: dict[str, str], **others: Any) -> None:
    Path("m.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weights, **others}))


def test_sharded_files() -> None:
    safetensors.numpy.save_file({"a": np.arange(3.0), "b": np.ones(2)}, "m-1.safetensors")
    safetensors.numpy.save_file({"c": np.zeros((2, 2)), "unused": np.zeros(1)}, "m-2.safetensors")
    index_of({"c": "m-2.safetensors", "a": "m-1.safetensors", "b": "m-1.safetensors"}, metadata={"total_size": 72})
    found = flow.load("m.safetensors.index.json")
    assert {name: x.tolist() for name, x in found.items()} == {"c": [[0, 0], [0, 0]], "a": [0, 1, 2], "b": [1, 1]}
    with flow.open_file(Path.cwd() / "m.safetensors.index.json") as file:
        assert file.metadata == {"total_size": "72"}
        assert file.names == ["c", "a", "b"]


def test_files_of_an_index_can_be_links_within_the_folder() -> None:
    """A link could lead to any file of the system."""
    for folder in ("own", "blobs", "named"):
        Path(folder).mkdir()
    for path in ("secret", "own/file", "blobs/1"):
        safetensors.numpy.save_file({"a": np.arange(3.0)}, path)
    index_of({"a": "m-1.safetensors"})
    index = Path("m.safetensors.index.json").rename("own/m.safetensors.index.json")
    link = Path("own/m-1.safetensors")
    link.symlink_to("file")
    assert flow.load(index)["a"].tolist() == [0, 1, 2]
    link.unlink()
    link.symlink_to(Path("secret").absolute())
    with pytest.raises(flow.InvalidArgument, match=r"'m-1\.safetensors' is a link that leads out of the folder"):
        flow.load(index)
    # Caches of downloads keep all files in one folder, and link to them under their names.
    Path("blobs/2").write_bytes(index.read_bytes())
    Path("named/m-1.safetensors").symlink_to("../blobs/1")
    Path("named/m.safetensors.index.json").symlink_to("../blobs/2")
    assert flow.load("named/m.safetensors.index.json")["a"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ({"a": "../m-1.safetensors"}, "'../m-1.safetensors' is not the name of a file in the same folder"),
        ({"a": "/etc/passwd"}, "'/etc/passwd' is not the name of a file in the same folder"),
        ({"a": ".."}, "'..' is not the name of a file in the same folder"),
        ({"a": ""}, "'' is not the name of a file in the same folder"),
        ({"b": "m-1.safetensors"}, "'m-1.safetensors' has no tensor 'b', or the index has it twice"),
        ({"a": 3}, "it has a value that is no string"),
        ({"a": {}}, "it has an object where none is expected"),
        ([], "it has a list where none is expected"),
    ],
)
def test_wrong_indices(weights: Any, text: str) -> None:
    safetensors.numpy.save_file({"a": np.arange(3.0)}, "m-1.safetensors")
    index_of(weights)
    with pytest.raises(flow.InvalidArgument) as found:
        flow.load("m.safetensors.index.json")
    assert str(found.value) == f"load: 'm.safetensors.index.json' is malformed: {text}"
    index_of({"a": "missing.safetensors"})
    with pytest.raises(flow.FileError, match=r"load: 'missing.safetensors' cannot be opened: No such file"):
        flow.load("m.safetensors.index.json")


# ------------------------------------------------------------------------------------------------ NumPy


@SETTINGS
@given(array=arrays(KINDS))
def test_numpy_reads_our_npy(array: np.ndarray[Any, Any]) -> None:
    flow.save(tensor_of(array), "a.npy")
    found = np.load("a.npy")
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert found.tobytes() == array.tobytes()


@SETTINGS
@given(array=arrays(KINDS, "<>"), version=st.sampled_from([(1, 0), (2, 0), (3, 0)]), is_fortran=st.booleans())
def test_we_read_npy(array: np.ndarray[Any, Any], version: tuple[int, int], is_fortran: bool) -> None:
    given_array = np.asfortranarray(array).reshape(array.shape, order="F") if is_fortran else array
    with open("a.npy", "wb") as file:
        np.lib.format.write_array(file, given_array, version=version)
    for mmap in (True, False):
        check(flow.load("a.npy", mmap=mmap), array)


@SETTINGS
@given(data=st.dictionaries(names, arrays(KINDS), max_size=4), compress=st.booleans())
def test_numpy_reads_our_npz(data: dict[str, np.ndarray[Any, Any]], compress: bool) -> None:
    data.pop("__structure__", None)
    flow.save({name: tensor_of(array) for name, array in data.items()}, "a.npz", compress=compress)
    with np.load("a.npz") as found:
        assert found.files == list(data)
        for name, array in data.items():
            assert found[name].dtype == array.dtype
            assert found[name].shape == array.shape
            assert found[name].tobytes() == array.tobytes()
    with zipfile.ZipFile("a.npz") as archive:
        assert archive.testzip() is None


@SETTINGS
@given(data=st.dictionaries(st.sampled_from("abcd"), arrays(KINDS, "<>"), max_size=4), compress=st.booleans())
def test_we_read_npz(data: dict[str, np.ndarray[Any, Any]], compress: bool) -> None:
    (np.savez_compressed if compress else np.savez)("a.npz", **data)
    for mmap in (True, False):
        found = flow.load("a.npz", mmap=mmap)
        assert list(found) == list(data)
        for name, array in data.items():
            check(found[name], array)


@pytest.mark.filterwarnings("ignore:Reading .*additional header parsing")
def test_headers_of_python_2() -> None:
    header = b"{'descr': '<i4', 'fortran_order': False, 'shape': (2L, 1L), }  \n"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes([1, 0, 0, 0, 2, 0, 0, 0])
    Path("a.npy").write_bytes(content)
    assert flow.load("a.npy").tolist() == np.load("a.npy").tolist() == [[1], [2]]


def test_alignment_of_stored_arrays() -> None:
    """Elements of an archive are used in place."""
    flow.save({"a": flow.ones(1, dtype="uint8"), "bcd": flow.ones(3, dtype="complex128")}, "a.npz")
    with zipfile.ZipFile("a.npz") as archive:
        content = Path("a.npz").read_bytes()
        for info in archive.infolist():
            assert content.index(b"\x93NUMPY", info.header_offset) % 64 == 0


def test_misaligned_elements_are_copied() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in ("a.npy", "ab.npy", "abc.npy", "abcd.npy"):
            array = io.BytesIO()
            np.save(array, np.arange(5.0))
            archive.writestr(name, array.getvalue())
    Path("a.npz").write_bytes(file.getvalue())
    assert all(x.tolist() == [0, 1, 2, 3, 4] for x in flow.load("a.npz").values())


def test_members_that_are_no_arrays_are_left_out() -> None:
    np.savez("a.npz", x=np.ones(2))
    with zipfile.ZipFile("a.npz", "a") as archive:
        archive.writestr("readme.txt", "text")
        archive.mkdir("folder")
    assert list(flow.load("a.npz")) == ["x"]


def test_comments_and_large_archives() -> None:
    np.savez("a.npz", x=np.ones(2))
    with zipfile.ZipFile("a.npz", "a") as archive:
        archive.comment = b"a comment" * 100
    assert flow.load("a.npz")["x"].tolist() == [1, 1]
    with zipfile.ZipFile("a.npz", "a") as archive:
        archive.comment = b"PK\x05\x06" + bytes(1000)
    assert flow.load("a.npz")["x"].tolist() == [1, 1]  # though the comment looks like the end of the archive
    flow.save({f"{i}": flow.tensor(i) for i in range(70_000)}, "many.npz")
    with np.load("many.npz") as found:
        assert len(found.files) == 70_000
        assert found["69999"] == 69_999
    assert len(flow.load("many.npz")) == 70_000


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.array([{}], dtype=object), "|O (pickled Python objects, which are not read because they can run code)"),
        (np.array(["text"]), "<U4"),
        (np.array([b"text"]), "|S4"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "<M8[D]"),
        (np.zeros(2, dtype=[("x", "<f4")]), "[('x', '<f4')]"),
        (np.zeros(2, dtype="V2"), "|V2"),
    ],
)
def test_element_types_that_only_numpy_has(array: np.ndarray[Any, Any], text: str) -> None:
    np.save("a.npy", array)
    with pytest.raises(flow.DTypeError) as found:
        flow.load("a.npy")
    assert str(found.value) == f"load: 'a.npy' holds elements of type {text} for 'tensor', for which there is no dtype"
    np.savez("a.npz", bad=array, good=np.ones(2))
    with flow.open_file("a.npz") as file:
        assert file.info("bad").dtype is None
        assert file["good"].tolist() == [1, 1]
        with pytest.raises(flow.DTypeError):
            file["bad"]


def test_a_bool_is_0_or_1() -> None:
    np.save("a.npy", np.array([0, 1, 2, 255], dtype=np.uint8).view(bool))
    x = flow.load("a.npy")
    assert x.tolist() == [False, True, True, True]
    assert x.sum().item() == 3
