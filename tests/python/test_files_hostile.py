"""Tests files that are damaged or made to do harm: each is refused with a text that says why."""

from __future__ import annotations

import contextlib
import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneflow_py as flow
from tests.files.seeds import ARRAYS, npy, npz, seeds
from tests.python.support import raises

EXTENSIONS = ["safetensors", "npz", "npy", "safetensors.index.json"]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refused(content: bytes, extension: str, text: str) -> None:
    """Asserts that a file is refused with this text."""
    path = f"a.{extension}"
    Path(path).write_bytes(content)
    raises(flow.InvalidArgument, f"load: '{path}' is malformed: {text}", lambda: flow.load(path))


# ------------------------------------------------------------------------------------------------ safetensors


def with_header(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(dtype: Any = "F32", shape: Any = (2,), offsets: Any = (0, 8)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


X = b'{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}'

SAFETENSORS: list[tuple[bytes, str]] = [
    (b"", "it has 0 bytes, which is no safetensors file"),
    (bytes(7), "it has 7 bytes, which is no safetensors file"),
    (struct.pack("<Q", 1) + b"", "its header would have 1 bytes, of the 8 of the file"),
    (struct.pack("<Q", 2**64 - 1) + b"{}", "its header would have 18446744073709551615 bytes, of the 10 of the file"),
    (struct.pack("<Q", 200_000_000) + b"{}", "its header would have 200000000 bytes, of the 10 of the file"),
    (with_header(b""), "in its header, it is not JSON from byte 1 on"),
    (with_header(b"{"), "in its header, it is not JSON from byte 2 on"),
    (with_header(b"[]"), "in its header, it has a list where none is expected"),
    (with_header(b"3"), "in its header, it has a number where none is expected"),
    (with_header(b'"x"'), "in its header, it has a string where none is expected"),
    (with_header(b"{}{}"), "in its header, it is not JSON from byte 3 on"),
    (with_header(b'{"\xff":{}}'), "in its header, it is not JSON from byte 3 on"),
    (with_header(b"[" * 1_000_000), "in its header, it has a list where none is expected"),
    (with_header(b'{"a":' * 1_000_000), "in its header, tensor 'a' has the unknown property 'a'"),
    (with_header({"x": 3}), "in its header, it has a number where none is expected"),
    (with_header({"x": None}), "in its header, it has null where none is expected"),
    (with_header({"x": []}), "in its header, it has a list where none is expected"),
    (with_header({"x": {}}), "in its header, tensor 'x' lacks dtype, shape or data_offsets"),
    (with_header({"x": {"dtype": "F32", "shape": []}}), "in its header, tensor 'x' lacks dtype, shape or data_offsets"),
    (with_header({"x": {**tensor(), "more": 1}}), "in its header, tensor 'x' has the unknown property 'more'"),
    (with_header({"x": tensor(dtype="F33")}), "in its header, tensor 'x' has the unknown dtype 'F33'"),
    (with_header({"x": tensor(dtype=3)}), "in its header, it has a number where none is expected"),
    (with_header({"x": tensor(dtype=["F32"])}), "in its header, it has a list where none is expected"),
    (with_header({"x": tensor(shape=3)}), "in its header, it has a number where none is expected"),
    (with_header({"x": tensor(shape="2")}), "in its header, it has a string where none is expected"),
    (with_header({"x": tensor(shape=[[2]])}), "in its header, it has a list where none is expected"),
    (with_header({"x": tensor(shape=[-2])}), "in its header, it has a negative number where none is expected"),
    (
        with_header({"x": tensor(shape=[2.0])}),
        "in its header, it has a number that is not an integer where none is expected",
    ),
    (with_header({"x": tensor(shape=[2**63])}), "in its header, tensor 'x' has a dimension that is too large"),
    (
        with_header({"x": tensor(shape=[2**64])}),
        "in its header, it has a number that is not an integer where none is expected",
    ),
    (
        with_header({"x": tensor(shape=[2**40, 2**40])}),
        "in its header, shape [1099511627776, 1099511627776] has more elements than an int64 can count",
    ),
    (
        with_header({"x": tensor(shape=[2**40, 0, 2**40], offsets=[0, 0])}),
        "in its header, shape [1099511627776, 0, 1099511627776] has more elements than an int64 can count",
    ),
    (
        with_header({"x": tensor(shape=[2**61])}),
        "in its header, tensor 'x' has a shape whose elements are no number of bytes",
    ),
    (
        with_header({"x": tensor("F4", [3])}),
        "in its header, tensor 'x' has a shape whose elements are no number of bytes",
    ),
    (with_header({"x": tensor(shape=[1] * 33)}), "in its header, a tensor has at most 32 dimensions, got 33"),
    (with_header({"x": tensor(offsets=[8, 0])}), "in its header, tensor 'x' has data_offsets out of order"),
    (with_header({"x": tensor(offsets=[0])}), "in its header, tensor 'x' must have two data_offsets"),
    (with_header({"x": tensor(offsets=[0, 8, 9])}), "in its header, tensor 'x' has data_offsets out of order"),
    (
        with_header({"x": tensor(offsets=[0, 4])}),
        "in its header, tensor 'x' has 4 bytes, but its shape [2] needs 8",
    ),
    (with_header({"x": tensor()}, bytes(7)), "its tensors have 8 bytes, but 7 follow the header"),
    (with_header({"x": tensor()}, bytes(9)), "its tensors have 8 bytes, but 9 follow the header"),
    (
        with_header({"x": tensor(offsets=[1, 9])}, bytes(9)),
        "tensor 'x' begins at byte 1 of the data instead of 0",
    ),
    (
        with_header({"x": tensor(offsets=[2**64 - 9, 2**64 - 1])}, bytes(8)),
        "tensor 'x' begins at byte 18446744073709551607 of the data instead of 0",
    ),
    (
        with_header({"x": tensor(), "y": tensor(offsets=[4, 12])}, bytes(12)),
        "tensor 'y' begins at byte 4 of the data instead of 8",
    ),
    (
        with_header({"x": tensor(), "y": tensor()}, bytes(8)),
        "tensor 'y' begins at byte 0 of the data instead of 8",
    ),
    (with_header(X + b"," + X[1:] + b"}", bytes(8)), "in its header, the name 'x' occurs twice"),
    (
        with_header(b'{"x":{"dtype":"F32","dtype":"F32"}}'),
        "in its header, tensor 'x' has dtype twice",
    ),
    (
        with_header({"a\0b": tensor()}, bytes(8)),
        "in its header, a name must be UTF-8 without null bytes, got 'a\\x00b'",
    ),
    (with_header({"__metadata__": {"a": 3}}), "in its header, it has a number where none is expected"),
    (with_header({"__metadata__": {"a": {}}}), "in its header, it has an object where none is expected"),
    (with_header({"__metadata__": "a"}), "in its header, it has a string where none is expected"),
    (with_header(b'{"__metadata__":{"a":"b","a":"c"}}'), "in its header, metadata 'a' occurs twice"),
    (with_header(b'{"__metadata__":{},"__metadata__":{}}'), "in its header, the name '__metadata__' occurs twice"),
]


@pytest.mark.parametrize(("content", "text"), SAFETENSORS, ids=range(len(SAFETENSORS)))
def test_safetensors(content: bytes, text: str) -> None:
    refused(content, "safetensors", text)


STRUCTURES = [
    ("", None),
    ("{", "it is not JSON from byte 2 on"),
    ('{"y":0}', "there is no tensor 'y'"),
    ('{"x":1}', "it has a number where none is expected"),
    ('{"x":"x"}', "it has a string where none is expected"),
    ("{}", "it has 0 tensors instead of 1"),
    ('{"x":0,"x":0}', "the key 'x' occurs twice"),
    ('{"x\\u0000":0}', "a key has a null byte"),
    ("0", "there is no tensor 'tensor'"),
    ('{"a":' + "[" * 100 + "]" * 100 + "}", "it is nested too deeply"),
]


@pytest.mark.parametrize(("structure", "text"), STRUCTURES, ids=range(len(STRUCTURES)))
def test_structures(structure: str, text: str | None) -> None:
    """A structure that does not describe the tensors leaves the names usable."""
    header = {"__metadata__": {"oneflow.structure": structure}, "x": tensor()}
    Path("a.safetensors").write_bytes(with_header(header, struct.pack("<2f", 1, 2)))
    if text is not None:
        expected = f"load: how the tensors are nested is malformed: {text}; load them flat"
        raises(flow.InvalidArgument, expected, lambda: flow.load("a.safetensors"))
    assert flow.load("a.safetensors", flat=True)["x"].tolist() == [1, 2]


# ------------------------------------------------------------------------------------------------ .npy


def npy_with(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    text = header.encode("latin-1")
    return b"\x93NUMPY" + version + len(text).to_bytes(2 if version[0] == 1 else 4, "little") + text + data


GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}"
NO_DICTIONARY = "the header of an array is {}, and not a dictionary of descr, fortran_order and shape"
NPY = [
    (b"", "it ends within the header"),
    (b"\x93NUMPY\x01", "it ends within the header"),
    (b"PK" + bytes(100), "an array does not begin with the signature of NumPy"),
    (b"\x93NUMPY\x04\x00" + bytes(100), "version 4.0 of NumPy's format is not known"),
    (b"\x93NUMPY\x01\x07" + bytes(100), "version 1.7 of NumPy's format is not known"),
    (b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(100), "the header of an array has 4294967295 bytes"),
    (b"\x93NUMPY\x01\x00\xff\xff" + bytes(100), "it ends within the header"),
    (npy_with(GOOD, bytes(7)), "an array of shape [2] has 7 bytes instead of 8"),
    (npy_with(GOOD, bytes(9)), "an array of shape [2] has 9 bytes instead of 8"),
    (
        npy_with(GOOD.replace("(2,)", "(4611686018427387904,)")),
        "shape",
    ),
] + [
    (npy_with(header, bytes(8)), NO_DICTIONARY.format(header))
    for header in (
        "",
        "{",
        "{}",
        "[]",
        GOOD[:-1],
        GOOD + " x",
        "__import__('os').system('false')",
        "{'descr': '<f4'}",
        GOOD.replace("'shape'", "'shape', 'x'"),
        GOOD.replace("False", "0"),
        GOOD.replace("(2,)", "2"),
        GOOD.replace("(2,)", "(-2,)"),
        GOOD.replace("(2,)", "(2.0,)"),
        GOOD.replace("(2,)", "(2 3)"),
        GOOD.replace("(2,)", "(,)"),
        GOOD.replace("'<f4'", "''"),
        GOOD.replace("'<f4'", "<f4"),
        GOOD.replace("'<f4'", "[('x'"),
        GOOD.replace("'<f4'", "'<f4"),
    )
]


@pytest.mark.parametrize(("content", "text"), NPY, ids=range(len(NPY)))
def test_npy(content: bytes, text: str) -> None:
    if text == "shape":
        Path("a.npy").write_bytes(content)
        with pytest.raises(flow.ShapeError, match="takes more bytes than an int64 can count"):
            flow.load("a.npy")
    else:
        text = text if len(text) < 130 else "the header of an array is"
        Path("a.npy").write_bytes(content)
        with pytest.raises(flow.InvalidArgument) as found:
            flow.load("a.npy")
        assert str(found.value).startswith(f"load: 'a.npy' is malformed: {text}")


@pytest.mark.parametrize(
    "header", [GOOD, GOOD.replace("(2,)", "(1, 2)"), "{'shape':(2,),'descr':\"=f4\",'fortran_order':True}"]
)
def test_headers_that_numpy_does_not_write_but_reads(header: str) -> None:
    Path("a.npy").write_bytes(npy_with(header, struct.pack("<2f", 1, 2)))
    assert flow.load("a.npy").tolist() == np.load("a.npy").tolist()


# ------------------------------------------------------------------------------------------------ .npz


def archive(*members: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as target:
        for name, content in members:
            target.writestr(name, content)
    return file.getvalue()


def changed(content: bytes, at: int, new: bytes) -> bytes:
    return content[:at] + new + content[at + len(new) :]


A = npy(ARRAYS["a"])
ONE = archive(("a.npy", A))
DIRECTORY = ONE.index(b"PK\x01\x02")
END = ONE.index(b"PK\x05\x06")
DEFLATED = archive(("a.npy", A * 1), method=zipfile.ZIP_DEFLATED)


def bomb() -> bytes:
    """Returns an archive with 100 members that share one piece of compressed data."""
    content = archive(("a.npy", npy(np.zeros(1_000_000))), method=zipfile.ZIP_DEFLATED)
    begin, end = content.index(b"PK\x01\x02"), content.index(b"PK\x05\x06")
    entry = content[begin:end]
    entries = b"".join(entry.replace(b"a.npy", b"%c.npy" % (48 + i)) for i in range(60))
    tail = b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, 60, 60, len(entries), begin, 0)
    return content[:begin] + entries + tail


NPZ = [
    (b"", "it is not a zip archive, or was cut off"),
    (b"PK", "it is not a zip archive, or was cut off"),
    (ONE[:-10], "it is not a zip archive, or was cut off"),
    (ONE[:END], "it is not a zip archive, or was cut off"),
    (changed(ONE, END + 16, struct.pack("<L", 2**31)), "the directory of the archive is out of bounds"),
    (changed(ONE, END + 12, struct.pack("<L", 2**31)), "the directory of the archive is out of bounds"),
    (changed(ONE, END + 10, struct.pack("<H", 2)), "the directory of the archive ends too early"),
    (changed(ONE, END + 16, struct.pack("<L", 2**32 - 1)), "the end of the archive is missing"),
    (changed(ONE, DIRECTORY, b"XX"), "the directory of the archive is damaged"),
    (changed(ONE, DIRECTORY + 42, struct.pack("<L", 2**31)), "member 'a.npy' is out of bounds"),
    (changed(ONE, DIRECTORY + 42, struct.pack("<L", 7)), "member 'a.npy' has no header"),
    (changed(ONE, DIRECTORY + 20, struct.pack("<2L", 2**31, 2**31)), "member 'a.npy' is out of bounds"),
    (
        changed(ONE, DIRECTORY + 24, struct.pack("<L", 7)),
        f"member 'a.npy' cannot have 7 bytes: it takes {len(A)} in the archive",
    ),
    (
        changed(DEFLATED, DEFLATED.index(b"PK\x01\x02") + 24, struct.pack("<L", 2**32 - 2)),
        "member 'a.npy' cannot have 4294967294 bytes: it takes",
    ),
    (
        changed(ONE, DIRECTORY + 24, struct.pack("<L", 2**32 - 1)),
        "the directory of the archive lacks the size of a large member",
    ),
    (bomb(), "members of the archive overlap"),
    (archive(("a.npy", b"")), "a member of the archive ends too early"),
    (archive(("a.npy", A[:50])), "a member of the archive ends too early"),
    (archive(("a.npy", A[:-1])), "an array of shape [2, 3] has 23 bytes instead of 24"),
    (archive(("a.npy", A + b"x")), "an array of shape [2, 3] has 25 bytes instead of 24"),
    (archive(("a.npy", b"PK" + A)), "an array does not begin with the signature of NumPy"),
]


@pytest.mark.parametrize(("content", "text"), NPZ, ids=range(len(NPZ)))
def test_npz(content: bytes, text: str) -> None:
    Path("a.npz").write_bytes(content)
    with pytest.raises(flow.InvalidArgument) as found:
        flow.load("a.npz")
    assert str(found.value).startswith(f"load: 'a.npz' is malformed: {text}")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_in_archives() -> None:
    refused(archive(("a.npy", A), ("a.npy", A)), "npz", "the name 'a' occurs twice")
    Path("a.npz").write_bytes(ONE.replace(b"a.npy", b"\xff.npy"))
    raises(
        flow.InvalidArgument, "load: a name must be UTF-8 without null bytes, got '\\xff'", lambda: flow.load("a.npz")
    )
    names = ["../../etc/passwd", "/etc/passwd", "C:\\x", "a/b", ""]
    Path("a.npz").write_bytes(archive(*[(f"{name}.npy", A) for name in names]))
    assert list(flow.load("a.npz")) == names  # names are only keys: nothing is unpacked


def test_checksums() -> None:
    content = changed(ONE, ONE.index(A) + len(A) - 1, b"\x01")
    text = "a member of the archive has another checksum than its directory says"
    Path("a.npz").write_bytes(content)
    raises(flow.InvalidArgument, f"load: 'a.npz' is malformed: {text}", lambda: flow.load("a.npz", mmap=False))
    damaged = npz({"a": np.arange(10_000.0)}, compressed=True)
    for at in range(60, len(damaged) - 200, 997):
        Path("a.npz").write_bytes(changed(damaged, at, bytes([damaged[at] ^ 255])))
        with pytest.raises(flow.Error):
            flow.load("a.npz")


def test_numbers_of_64_bits() -> None:
    extra = struct.pack("<2H", 0x666F, 0) + struct.pack("<2H3Q", 1, 24, len(A), len(A), 0)
    entry = changed(ONE[DIRECTORY:END], 20, struct.pack("<2L2H", 2**32 - 1, 2**32 - 1, 5, len(extra)))
    entry = changed(entry, 42, struct.pack("<L", 2**32 - 1)) + extra
    end = struct.pack("<LQ2H2L4Q", 0x06064B50, 44, 45, 45, 0, 0, 1, 1, len(entry), DIRECTORY)
    locator = struct.pack("<2LQL", 0x07064B50, 0, DIRECTORY + len(entry), 1)
    content = (
        ONE[:DIRECTORY]
        + entry
        + end
        + locator
        + struct.pack("<L4H2LH", 0x06054B50, 0, 0, 1, 1, 2**32 - 1, 2**32 - 1, 0)
    )
    Path("a.npz").write_bytes(content)
    assert flow.load("a.npz")["a"].tolist() == np.load("a.npz")["a"].tolist()
    cut = changed(content, DIRECTORY + 30, struct.pack("<H", 4))
    text = "the directory of the archive lacks the size of a large member"
    refused(cut, "npz", text)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_methods_of_compression(method: int) -> None:
    Path("a.npz").write_bytes(archive(("a.npy", A), method=method))
    text = (
        f"load: 'a.npz' has a member 'a.npy' with compression method {method}; only stored and deflated ones are read"
    )
    raises(flow.Unsupported, text, lambda: flow.load("a.npz"))


def test_encrypted_members() -> None:
    Path("a.npz").write_bytes(changed(ONE, DIRECTORY + 8, b"\x01"))
    raises(flow.Unsupported, "load: 'a.npz' has an encrypted member 'a.npy'", lambda: flow.load("a.npz"))


# ------------------------------------------------------------------------------------------------ all formats

REFUSALS = (flow.InvalidArgument, flow.DTypeError, flow.ShapeError, flow.Unsupported, flow.FileError)


@pytest.mark.parametrize(("kind", "content"), list(seeds()), ids=range(len(list(seeds()))))
def test_every_prefix_and_every_changed_byte(kind: int, content: bytes) -> None:
    """Each is refused with an error of oneflow, or loaded."""
    path = Path(f"a.{EXTENSIONS[kind]}")
    step = max(len(content) // 150, 1)
    variants = [content[:end] for end in range(0, len(content), step)]
    variants += [
        changed(content, at, bytes([content[at] ^ bits])) for at in range(0, len(content), step) for bits in (1, 255)
    ]
    for variant in variants:
        path.write_bytes(variant)
        for mmap in (True, False):
            with contextlib.suppress(*REFUSALS):
                flow.load(path, mmap=mmap)
