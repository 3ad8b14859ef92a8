import gc
import os
import subprocess
import sys
import threading
import weakref

import pytest
from conftest import PATIENCE, SECRET, Pair, wait_until

import commnet


def commnet_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("commnet-")]


def test_an_endpoint_that_nobody_uses_is_collected() -> None:
    endpoint = commnet.Endpoint("a", SECRET)
    endpoint.on_message(1, lambda message, own=endpoint: None)
    with commnet.Endpoint("b", SECRET) as other:
        endpoint.connect(other.address)
        reference = weakref.ref(endpoint)
        assert "commnet-a" in commnet_threads()
        del endpoint
        gc.collect()
        assert reference() is None
    wait_until(lambda: commnet_threads() == [])


def test_a_constructor_that_fails_leaves_nothing_behind() -> None:
    with pytest.raises(commnet.Error):
        commnet.Endpoint(name="@")
    gc.collect()
    assert commnet_threads() == []


def test_collection_while_operations_are_under_way(pair: Pair) -> None:
    got = 0

    def count(message: commnet.Message) -> None:
        nonlocal got
        got += 1
        gc.collect(0)

    pair.b.on_message(1, count)
    sent = 0
    for i in range(300):
        size = (i * 7919) % 200_000
        token = pair.b.register(bytearray(size), "read+write").token()
        pair.peer.read(token)
        pair.peer.write(token, bytes(size))
        pair.peer.read(token, bytearray(size)).cancel()
        try:
            pair.peer.send(bytearray(size), 1)
            sent += 1
        except commnet.Full:
            pass
        if i % 10 == 0:
            gc.collect()
    wait_until(lambda: got == sent)
    pair.close()


def test_closing_in_the_midst_of_calls(pair: Pair) -> None:
    token = pair.b.register(bytes(200_000)).token()
    ended: list[str] = []

    def work() -> None:
        try:
            while True:
                pair.peer.read(token).wait(PATIENCE)
                pair.peer.send(bytes(100), 1).wait(PATIENCE)
        except (commnet.Closed, commnet.Cancelled, commnet.PeerLost, commnet.Denied) as error:
            ended.append(error.status)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    pair.b.on_message(1, lambda message: None)
    threading.Event().wait(0.05)
    closers = [threading.Thread(target=pair.a.close) for _ in range(3)]
    for thread in closers:
        thread.start()
    for thread in [*threads, *closers]:
        thread.join(PATIENCE)
    assert len(ended) == 4


def test_an_interpreter_ends_with_open_endpoints() -> None:
    code = """
import commnet, asyncio
a, b = commnet.Endpoint("a"), commnet.Endpoint("b")
b.on_message(1, print)
peer = a.connect(b.address)
for i in range(100):
    operation = peer.send(bytes(100_000), 2)
asyncio.run(asyncio.sleep(0))
"""
    for _ in range(3):
        subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)


@pytest.mark.parametrize(
    "handler",
    [
        "time.sleep(1000)",
        "threading.Event().wait()",
        "operations[-1].wait()",  # of the other endpoint
        "sys.exit(3)",
        "os.kill(os.getpid(), signal.SIGINT)",
    ],
)
def test_an_interpreter_ends_while_a_handler_runs(handler: str) -> None:
    code = f"""
import commnet, os, signal, sys, threading, time
b, a = commnet.Endpoint("b"), commnet.Endpoint("a")
peer = a.connect(b.address)
begun = threading.Event()
operations = []
@b.on_message(1)
def handle(message):
    begun.set()
    {handler}
operations += [peer.send(bytes(1 << 20), 2) for _ in range(20)]
peer.send(b"", 1, channel=1)
try:
    begun.wait()
    time.sleep({PATIENCE / 2 if "SIGINT" in handler else 0.05})
except KeyboardInterrupt:
    print("interrupted")
print("the end")
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=PATIENCE, text=True)
    assert process.stdout.endswith("the end\n")
    assert ("interrupted" in process.stdout) == ("SIGINT" in handler)


def test_a_subinterpreter_cannot_import_it() -> None:
    pytest.importorskip("_xxsubinterpreters")
    inner = f"""
import sys
sys.path[:] = {sys.path!r}
try:
    import commnet
except ImportError as error:
    print(error, flush=True)
"""
    code = f"""
import commnet, _xxsubinterpreters as interpreters
endpoint = commnet.Endpoint("a")
own = interpreters.create()
interpreters.run_string(own, {inner!r})
interpreters.destroy(own)
print(endpoint.name)
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=PATIENCE, text=True)
    assert process.stdout == "commnet can only be imported in the main interpreter of a process\na\n"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_child_of_a_fork_cannot_use_endpoints(pair: Pair) -> None:
    token = pair.b.register(b"abcd").token()
    operation = pair.peer.read(token)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for call in (lambda: pair.peer.send(b""), lambda: pair.a.connect(pair.b.address)):
                with pytest.raises(commnet.Closed, match="belongs to the parent"):
                    call()
            pair.close()
            with commnet.Endpoint("c", SECRET) as c, commnet.Endpoint("d", SECRET) as d:
                got: list[bytes] = []
                d.on_message(1, lambda message: got.append(bytes(message)))
                c.connect(d.address).send(b"abc", 1)
                wait_until(lambda: got)
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert operation.wait(PATIENCE) == b"abcd"
    assert pair.peer.read(token).wait(PATIENCE) == b"abcd"


def test_closing_says_what_was_not_sent() -> None:
    with commnet.Endpoint("b", SECRET, receive_window=1000) as b:
        a = commnet.Endpoint("a", SECRET, linger=0.05)
        peer = a.connect(b.address)
        for _ in range(5):
            peer.send(bytes(1000))
        with pytest.warns(RuntimeWarning, match=r"^4 messages to 'b' could not be sent before the end$"):
            a.close()
        a.close()
