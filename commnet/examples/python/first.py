"""The example of bindings/python/README.md: a message, and a read of the other endpoint's memory."""

import queue

import commnet

numbers = bytearray(b"0123456789")
greetings = queue.SimpleQueue()

with commnet.Endpoint("a", b"of both") as a, commnet.Endpoint("b", b"of both") as b:
    b.on_message(7, lambda message: greetings.put(bytes(message)))
    memory = b.register(numbers, "read+write")
    token = memory.token("read")  # 64 bytes, which b would send to a

    peer = a.connect(b.address)  # usually from another process
    peer.send(b"hello", handler=7)
    copy = peer.read(token, offset=2, size=3).wait()
    print(greetings.get(), bytes(copy))  # b'hello' b'234'
    assert copy == numbers[2:5]
