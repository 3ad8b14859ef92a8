"""Tests NumPy, DLPack, buffers, pickle and copy: lifetimes of shared memory, memory layouts, and invalid objects."""

from __future__ import annotations

import array as arrays
import copy
import ctypes
import gc
import hashlib
import pickle
import weakref
from typing import Any

import numpy as np
import pytest
import torch

import oneflow_py as flow
from tests.python.support import DTYPES, NUMPY_DTYPES, array, raises, raw


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_numpy_shares_memory(dtype: str) -> None:
    values = np.zeros((2, 3), dtype)
    x = flow.from_numpy(values)
    assert (x.dtype, x.shape) == (dtype, (2, 3))
    values[1, 2] = 1
    assert x[1, 2].item() == 1
    x[0, 0] = 1
    assert values[0, 0] == 1
    back = x.numpy()
    assert back.dtype == dtype
    assert np.shares_memory(back, values)


@pytest.mark.parametrize(
    "key", [np.s_[::-1], np.s_[:, ::-2], np.s_[1:, 1], np.s_[0, :1], np.s_[2:2], np.s_[None, :, None]]
)
def test_numpy_views(key: Any) -> None:
    values = np.arange(12.0).reshape(3, 4)
    x = flow.from_numpy(values[key])
    np.testing.assert_array_equal(array(x), values[key])
    np.testing.assert_array_equal(x.numpy(), values[key])
    if x.numel():
        assert np.shares_memory(x.numpy(), values)


def test_memory_outlives_its_first_owner() -> None:
    values = np.arange(4.0)
    alive = weakref.ref(values)
    x = flow.from_numpy(values)
    view = x[1:]
    del values, x
    gc.collect()
    assert alive() is not None
    assert view.tolist() == [1, 2, 3]
    del view
    gc.collect()
    assert alive() is None
    kept = flow.arange(1000).numpy()
    flow.zeros(1000).add_(1)
    np.testing.assert_array_equal(kept, np.arange(1000))


def test_read_only_arrays_are_copied_by_a_write() -> None:
    values = np.zeros(3)
    values.flags.writeable = False
    x = flow.from_numpy(values)
    x[0] = 5
    assert (x.tolist(), values.tolist()) == ([5, 0, 0], [0, 0, 0])
    assert flow.from_numpy(np.broadcast_to(np.ones(1), (3,))).tolist() == [1, 1, 1]


def test_arrays_that_cannot_be_shared() -> None:
    for bad in (np.zeros(2, "G"), np.array(["a"]), np.zeros(2, ">f4"), np.array([None]), np.zeros(2, "M8[s]")):
        with pytest.raises(flow.DTypeError):
            flow.from_numpy(bad)
        with pytest.raises(flow.DTypeError):
            flow.tensor(bad)
    packed = np.zeros(3, np.dtype([("a", "i1"), ("b", "<f4")]))["b"]
    with pytest.raises(flow.InvalidArgument, match="from_numpy: array must be aligned"):
        flow.from_numpy(packed)
    assert flow.tensor(packed).tolist() == [0, 0, 0]
    with pytest.raises(flow.TypeMismatch, match=r"from_numpy: array must be numpy.ndarray .*, got list"):
        flow.from_numpy([1])
    with pytest.raises(flow.ShapeError):
        flow.from_numpy(np.zeros((1,) * 33))
    released = memoryview(bytes(1))
    released.release()
    with pytest.raises(flow.DTypeError, match="got memoryview: operation forbidden on released memoryview object"):
        flow.from_numpy(released)


def test_numpy_functions_take_tensors() -> None:
    x = flow.tensor([[1.0, 4.0]])
    np.testing.assert_array_equal(np.sqrt(x), [[1, 2]])
    np.testing.assert_array_equal(np.concatenate([x, x]), [[1, 4], [1, 4]])
    assert np.asarray(x, dtype=np.int8).dtype == np.int8
    assert np.array(x, copy=True) is not None
    assert not np.shares_memory(np.array(x, copy=True), x.numpy())
    assert np.asarray(flow.tensor(True)).shape == ()
    with pytest.raises(flow.DTypeError, match="numpy: NumPy has no bfloat16; cast to float32 first"):
        flow.zeros(1, dtype=flow.bfloat16).numpy()


def test_buffers() -> None:
    x = flow.arange(6).reshape(2, 3)
    view = memoryview(x)
    assert (view.shape, view.strides, view.itemsize, view.readonly) == ((2, 3), (24, 8), 8, False)
    assert view.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert bytes(x) == raw(x)
    assert bytes(x.T) == raw(x.T)
    assert bytes(x[0, 1]) == b"\1" + bytes(7)  # not bytes(n), which would be n zero bytes
    with pytest.raises(BufferError):
        memoryview(flow.zeros(1, dtype=flow.bfloat16))
    assert memoryview(flow.tensor(7)).tolist() == 7
    assert hashlib.sha256(x).digest() == hashlib.sha256(bytes(x)).digest()  # hashes a flat buffer
    numbers = arrays.array("d", [1, 2, 3])
    y = flow.from_numpy(numbers)
    y[0] = 9
    assert numbers[0] == 9
    with pytest.raises(BufferError):
        numbers.append(1)  # the tensor keeps the buffer exported
    del y
    numbers.append(1)


class Buffer(ctypes.Structure):
    """CPython's Py_buffer."""

    _fields_ = (
        ("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p),
    )  # fmt: skip


SIMPLE, FORMAT, ND, STRIDES, ROWS, COLUMNS, EITHER, FULL = 0, 0x4, 0x8, 0x18, 0x38, 0x58, 0x98, 0x11D


@pytest.mark.parametrize("flags", [SIMPLE, FORMAT, ND, STRIDES, ROWS, COLUMNS, EITHER, FULL])
@pytest.mark.parametrize("key", [np.s_[:], np.s_[::-1], np.s_[:, :1], np.s_[:1], np.s_[:, 0], np.s_[0, 0], np.s_[:0]])
@pytest.mark.parametrize("transposed", [False, True])
def test_buffers_for_each_request(flags: int, key: Any, transposed: bool) -> None:
    """A request succeeds exactly if NumPy fulfils it, and shape and strides are set only if they were requested."""
    x = flow.arange(6).reshape(2, 3)[key]
    x = x.T if transposed else x
    get = ctypes.pythonapi.PyObject_GetBuffer
    get.argtypes = [ctypes.py_object, ctypes.POINTER(Buffer), ctypes.c_int]
    found = []
    for source in (x, x.numpy()):
        view = Buffer()
        try:
            get(source, ctypes.byref(view), flags)
        except (BufferError, ValueError):
            found.append(None)
            continue
        assert view.ndim == (source.ndim if flags & ND else source is x)
        found.append((view.len, view.itemsize, view.format, bool(view.shape), bool(view.strides)))
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_both_ways(dtype: str) -> None:
    x = flow.tensor([[0, 1, 1], [1, 0, 0]], dtype=dtype)
    there = torch.from_dlpack(x)
    assert str(there.dtype) == f"torch.{dtype}"
    assert there.tolist() == x.tolist()
    there[0, 0] = 1
    assert x[0, 0].item() == 1
    back = flow.from_dlpack(there.T)
    assert back.dtype == dtype
    assert back.T.tolist() == x.tolist()
    back[0, 0] = 0
    assert x[0, 0].item() == 0


def test_dlpack_layouts() -> None:
    x = flow.arange(12).reshape(3, 4)
    for view in (x, x.T, x[1:, ::2], x[0], x[:0], x[0, 0], x.expand(2, 3, 4), x[::-1], x[:, ::-2]):
        there = torch.from_dlpack(view)
        assert there.tolist() == view.tolist()
        np.testing.assert_array_equal(np.from_dlpack(view), array(view))
    assert torch.from_dlpack(x[::-1]).stride() == (4, 1)  # a copy: consumers cannot read negative strides
    assert flow.from_dlpack(np.arange(3.0)).tolist() == [0, 1, 2]
    assert flow.from_dlpack(flow.arange(3)).tolist() == [0, 1, 2]


def test_dlpack_versions() -> None:
    x = flow.arange(3)
    assert "dltensor_versioned" in repr(x.__dlpack__(max_version=(1, 0)))
    assert "dltensor_versioned" not in repr(x.__dlpack__(max_version=(0, 8)))
    raises(
        flow.TypeMismatch,
        "__dlpack__: max_version must be tuple of two ints, got int",
        lambda: x.__dlpack__(max_version=1),
    )
    there = np.from_dlpack(x)
    there[0] = 7  # NumPy treats unversioned capsules as read-only
    assert x.tolist() == [7, 1, 2]
    values = np.zeros(3)
    values.flags.writeable = False
    read = flow.from_dlpack(values)
    read[0] = 5
    assert (read.tolist(), values.tolist()) == ([5, 0, 0], [0, 0, 0])
    with pytest.raises(BufferError):
        x[::-1].__dlpack__(copy=False)

    class Old:
        def __dlpack__(self, stream: None = None) -> Any:
            return x.__dlpack__()

    assert flow.from_dlpack(Old()).tolist() == [7, 1, 2]


def test_tensors_of_other_libraries_are_data() -> None:
    x = flow.tensor(torch.ones(2, dtype=torch.bfloat16))
    assert (x.tolist(), x.dtype) == ([1, 1], flow.bfloat16)
    shared = torch.zeros(2)
    copied = flow.tensor(shared, dtype=flow.int32)
    shared[0] = 1
    assert (copied.tolist(), copied.dtype) == ([0, 0], flow.int32)
    rows = flow.tensor([torch.ones(2), torch.zeros(2)])
    assert (rows.tolist(), rows.dtype) == ([[1, 1], [0, 0]], flow.float32)
    assert flow.arange(5)[torch.tensor([3, 1])].tolist() == [3, 1]
    assert flow.add(shared, 1).tolist() == [2, 1]


def test_dlpack_lifetimes() -> None:
    capsule = flow.ones(3).__dlpack__()
    assert flow.from_dlpack(capsule).tolist() == [1, 1, 1]
    with pytest.raises(flow.InvalidArgument):
        flow.from_dlpack(capsule)  # used
    gc.collect()
    before = flow.memory_stats()["tensors"]
    for _ in range(100):
        flow.ones(3).__dlpack__()  # never used
        torch.from_dlpack(flow.ones(3))
        flow.from_dlpack(torch.ones(3))
    gc.collect()
    assert flow.memory_stats()["tensors"] == before
    x = flow.ones(2)
    copied = flow.from_dlpack(x.__dlpack__(copy=True))
    copied[0] = 5
    assert x.tolist() == [1, 1]
    assert x.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(flow.TypeMismatch):
        flow.from_dlpack([1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(dtype: str, protocol: int) -> None:
    x = flow.tensor([[0, 1], [1, 1]], dtype=dtype)
    for each in (x, x.T, x[0], x[:0], x[0, 0]):
        back = pickle.loads(pickle.dumps(each, protocol))
        assert (back.tolist(), back.dtype, back.shape, back.device) == (
            each.tolist(),
            each.dtype,
            each.shape,
            each.device,
        )
    assert pickle.loads(pickle.dumps((x.dtype, x.device), protocol)) == (x.dtype, x.device)


def test_pickle_of_functions_and_results() -> None:
    assert pickle.loads(pickle.dumps(flow.add)) is flow.add
    assert pickle.loads(pickle.dumps(flow.Tensor.add)) is flow.Tensor.add
    values, indices = pickle.loads(pickle.dumps(flow.max(flow.arange(3), 0)))
    assert (values.item(), indices.item()) == (2, 2)
    assert copy.deepcopy(flow.add) is flow.add


@pytest.mark.parametrize(
    "arguments",
    [
        (b"", "float32", (1,), "cpu"),
        (b"123", "int8", (2,), "cpu"),
        (b"1", "int8", (-1,), "cpu"),
        (b"1", "int9", (1,), "cpu"),
        (b"1", "int8", (2**62, 2**62), "cpu"),
        (b"1", "int8", ("a",), "cpu"),
        (b"1", "int8", (1,) * 40, "cpu"),
        (b"1", "int8", (1,), 3),
        ("1", "int8", (1,), "cpu"),
    ],
)
def test_tampered_pickles(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(flow.Error):
        flow._native._rebuild_tensor(*arguments)


def test_copies() -> None:
    x = flow.arange(3)
    shared, own = copy.copy(x), copy.deepcopy(x)
    x[0] = 9
    assert shared.tolist() == [9, 1, 2]
    assert own.tolist() == [0, 1, 2]
    twice = copy.deepcopy([x, x])
    assert twice[0] is twice[1]


def test_weak_references() -> None:
    x = flow.ones(1)
    alive = weakref.ref(x)
    assert alive() is x
    del x
    assert alive() is None


def test_types_have_no_instances_and_no_new_attributes() -> None:
    with pytest.raises(TypeError):
        flow.Tensor()
    with pytest.raises(TypeError):
        flow.dtype()
    with pytest.raises(AttributeError):
        flow.ones(1).colour = 1
    raises(flow.TypeMismatch, "device: name must be device, got int", lambda: flow.device(3))


def test_functions_of_numpy_return_tensors() -> None:
    x = flow.tensor([[1.0, 2.0], [3.0, 4.0]])
    array = x.numpy()
    for call in (
        np.sin, np.sum, np.std, np.cumsum, np.transpose, np.flip, np.round, lambda a: np.sum(a, axis=0, keepdims=True),
        lambda a: np.max(a, axis=1), lambda a: np.sort(a, axis=0), lambda a: np.concatenate([a, a], axis=1),
        lambda a: np.where(a > 2, a, 0.0), lambda a: np.einsum("ij,jk", a, a), lambda a: np.clip(a, 2, 3),
        lambda a: np.add.reduce(a), lambda a: np.arctan2(a, 2.0), lambda a: np.roll(a, 1), lambda a: np.float64(2) * a,
        lambda a: np.ones(2, np.float32) - a, lambda a: np.matmul(np.ones((2, 2), np.float32), a), np.isnan,
    ):  # fmt: skip
        found, expected = call(x), call(array)
        assert type(found) is flow.Tensor
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    out = flow.zeros(2, 2)
    assert np.add(x, x, out=out) is out
    assert out.tolist() == [[2, 4], [6, 8]]
    assert type(np.fft.fft(x)) is np.ndarray  # which oneflow does not have
    assert np.median(x) == 2.5  # the mean of the middle ones, unlike here
    assert x.__array_namespace__() is flow
    raises(flow.TypeMismatch, "mean: unknown argument where", lambda: np.mean(x, where=array > 1))
    leaf = flow.tensor([1.0, 2.0], requires_grad=True)
    np.exp(leaf).sum().backward()
    np.testing.assert_allclose(leaf.grad.numpy(), np.exp([1.0, 2.0]), rtol=1e-6)
