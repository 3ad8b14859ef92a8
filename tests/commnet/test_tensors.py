"""Tests that tensors of one language's oneflow can be read and written by another language's, over commnet."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

import commnet
import oneflow_py as flow
from tests.commnet.conftest import ROOT

HERE = Path(__file__).parent
PATIENCE = 120  # seconds
CASES = [
    {"dtype": "float32", "bytes": 4, "shape": [3, 5]},
    {"dtype": "float64", "bytes": 8, "shape": [40_000]},
    {"dtype": "float16", "bytes": 2, "shape": [7]},
    {"dtype": "int64", "bytes": 8, "shape": [2, 2, 2]},
    {"dtype": "int32", "bytes": 4, "shape": []},
    {"dtype": "int16", "bytes": 2, "shape": [3]},
    {"dtype": "uint8", "bytes": 1, "shape": [17, 1]},
    {"dtype": "complex64", "bytes": 8, "shape": [4]},
    {"dtype": "float32", "bytes": 4, "shape": [0, 3]},
]


def test_languages_exchange_tensors_bit_for_bit(environment: dict[str, str], tmp_path: Path) -> None:
    programs = [[sys.executable, "exchange.py"], ["node", "exchange.js"], ["ruby", "exchange.rb"]]
    shared = environment | {"COMMNET_SIZE": str(len(programs)), "COMMNET_MEETING": f"file:{tmp_path}"}
    processes = [
        subprocess.Popen(
            [program, HERE / file, json.dumps(CASES)],
            env=shared | {"COMMNET_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank, (program, file) in enumerate(programs)
    ]
    try:
        outputs = [process.communicate(timeout=PATIENCE)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert outputs == ["python is right\n", "node is right\n", "ruby is right\n"]


def test_the_pipeline_of_three_languages(environment: dict[str, str]) -> None:
    command = [sys.executable, "commnet/examples/pipeline/run.py", "examples/pipeline"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "accuracy: 0.957"


Pair = tuple[commnet.Endpoint, commnet.Peer]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Yields an endpoint, and itself as the peer of another one."""
    with commnet.Endpoint("owner", b"s") as owner, commnet.Endpoint("visitor", b"s") as visitor:
        yield owner, visitor.connect(owner.address)


def test_writes_in_place_are_seen_by_peers(pair: Pair) -> None:
    owner, peer = pair
    tensor = flow.zeros([4], dtype=flow.int32)
    token = owner.register(tensor, "read+write").token()
    tensor += 3
    target = flow.zeros([4], dtype=flow.int32)
    assert peer.read(token, target).wait() is target
    assert target.tolist() == [3, 3, 3, 3]
    peer.write(token, flow.tensor([7, 8], dtype=flow.int32), offset=4).wait()
    assert tensor.tolist() == [3, 7, 8, 3]
    assert (tensor * 2).tolist() == [6, 14, 16, 6]


def test_views_are_registered_as_they_are(pair: Pair) -> None:
    owner, peer = pair
    tensor = flow.arange(12, dtype=flow.int64).reshape([3, 4])
    row = owner.register(tensor[1]).token()
    assert memoryview(peer.read(row).wait()).cast("q").tolist() == [4, 5, 6, 7]
    for strided in (tensor.T, tensor[:, 1], tensor[::2]):
        with pytest.raises(commnet.InvalidArgument, match=r"buffer: the oneflow_py\.Tensor must be contiguous"):
            owner.register(strided)
    half = flow.tensor([1.0, 2.0], dtype=flow.bfloat16)  # of which Python has no such type
    assert peer.read(owner.register(half, "read+write").token()).wait() == bytes.fromhex("803f0040")


def test_a_registered_tensor_is_kept(pair: Pair) -> None:
    owner, peer = pair
    tensor = flow.full([1000], 5, dtype=flow.uint8)
    gone = weakref.ref(tensor)
    memory = owner.register(tensor)
    del tensor
    gc.collect()
    flow.zeros([1000], dtype=flow.uint8)  # would take the memory, if it were free
    assert peer.read(memory.token()).wait() == bytes([5]) * 1000
    memory.release()
    gc.collect()
    assert gone() is None
