"""A program that mypy checks, and that is never run: every part of the interface with its types."""

import asyncio
from typing import assert_type

import commnet


def use(address: str, bytes_of_token: bytes) -> None:
    with commnet.Endpoint("a", b"secret", ["sockets"], listen="none", peer_timeout=3.0) as endpoint:
        peer = endpoint.connect(address, timeout=1)
        assert_type(peer, commnet.Peer)
        assert_type(peer.name, str)

        @endpoint.on_message(1)
        def handle(message: commnet.Message) -> None:
            assert_type(message.peer, commnet.Peer)
            assert_type(message.data, memoryview)

        handle_again = handle
        endpoint.on_message(2, handle_again)
        endpoint.on_message(2, None)
        endpoint.on_leave(lambda left, error: print(left.name, error.status))
        assert_type(endpoint.find_peer("b"), commnet.Peer | None)

        memory = endpoint.register(bytearray(8), "read+write")
        assert_type(memory.token("read"), commnet.Token)
        with endpoint.allocate(8, "read+write") as allocated:
            assert_type(allocated, commnet.Memory)
            assert_type(memoryview(allocated), memoryview[int])
            assert_type(peer.read(bytes_of_token, allocated).wait(), commnet.Memory)
        queue = endpoint.queue()
        assert_type(peer.send(b"", handler=1, queue=queue), commnet.Operation[None])
        assert_type(peer.write(bytes_of_token, b"x", 4, timeout=1.0).wait(), None)
        assert_type(peer.read(commnet.Token(bytes_of_token), offset=1, size=2).wait(5), bytearray)
        array = memoryview(bytearray(4))
        assert_type(peer.read(bytes_of_token, array).wait(), memoryview)
        assert_type(queue.mark(), commnet.Operation[None])
        for other in endpoint.join(0, 2, "file:/a/folder"):
            assert_type(other, commnet.Peer | None)


async def use_in_a_loop(address: str) -> None:
    async with commnet.Endpoint() as endpoint:
        peer = await endpoint.connect_async(address)
        assert_type(peer, commnet.Peer)
        await peer.send(b"")
        messages = endpoint.messages(1)
        async for message in messages:
            assert_type(message, commnet.Message)
            break
        await messages.aclose()
        assert_type(await endpoint.join_async(), list[commnet.Peer | None])


try:
    asyncio.run(use_in_a_loop("b@unix:/b"))
except commnet.PeerLost as error:
    assert_type(error.status, str)
except (ConnectionError, TimeoutError):
    pass
