"""Writes the seeds of tools/fuzz_files.sh: small files of the reference packages, after a byte that names the format.

Usage: python -m tests.files.seeds FOLDER
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from safetensors.numpy import save

# The first byte of an input, as runtime/tests/fuzz/files_fuzz.cpp reads it.
SAFETENSORS, NPZ, NPY, INDEX = range(4)

ARRAYS = {
    "a": np.arange(6, dtype="<f4").reshape(2, 3),
    "b.c": np.array([True, False]),
    "scalar": np.array(2.5, dtype="<f8"),
    "empty": np.zeros((0, 3), dtype="<i8"),
    "half": np.ones(2, dtype="<f2"),
}


def npy(array: np.ndarray, version: tuple[int, int] = (1, 0)) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version)
    return file.getvalue()


def npz(arrays: dict[str, np.ndarray], compressed: bool) -> bytes:
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, **arrays)
    return file.getvalue()


def large_zip() -> bytes:
    """Returns an archive with sizes of 64 bits."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, archive.open("a.npy", "w", force_zip64=True) as member:
        member.write(npy(ARRAYS["a"]))
    return file.getvalue()


def seeds() -> Iterator[tuple[int, bytes]]:
    yield SAFETENSORS, save(ARRAYS)
    yield SAFETENSORS, save(ARRAYS, {"format": "pt", "ü": "é"})
    yield SAFETENSORS, save({"x.0": ARRAYS["a"]}, {"oneflow.structure": '{"x":[0],"e":{}}'})
    yield SAFETENSORS, save({})
    yield NPZ, npz(ARRAYS, compressed=False)
    yield NPZ, npz(ARRAYS, compressed=True)
    yield NPZ, npz({"x.0": ARRAYS["a"], "__structure__": np.frombuffer(b'{"x":[0]}', np.uint8)}, compressed=False)
    yield NPZ, npz({"__metadata__": np.frombuffer(b'{"k":"v"}', np.uint8)}, compressed=True)
    yield NPZ, large_zip()
    for version in ((1, 0), (2, 0), (3, 0)):
        yield NPY, npy(ARRAYS["a"], version)
    for array in (
        np.asfortranarray(ARRAYS["a"]),
        ARRAYS["a"].astype(">f4"),
        ARRAYS["scalar"],
        ARRAYS["a"].astype("<c16"),
        np.zeros(2, dtype=[("x", "<f4"), ("y", "<i2", (2,))]),
        np.array([{}], dtype=object),
        np.array(["text"]),
    ):
        yield NPY, npy(array)
    yield INDEX, json.dumps({"metadata": {"total_size": 24}, "weight_map": {"a": "3"}}).encode()


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for number, (kind, content) in enumerate(seeds()):
        (folder / f"{number:02}").write_bytes(bytes([kind]) + content)


if __name__ == "__main__":
    main()
