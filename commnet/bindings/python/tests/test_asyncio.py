import asyncio
import threading
from collections.abc import Coroutine

import pytest
from conftest import PATIENCE, SECRET, Pair

import commnet


def run(coroutine: Coroutine[object, object, object]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(coroutine, PATIENCE)

    asyncio.run(limited())


def commnet_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("commnet-")]


@pytest.mark.parametrize("transport", ["sockets", "memory"])
def test_operations_and_messages(transport: str) -> None:
    async def main() -> None:
        async with (
            commnet.Endpoint("a", SECRET, transport) as a,
            commnet.Endpoint("b", SECRET, transport) as b,
        ):
            peer = await a.connect_async(b.address)
            assert peer.name == "b"
            memory = b.register(bytes(range(256)) * 10_000)
            await peer.send(memory.token(), handler=1)
            await peer.send(b"last", handler=1)
            got = []
            async for message in b.messages(1):
                got.append(bytes(message))
                if got[-1] == b"last":
                    break
            assert got == [memory.token(), b"last"]
            data = await peer.read(got[0])
            assert data == bytes(range(256)) * 10_000
            with pytest.raises(commnet.Denied):
                await peer.write(got[0], b"x")
            results = await asyncio.gather(*(peer.read(got[0], offset=i, size=1) for i in range(200)))
            assert results == [bytes([i]) for i in range(200)]
            assert commnet_threads() == []

    run(main())


def test_handlers_run_in_the_loop() -> None:
    async def main() -> None:
        async with commnet.Endpoint("a", SECRET) as a, commnet.Endpoint("b", SECRET) as b:
            received: asyncio.Future[threading.Thread] = asyncio.get_running_loop().create_future()
            b.on_message(1, lambda message: received.set_result(threading.current_thread()))
            (await a.connect_async(b.address)).send(b"", 1)
            assert await received is threading.current_thread()

    run(main())


def test_an_error_of_a_handler_goes_to_the_loop() -> None:
    async def main() -> None:
        reported: asyncio.Future[dict[str, object]] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.set_result(context))
        async with commnet.Endpoint("a", SECRET) as a, commnet.Endpoint("b", SECRET) as b:
            b.on_message(1, lambda message: 1 / 0)
            (await a.connect_async(b.address)).send(b"", 1)
            assert isinstance((await reported)["exception"], ZeroDivisionError)

    run(main())


def test_operations_of_an_endpoint_with_a_thread_can_be_awaited(pair: Pair) -> None:
    token = pair.b.register(bytes(3 << 20)).token()

    async def main() -> None:
        assert await pair.peer.read(token) == bytes(3 << 20)
        pair.peer.send(b"one", 1)
        async for message in pair.b.messages(1):
            assert bytes(message) == b"one"
            break

    run(main())
    run(main())


def test_a_task_that_is_cancelled_cancels_its_operation() -> None:
    async def main() -> None:
        async with (
            commnet.Endpoint("a", SECRET, "sockets") as a,
            commnet.Endpoint("b", SECRET, "sockets", receive_window=1 << 16) as b,
        ):
            peer = await a.connect_async(b.address)
            for size in (10_000, 30_000):  # with and without an event at the end
                operations = [peer.send(bytes(size)) for _ in range(20)]
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(operations[-1]._end(), 0.05)
                with pytest.raises(commnet.Cancelled):
                    await operations[-1]

    run(main())


def test_small_sends_that_wait_for_the_window_can_be_awaited() -> None:
    async def main() -> None:
        async with (
            commnet.Endpoint("a", SECRET, "sockets") as a,
            commnet.Endpoint("b", SECRET, "sockets", receive_window=1 << 16) as b,
        ):
            peer = await a.connect_async(b.address)
            operations = [peer.send(bytes(10_000), 1) for _ in range(50)]
            last = asyncio.ensure_future(operations[-1]._end())
            await asyncio.sleep(0.01)
            assert not last.done()
            count = 0
            async for message in b.messages(1):
                count += len(message) == 10_000
                if count == 50:
                    break
            await last
            await operations[-1]

    run(main())


def test_messages_end_when_the_endpoint_is_closed() -> None:
    async def main() -> None:
        endpoint = commnet.Endpoint("a", SECRET)
        ended = asyncio.ensure_future(_all(endpoint))
        await asyncio.sleep(0.01)
        endpoint.close()
        assert await ended == []

    async def _all(endpoint: commnet.Endpoint) -> list[commnet.Message]:
        return [message async for message in endpoint.messages(1)]

    run(main())


def test_messages_that_are_left_over_go_to_the_next_handler() -> None:
    async def main() -> None:
        async with commnet.Endpoint("a", SECRET) as a, commnet.Endpoint("b", SECRET) as b:
            peer = await a.connect_async(b.address)
            for i in range(10):
                peer.send(b"%d" % i, 1)
            got: list[bytes] = []
            for _ in range(10):
                messages = b.messages(1)
                async for message in messages:
                    got.append(bytes(message))
                    break
                await messages.aclose()
            assert got == [b"%d" % i for i in range(10)]

    run(main())


def test_an_endpoint_goes_on_after_its_loop() -> None:
    made: list[commnet.Endpoint] = []

    async def main() -> None:
        made.append(commnet.Endpoint("a", SECRET))
        made.append(commnet.Endpoint("b", SECRET))
        await made[0].connect_async(made[1].address)

    run(main())
    a, b = made
    peer = a.connect(b.address)
    token = b.register(b"abcd").token()
    assert peer.read(token).wait(PATIENCE) == b"abcd"

    async def again() -> None:
        assert await peer.read(token) == b"abcd"

    run(again())
    a.close()
    b.close()


def test_closing_wakes_who_awaits() -> None:
    async def main() -> None:
        async with commnet.Endpoint("b", SECRET, "sockets", receive_window=1 << 16) as b:
            a = commnet.Endpoint("a", SECRET, "sockets")
            peer = await a.connect_async(b.address)
            operations = [peer.send(bytes(30_000)) for _ in range(20)]

            async def wait() -> None:
                with pytest.raises(commnet.Cancelled):
                    await operations[-1]

            waiting = asyncio.ensure_future(wait())
            await asyncio.sleep(0.01)
            await asyncio.to_thread(a.close)
            await waiting

    run(main())
