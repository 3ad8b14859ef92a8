import asyncio
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import PATIENCE, SECRET, wait_until

import commnet


def test_endpoints_meet_by_files(tmp_path: pathlib.Path) -> None:
    endpoints = [commnet.Endpoint(f"rank {rank}", SECRET) for rank in range(4)]

    def join(rank: int) -> list[commnet.Peer | None]:
        return endpoints[rank].join(rank, 4, f"file:{tmp_path}", PATIENCE)

    with ThreadPoolExecutor(4) as pool:
        peers = list(pool.map(join, range(4)))
    for rank, of_rank in enumerate(peers):
        expected = [None if other == rank else f"rank {other}" for other in range(4)]
        assert [peer and peer.name for peer in of_rank] == expected
        assert all(peer is None or peer is endpoints[rank].find_peer(peer.name) for peer in of_rank)
    check_first_use(endpoints, peers)
    for endpoint in endpoints:
        endpoint.close()


def check_first_use(endpoints: list[commnet.Endpoint], peers: list[list[commnet.Peer | None]]) -> None:
    """Checks that the first use connects a peer, and no other one."""
    one, two = peers[0][1], peers[0][2]
    assert one
    assert two
    assert not one.is_connected
    assert one.transport == ""
    one.send(b"hello").wait(PATIENCE)
    assert one.is_connected
    assert one.transport
    assert not two.is_connected
    endpoints[2].close()
    with pytest.raises(commnet.Unreachable, match="the peer 'rank 2' is not connected: "):
        two.send(b"hello").wait(PATIENCE)
    assert endpoints[0].connect("rank 3@") is peers[0][3]


def test_the_environment_says_everything(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMNET_RANK", "0")
    monkeypatch.setenv("COMMNET_SIZE", "1")
    with commnet.Endpoint("a", SECRET) as endpoint:
        assert endpoint.join() == [None]
        monkeypatch.setenv("COMMNET_SIZE", "2")
        with pytest.raises(commnet.InvalidArgument, match="meeting is missing"):
            endpoint.join()


def test_arguments_of_join(tmp_path: pathlib.Path) -> None:
    meeting = f"file:{tmp_path}"
    with commnet.Endpoint("a", SECRET) as endpoint:
        with pytest.raises(commnet.InvalidArgument, match="rank and size belong together"):
            endpoint.join(0, meeting=meeting)
        with pytest.raises(commnet.InvalidArgument, match="size must be at least 1"):
            endpoint.join(0, 0, meeting)
        with pytest.raises(commnet.InvalidArgument, match="rank 2 is not below the size 2"):
            endpoint.join(2, 2, meeting)
        with pytest.raises(commnet.InvalidArgument, match="rank must be from 0 to"):
            endpoint.join(-1, 2, meeting)
        with pytest.raises(commnet.InvalidArgument, match="a job has at most 1048576 endpoints"):
            endpoint.join(0, 2**32 - 1, meeting)
        with pytest.raises(TypeError, match="meeting must be a str"):
            endpoint.join(0, 2, 7)  # type: ignore[arg-type]
        with pytest.raises(commnet.TimedOut, match="rank 1 has not written its address"):
            endpoint.join(0, 2, meeting, 0.05)
    with pytest.raises(commnet.Closed):
        endpoint.join(0, 2, meeting)


def test_closing_ends_a_meeting(tmp_path: pathlib.Path) -> None:
    endpoint = commnet.Endpoint("a", SECRET)
    errors: list[BaseException] = []

    def join() -> None:
        try:
            endpoint.join(0, 2, f"file:{tmp_path}")
        except commnet.Error as error:
            errors.append(error)

    thread = threading.Thread(target=join)
    thread.start()
    wait_until(lambda: (tmp_path / "0").exists())
    endpoint.close()
    thread.join(PATIENCE)
    assert [type(error) for error in errors] == [commnet.Cancelled]


def test_a_meeting_in_a_loop(tmp_path: pathlib.Path) -> None:
    async def run() -> None:
        async with commnet.Endpoint("a", SECRET) as a, commnet.Endpoint("b", SECRET) as b:
            meeting = f"file:{tmp_path}"
            of_a, of_b = await asyncio.gather(
                a.join_async(0, 2, meeting, PATIENCE), b.join_async(1, 2, meeting, PATIENCE)
            )
            assert of_a[1] is not None
            got = asyncio.create_task(anext(b.messages(1)))
            await of_a[1].send(b"hello", 1)
            assert bytes(await got) == b"hello"
            assert of_b[1] is None

    asyncio.run(run())


def test_ctrl_c_interrupts_a_meeting(tmp_path: pathlib.Path) -> None:
    code = f"""
import commnet
with commnet.Endpoint("a") as endpoint:
    endpoint.join(0, 2, "file:{tmp_path}")
"""
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    wait_until(lambda: (tmp_path / "0").exists())
    time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGINT, errors
    assert "KeyboardInterrupt" in errors
