"""Tests save, load and open_file: nested data, options, errors, and the life of the memory that files share."""

from __future__ import annotations

import copy
import gc
import os
import pathlib
import struct
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oneflow_py as flow
from tests.python.support import DTYPES, first_devices, raises, raw
from tests.python.test_processes import resident_bytes

FORMATS = ["a.safetensors", "a.npz"]
MIB = 1 << 20


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def same(a: Any, b: Any) -> bool:
    """Returns whether nested data is the same, bit for bit."""
    if isinstance(a, flow.Tensor):
        return isinstance(b, flow.Tensor) and a.dtype == b.dtype and a.shape == b.shape and raw(a) == raw(b)
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return type(b) is list and len(a) == len(b) and all(map(same, a, b))


def layers() -> dict[str, Any]:
    return {
        "layers": [{"weight": flow.rand(2, 3), "bias": flow.zeros(3)}, {"weight": flow.ones(3, 1, dtype="float16")}],
        "step": flow.tensor(7),
        "mask": flow.tensor([True, False]),
        "nothing": flow.zeros(0, 4),
    }


# ------------------------------------------------------------------------------------------------ nested data


@pytest.mark.parametrize("path", FORMATS)
@pytest.mark.parametrize(
    "data",
    [
        {},
        [],
        {"a": {}, "b": [], "c": [[], {}]},
        {"b": flow.ones(2), "a": flow.zeros(2)},
        {"a.b": flow.ones(2), "a": {"c": flow.zeros(2)}},
        {"": flow.ones(1), "x": {"": flow.ones(2), "y": {"": flow.ones(3)}}},
        {"x": {"": flow.ones(2)}, "y": {".": flow.ones(3)}},
        [flow.ones(1), [flow.ones(2)], {"0": flow.ones(3)}],
        flow.tensor(2.5),
        {"schöne Größe": flow.ones(1), "日本": [flow.ones(2)], "/etc/../x": flow.ones(3), '"\\\n': flow.ones(4)},
        {f"{i}": flow.tensor(i) for i in range(1000)},
    ],
    ids=lambda data: repr(data)[:40] if isinstance(data, str) else "",
)
def test_round_trip(path: str, data: Any) -> None:
    flow.save(data, path)
    assert same(data, flow.load(path))
    assert same(data, flow.load(path, mmap=False))


def test_tuples_become_lists_and_any_mapping_a_dict() -> None:
    class Parameters(dict[str, Any]):
        pass

    flow.save(Parameters(a=(flow.ones(1), flow.ones(2))), "a.npz")
    assert same({"a": [flow.ones(1), flow.ones(2)]}, flow.load("a.npz"))


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
tensors = st.builds(
    lambda dtype, shape, seed: (flow.rand(shape, generator=flow.Generator(seed)) * 5).to(getattr(flow, dtype)),
    st.sampled_from(DTYPES),
    st.lists(st.integers(0, 4), max_size=4),
    st.integers(0, 2**32),
)


@pytest.mark.parametrize("path", FORMATS)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.recursive(tensors, lambda item: st.dictionaries(names, item, max_size=4) | st.lists(item, max_size=3)),
    metadata=st.dictionaries(names, names, max_size=3),
)
def test_random_data(path: str, data: Any, metadata: dict[str, str]) -> None:
    refusal = ""
    try:
        flow.save(data, path, metadata=metadata)
    except (flow.DTypeError, flow.InvalidArgument) as error:
        refusal = str(error)
    if refusal:
        assert "NumPy has no type for bfloat16" in refusal or "two tensors have the name" in refusal
        return
    assert same(data, flow.load(path))
    with flow.open_file(path) as file:
        assert file.metadata == metadata


@pytest.mark.parametrize("path", FORMATS)
def test_flat(path: str) -> None:
    flow.save(layers(), path)
    flat = flow.load(path, flat=True)
    assert list(flat) == [
        "layers.0.weight", "layers.0.bias", "layers.1.weight", "step", "mask", "nothing",
    ]  # fmt: skip
    assert flat["layers.1.weight"].shape == (3, 1)


@pytest.mark.parametrize("path", [*FORMATS, "a.npy"])
def test_tensors_of_any_layout(path: str) -> None:
    base = flow.arange(24).reshape(4, 6)
    for x in (base.T, base[::2, 1::2], base[1], base.expand(2, 4, 6), flow.tensor(3).expand(2, 2), base[:, :0]):
        flow.save(x, path)
        assert flow.load(path).tolist() == x.tolist()
    x = flow.ones(2).requires_grad_()
    flow.save(x * 3, path)
    assert not flow.load(path).requires_grad


def test_a_tensor_that_occurs_twice_is_saved_twice() -> None:
    x = flow.ones(2)
    flow.save({"a": x, "b": x, "c": x[1:]}, "a.safetensors")
    loaded = flow.load("a.safetensors")
    loaded["a"].add_(1)
    assert loaded["b"].tolist() == [1, 1]
    assert loaded["c"].tolist() == [1]


@pytest.mark.parametrize("device", first_devices())
@pytest.mark.parametrize("path", FORMATS)
def test_devices(path: str, device: str) -> None:
    data = {"a": flow.arange(6, device=device).reshape(2, 3).T, "b": flow.tensor([True], device=device)}
    flow.save(data, path)
    for mmap in (True, False):
        loaded = flow.load(path, device=device, mmap=mmap)
        assert loaded["a"].tolist() == [[0, 3], [1, 4], [2, 5]]
        assert {x.device for x in loaded.values()} == {flow.device(device)}


def test_the_default_device_is_that_of_new_tensors() -> None:
    flow.save(flow.ones(2), "a.npy")
    before = flow.get_default_device()
    try:
        flow.set_default_device(first_devices()[-1])
        assert flow.load("a.npy").device == flow.zeros(1).device
    finally:
        flow.set_default_device(before)


# ------------------------------------------------------------------------------------------------ files


def test_paths() -> None:
    for path in ("a.npz", b"b.npz", pathlib.Path("c.npz"), os.fsdecode(b"\xff.npz"), "D.NPZ"):
        flow.save({"a": flow.ones(1)}, path)
        assert flow.load(path)["a"].tolist() == [1]


@pytest.mark.parametrize("path", FORMATS)
def test_open_file(path: str) -> None:
    flow.save(layers(), path, metadata={"made by": "a test"})
    with flow.open_file(path) as file:
        assert not file.closed
        assert repr(file) == "<file of 6 tensors>"
        assert len(file) == 6
        assert list(file) == file.keys() == file.names
        assert list(dict(file)) == file.names
        assert "step" in file
        assert "steps" not in file
        assert file.metadata == {"made by": "a test"}
        kind = "F16" if path.endswith("safetensors") else "<f2"
        assert file.info("layers.1.weight") == (flow.float16, kind, (3, 1), 6)
        step = file["step"]
        assert file.read("mask", mmap=False).tolist() == [True, False]
        assert list(file.load()) == ["layers", "step", "mask", "nothing"]
    assert step.item() == 7
    assert file.closed
    file.close()
    for use in (
        lambda: file["step"], lambda: file.info("step"), lambda: file.metadata, lambda: file.load(), file.__enter__,
    ):  # fmt: skip
        with pytest.raises(flow.InvalidArgument, match="the file is closed"):
            use()
    with pytest.raises(flow.InvalidArgument, match=r"^__enter__: the file is closed$"), file:
        pass


def test_compression() -> None:
    flow.save({"a": flow.zeros(1000, 1000)}, "stored.npz")
    flow.save({"a": flow.zeros(1000, 1000)}, "deflated.npz", compress=True)
    assert Path("stored.npz").stat().st_size > 4_000_000
    assert Path("deflated.npz").stat().st_size < 100_000
    assert same(flow.load("stored.npz"), flow.load("deflated.npz"))


def test_equal_data_gives_equal_files() -> None:
    for path in FORMATS:
        data = layers()
        flow.save(data, path)
        first = Path(path).read_bytes()
        flow.save(data, path)
        assert Path(path).read_bytes() == first


# ------------------------------------------------------------------------------------------------ memory


def is_mapped(path: str) -> bool:
    return str(Path(path).resolve()) in Path("/proc/self/maps").read_text()


@pytest.mark.parametrize("path", [*FORMATS, "a.npy"])
def test_tensors_share_the_file_until_the_last_one_is_gone(path: str) -> None:
    flow.save(flow.arange(6).reshape(2, 3), path)
    x = flow.load(path, mmap=True)
    assert is_mapped(path)
    y = x[1:]
    del x
    gc.collect()
    assert is_mapped(path)
    assert y.tolist() == [[3, 4, 5]]
    del y
    gc.collect()
    assert not is_mapped(path)
    z = flow.load(path)
    assert not is_mapped(path)
    assert z.shape == (2, 3)


@pytest.mark.parametrize("path", [*FORMATS, "a.npy", "a.flow"])
def test_a_file_can_be_truncated_after_it_is_loaded(path: str) -> None:
    """Files were mapped, and reading what was cut off ended the process."""
    x = flow.arange(100_000)
    if path.endswith(".flow"):
        flow.graph.capture(lambda y: y + x, x).save(path)
        graph = flow.graph.load(path)
        Path(path).write_bytes(b"")
        assert graph(x).equal(x * 2)
        return
    flow.save(x, path)
    with flow.open_file(path) as file:
        (loaded, read) = (flow.load(path), file.read(file.names[0]))
        Path(path).write_bytes(b"")
        with pytest.raises(flow.FileError, match="has become shorter while it was read"):
            file.read(file.names[0])
    assert loaded.equal(x)
    assert read.equal(x)


@pytest.mark.parametrize("path", FORMATS)
def test_writes_to_a_tensor_do_not_reach_the_file(path: str) -> None:
    flow.save({"a": flow.ones(3), "b": flow.ones(3)}, path)
    before = Path(path).read_bytes()
    loaded = flow.load(path, mmap=True)
    view = loaded["a"][1:]
    loaded["a"].mul_(5)
    assert loaded["a"].tolist() == [5, 5, 5]
    assert view.tolist() == [5, 5]
    assert loaded["b"].tolist() == [1, 1, 1]
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize("path", FORMATS)
def test_copies_share_the_file_until_they_are_written(path: str) -> None:
    flow.save({"x": flow.zeros(1 << 20)}, path)
    x = flow.load(path, mmap=True)["x"]
    before = flow.memory_stats("cpu")["in_use"]
    y = copy.deepcopy(x)
    assert flow.memory_stats("cpu")["in_use"] == before
    y.add_(1)
    assert flow.memory_stats("cpu")["in_use"] >= before + 4 * MIB
    assert (x.sum().item(), y.sum().item()) == (0, 1 << 20)


@pytest.mark.parametrize("path", FORMATS)
def test_a_file_can_be_replaced_while_tensors_share_it(path: str) -> None:
    flow.save({"a": flow.ones(3)}, path)
    old = flow.load(path, mmap=True)
    flow.save({"a": old["a"] + 1, "b": old["a"]}, path)
    assert old["a"].tolist() == [1, 1, 1]
    new = flow.load(path, mmap=True)
    assert new["a"].tolist() == [2, 2, 2]
    Path(path).unlink()
    assert new["b"].tolist() == [1, 1, 1]


def test_a_large_file_is_not_read_until_it_is_used() -> None:
    """A sparse file of 8 GiB."""
    count = 2 << 30
    header = b'{"x":{"dtype":"F32","shape":[%d],"data_offsets":[0,%d]}}' % (count, 4 * count)
    with open("large.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + 4 * count)
        file.seek(-4, os.SEEK_END)
        file.write(struct.pack("<f", 2.5))
    before = resident_bytes()
    x = flow.load("large.safetensors", mmap=True)["x"]
    assert x.shape == (count,)
    assert x[-1].item() == 2.5
    assert resident_bytes() - before < 64 * MIB


def test_threads_read_one_file() -> None:
    flow.save({f"{i}": flow.full([1000], i) for i in range(50)}, "a.npz", compress=True)
    with flow.open_file("a.npz") as file, ThreadPoolExecutor(8) as pool:
        sums = list(pool.map(lambda name: file[name].sum().item(), [f"{i}" for i in range(50)] * 4))
    assert sums == [1000 * i for i in range(50)] * 4


def test_threads_save_to_one_path() -> None:
    def work(i: int) -> None:
        flow.save({"a": flow.full([5000], i)}, "a.safetensors")
        found = flow.load("a.safetensors")["a"]
        assert (found == found[0]).all().item()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(100)))
    assert os.listdir() == ["a.safetensors"]


def test_no_descriptor_leaks() -> None:
    flow.save({"a": flow.ones(3)}, "a.npz")
    Path("bad.npz").write_bytes(b"nothing")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        flow.load("a.npz")
        flow.open_file("a.npz")
        with pytest.raises(flow.InvalidArgument):
            flow.load("bad.npz")
        with pytest.raises(flow.DTypeError):
            flow.save(flow.ones(1, dtype="bfloat16"), "a.npz")
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


# ------------------------------------------------------------------------------------------------ errors


def test_mappings_are_maps() -> None:
    data = types.MappingProxyType({"a": types.MappingProxyType({"b": flow.ones(2)}), "c": flow.zeros(1)})
    flow.save(data, "a.npz", metadata=types.MappingProxyType({"made by": "a test"}))
    assert same({"a": {"b": flow.ones(2)}, "c": flow.zeros(1)}, flow.load("a.npz"))
    with flow.open_file("a.npz") as file:
        assert file.metadata == {"made by": "a test"}


def nested(depth: int) -> Any:
    data: Any = flow.ones(1)
    for _ in range(depth):
        data = [data]
    return data


def test_nesting_is_limited() -> None:
    flow.save(nested(64), "a.npz")
    assert same(nested(64), flow.load("a.npz"))
    cycle: dict[str, Any] = {}
    cycle["a"] = cycle
    for data in (nested(65), cycle):
        text = "save: data must not be nested more than 64 deep"
        raises(flow.InvalidArgument, text, lambda data=data: flow.save(data, "a.npz"))


EXTENSIONS = ".safetensors.index.json, .safetensors, .npy, .npz"
ERRORS: list[tuple[Any, type[Exception], str]] = [
    (lambda: flow.save(3, "a.npz"), flow.TypeMismatch, "save: data must be Tensor, dict, list or tuple, got int"),
    (
        lambda: flow.save({"a": [None]}, "a.npz"),
        flow.TypeMismatch,
        "save: an item of data must be Tensor, dict, list or tuple, got None",
    ),
    (lambda: flow.save({1: flow.ones(1)}, "a.npz"), flow.TypeMismatch, "save: a key must be str, got int"),
    (
        lambda: flow.save({"a\0": flow.ones(1)}, "a.npz"),
        flow.InvalidArgument,
        "save: a key must not have a null byte",
    ),
    (
        lambda: flow.save({"\udcff": flow.ones(1)}, "a.npz"),
        flow.InvalidArgument,
        "save: a key must be valid Unicode",
    ),
    (lambda: flow.save({}, 3), flow.TypeMismatch, "save: path must be str, bytes or os.PathLike, got int"),
    (lambda: flow.save({}, "a\0.npz"), flow.InvalidArgument, "save: path must not have a null byte"),
    (
        lambda: flow.save({}, "a.pt"),
        flow.InvalidArgument,
        f"save: the path must end in one of {EXTENSIONS}, got 'a.pt'",
    ),
    (lambda: flow.load(""), flow.InvalidArgument, f"load: the path must end in one of {EXTENSIONS}, got ''"),
    (
        lambda: flow.save({}, "a.safetensors.index.json"),
        flow.Unsupported,
        "save: files that end in .safetensors.index.json can only be loaded",
    ),
    (
        lambda: flow.save({"a": flow.ones(1)}, "a.npy"),
        flow.InvalidArgument,
        "save: an .npy file holds one tensor; save a dictionary or a list as .npz or .safetensors",
    ),
    (
        lambda: flow.save(flow.ones(1), "a.npy", metadata={"a": "b"}),
        flow.InvalidArgument,
        "save: an .npy file holds no metadata",
    ),
    (
        lambda: flow.save({}, "a.safetensors", compress=True),
        flow.InvalidArgument,
        "save: files that end in .safetensors cannot be compressed",
    ),
    (lambda: flow.save({}, "a.npz", compress=1), flow.TypeMismatch, "save: compress must be bool, got int"),
    (lambda: flow.save({}, "a.npz", metadata=[]), flow.TypeMismatch, "save: metadata must be dict or None, got list"),
    (
        lambda: flow.save({}, "a.npz", metadata={"a": 1}),
        flow.TypeMismatch,
        "save: metadata['a'] must be str, got int",
    ),
    (
        lambda: flow.save({"a.b": flow.ones(1), "a": {"b": flow.ones(1)}}, "a.npz"),
        flow.InvalidArgument,
        "save: two tensors have the name 'a.b', which joins their keys",
    ),
    (
        lambda: flow.save({"__metadata__": flow.ones(1)}, "a.safetensors"),
        flow.InvalidArgument,
        "save: the name '__metadata__' is reserved",
    ),
    (
        lambda: flow.save({"__structure__": flow.ones(1)}, "a.npz"),
        flow.InvalidArgument,
        "save: the name '__structure__' is reserved",
    ),
    (
        lambda: flow.save({}, "a.safetensors", metadata={"oneflow.structure": ""}),
        flow.InvalidArgument,
        "save: the metadata 'oneflow.structure' is reserved",
    ),
    (
        lambda: flow.save({"z": flow.ones(1, dtype="complex128")}, "a.safetensors"),
        flow.DTypeError,
        "save: tensor 'z' is of type complex128, which the safetensors format lacks",
    ),
    (
        lambda: flow.save(flow.ones(1, dtype="bfloat16"), "a.npy"),
        flow.DTypeError,
        "save: NumPy has no type for bfloat16; save it in a safetensors file, or convert it",
    ),
    (lambda: flow.open_file("a.npz").load(mmap=1), flow.TypeMismatch, "load: mmap must be bool, got int"),
]


@pytest.mark.parametrize(("call", "error", "text"), ERRORS, ids=[text for _, _, text in ERRORS])
def test_errors(call: Any, error: type[Exception], text: str) -> None:
    flow.save(flow.ones(1), "a.npz") if "mmap" in text else None
    raises(error, text, call)
    assert os.listdir() == (["a.npz"] if "mmap" in text else [])


def test_errors_of_an_open_file() -> None:
    flow.save(flow.ones(1), "a.npy")
    with flow.open_file("a.npy") as file:
        assert file.names == ["tensor"]
        raises(flow.InvalidArgument, "read: there is no tensor 'x'", lambda: file["x"])
        raises(flow.TypeMismatch, "info: name must be str, got int", lambda: file.info(3))
        with pytest.raises(flow.DeviceError):
            file.read("tensor", device="moon")


def test_out_of_memory() -> None:
    flow.save(flow.zeros(1000, 1000), "a.npy")
    statistics = flow.memory_stats("cpu")
    try:
        flow.set_memory_limit(statistics["in_use"] + MIB, "cpu")
        assert flow.load("a.npy", mmap=True).shape == (1000, 1000)  # needs no memory
        with pytest.raises(flow.OutOfMemory):
            flow.load("a.npy")
    finally:
        flow.set_memory_limit(0, "cpu")
    assert np.load("a.npy").shape == (1000, 1000)
