"""Messages between processes, and reads and writes of each other's memory, none of which waits.

For example:

    import commnet

    with commnet.Endpoint(name="a", secret=b"...") as endpoint:
        endpoint.on_message(1, lambda message: print(message.peer.name, bytes(message)))
        peer = endpoint.connect(address)  # another endpoint's `address`
        peer.send(b"hello", handler=1)
        memory = endpoint.register(bytearray(1024), "read")
        peer.send(memory.token(), handler=2)  # the peer can then read it
"""

from commnet import _native
from commnet.endpoint import Endpoint
from commnet.errors import (
    Cancelled,
    Closed,
    Denied,
    Error,
    Full,
    InternalError,
    InvalidArgument,
    NoHandler,
    OutOfMemory,
    OutOfRange,
    PeerLost,
    SystemFailure,
    TimedOut,
    Unreachable,
    Unsupported,
)
from commnet.memory import Memory, Token
from commnet.operation import Operation, Queue
from commnet.peer import Message, Peer

__version__: str = _native.version()

__all__ = [
    "Cancelled",
    "Closed",
    "Denied",
    "Endpoint",
    "Error",
    "Full",
    "InternalError",
    "InvalidArgument",
    "Memory",
    "Message",
    "NoHandler",
    "Operation",
    "OutOfMemory",
    "OutOfRange",
    "Peer",
    "PeerLost",
    "Queue",
    "SystemFailure",
    "TimedOut",
    "Token",
    "Unreachable",
    "Unsupported",
]
