"""Files of tensors: safetensors, and NumPy's .npy and .npz.

>>> import oneflow_py as flow
>>> flow.save({"weight": flow.ones(2, 2), "bias": flow.zeros(2)}, "layer.safetensors")
>>> flow.load("layer.safetensors")["bias"]
tensor([0., 0.])
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, NamedTuple

from oneflow_py import _native as native
from oneflow_py._native import InvalidArgument, Tensor, TypeMismatch
from oneflow_py.nested import TENSOR, encoded_path, encoded_text, nodes_of, restored, type_name


def save(
    data: Any,
    path: str | bytes | os.PathLike[Any],
    *,
    metadata: Mapping[str, str] | None = None,
    compress: bool = False,
) -> None:
    """Saves a tensor, or nested dictionaries and lists of tensors, to a file.

    The format follows from the end of the path: `.safetensors`, `.npz`, or `.npy` for one tensor. The file appears
    complete or not at all, and replaces an existing one.

        data: the tensors, on any devices
        metadata: strings that describe the file; not for `.npy`
        compress: deflates the arrays of an `.npz`

    Raises FileError if the file cannot be written, and DTypeError for a dtype that the format lacks.
    """
    target = encoded_path("save", path)
    nodes = nodes_of("save", data)
    if metadata is not None and not isinstance(metadata, Mapping):
        raise TypeMismatch(f"save: metadata must be dict or None, got {type_name(metadata)}")
    pairs = [
        (encoded_text("save", "a key of metadata", key), encoded_text("save", "a value of metadata", value))
        for key, value in (metadata or {}).items()
    ]
    native._save_file(target, nodes, pairs, _flag("save", "compress", compress))


def _flag(function: str, argument: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeMismatch(f"{function}: {argument} must be bool, got {type_name(value)}")
    return value


def _device(value: Any) -> native.device | None:
    return value if value is None or isinstance(value, native.device) else native.device(value)


def load(
    path: str | bytes | os.PathLike[Any],
    *,
    device: native.device | str | None = None,
    mmap: bool = False,
    flat: bool = False,
) -> Any:
    """Loads what `save` has written, or the tensors of a file from elsewhere as a dictionary.

        path: ends in `.safetensors`, `.safetensors.index.json`, `.npz` or `.npy`
        device: of the tensors; None stands for the default device
        mmap: whether tensors on the host share the memory of the file, which is read when they are first used. It must
            then not be truncated or overwritten in place, which can end the process; a write to a tensor copies it.
        flat: gives a dictionary of all tensors by their names in the file, however they were nested

    Raises FileError if the file cannot be read, InvalidArgument if it is malformed, and DTypeError for elements of a
    type that does not exist here.
    """
    with open_file(path, _caller="load") as file:
        return file.load(device=device, mmap=mmap, flat=flat)


class TensorInfo(NamedTuple):
    """What a file says of a tensor.

    dtype: None if no dtype corresponds to the type
    type: the element type as the format spells it, such as "F32" or "<f4"
    nbytes: the size of the elements, before compression
    """

    dtype: native.dtype | None
    type: str
    shape: tuple[int, ...]
    nbytes: int


class TensorFile:
    """A file of tensors that is open for reading; see `open_file`.

    Tensors that were read stay valid after it was closed.
    """

    def __init__(self, handle: native._File) -> None:
        self._handle: native._File | None = handle
        self._positions: dict[str, int] = {}
        self._infos: list[TensorInfo] = []
        for position, (name, dtype, type_text, shape, nbytes) in enumerate(handle.entries()):
            self._positions[name] = position
            self._infos.append(TensorInfo(dtype, type_text, shape, nbytes))

    @property
    def names(self) -> list[str]:
        """The names of the tensors, in the order of the file."""
        return list(self._positions)

    @property
    def metadata(self) -> dict[str, str]:
        """The strings that describe the file."""
        return self._open().metadata()

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self._handle is None

    def info(self, name: str) -> TensorInfo:
        """Returns what the file says of a tensor."""
        return self._infos[self._position("info", name)]

    def read(self, name: str, *, device: native.device | str | None = None, mmap: bool = False) -> Tensor:
        """Reads one tensor; see `load` for the arguments."""
        position = self._position("read", name)
        return self._open().read([position], _device(device), _flag("read", "mmap", mmap))[0]

    def load(self, *, device: native.device | str | None = None, mmap: bool = False, flat: bool = False) -> Any:
        """Reads all tensors; see `load` of the module."""
        handle = self._open()
        share = _flag("load", "mmap", mmap)
        nodes = handle.nodes(_flag("load", "flat", flat))
        positions = [position for kind, _, _, position in nodes if kind == TENSOR]
        tensors = iter(handle.read(positions, _device(device), share))
        return restored(iter(nodes), tensors)

    def close(self) -> None:
        """Closes the file. Further calls do nothing."""
        self._handle = None

    def __enter__(self) -> TensorFile:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __getitem__(self, name: str) -> Tensor:
        return self.read(name)

    def __contains__(self, name: object) -> bool:
        return name in self._positions

    def __iter__(self) -> Iterator[str]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)

    def __repr__(self) -> str:
        state = "closed " if self.closed else ""
        count = len(self)
        return f"<{state}file of {count} tensor{'' if count == 1 else 's'}>"

    def _open(self) -> native._File:
        handle = self._handle
        if handle is None:
            raise InvalidArgument("the file is closed")
        return handle

    def _position(self, function: str, name: Any) -> int:
        self._open()
        if not isinstance(name, str):
            raise TypeMismatch(f"{function}: name must be str, got {type_name(name)}")
        if name not in self._positions:
            raise InvalidArgument(f"{function}: there is no tensor {name!a}")
        return self._positions[name]


def open_file(path: str | bytes | os.PathLike[Any], *, _caller: str = "open_file") -> TensorFile:
    """Opens a file of tensors, and reads their names, dtypes and shapes, but not their elements.

        >>> flow.save({"weight": flow.ones(2, 3)}, "layer.npz")
        >>> with flow.open_file("layer.npz") as file:
        ...     file.info("weight").shape, file["weight"].sum().item()
        ((2, 3), 6.0)

    Raises FileError if the file cannot be read, and InvalidArgument if it is malformed.
    """
    return TensorFile(native._open_file(encoded_path(_caller, path)))


# What the package exports directly.
FUNCTIONS: tuple[Callable[..., Any], ...] = (TensorFile, TensorInfo, load, open_file, save)
