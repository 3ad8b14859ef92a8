"""Does something that disturbs collectives again and again as one rank of a job, and checks all results."""

from __future__ import annotations

import itertools
import os
import random
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import oneflow_py as flow

comm = flow.comm
comm.init(timeout=100)
rank, size = comm.rank(), comm.world_size()
choice = random.Random(rank)
TOTAL = size * (size + 1) / 2


def operand(count: int) -> flow.Tensor:
    return flow.full([count], rank + 1.0)


def check(result: flow.Tensor) -> None:
    assert result[0].item() == result[-1].item() == TOTAL, result


def count_of(i: int) -> int:
    """Returns how many elements call i has, which all ranks know."""
    return (3, 5_000, 200_000)[i % 3]


@contextmanager
def signals() -> Iterator[None]:
    """Sends SIGINT to this process at random moments."""
    done = threading.Event()

    def send() -> None:
        while not done.wait(choice.uniform(0, 0.003)):
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    yield
    done.set()
    thread.join()


def raised_interrupts() -> None:
    """The handler raises, but only where a wait can be repeated."""
    can_raise = False

    def handle(*_: object) -> None:
        nonlocal can_raise
        if can_raise:
            can_raise = False
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, handle)
    interrupts = 0
    with signals():
        for i in range(600):
            work = comm.all_reduce_async(operand(count_of(i)))
            result = None
            while result is None:
                try:
                    can_raise = True
                    result = work.wait()
                    can_raise = False
                except KeyboardInterrupt:
                    interrupts += 1
            check(result)
    assert interrupts > 0


def quiet_interrupts() -> None:
    """The handler returns, and the call goes on."""
    interrupts = 0

    def handle(*_: object) -> None:
        nonlocal interrupts
        interrupts += 1

    signal.signal(signal.SIGINT, handle)
    with signals():
        for i in range(600):
            check(comm.all_reduce(operand(count_of(i))))
            comm.barrier()
    assert interrupts > 0


def refuses(call: Callable[[], object]) -> bool:
    """Returns whether a call raises CommunicationError."""
    try:
        call()
    except flow.CommunicationError:
        return True
    return False


def call_until_told() -> None:
    """Calls collectives until one raises CommunicationError."""
    counts = (count_of(i) for i in itertools.count())
    while not refuses(lambda: check(comm.all_reduce(operand(next(counts))))):
        pass


def forks() -> None:
    """Forks while another thread is within collectives. Children take no part, and end in two ways."""
    done = False

    def call() -> None:
        for i in itertools.count():
            check(comm.all_reduce(operand(count_of(i))))
            if comm.broadcast(flow.tensor([float(done)]), 0).item():
                return

    thread = threading.Thread(target=call)
    thread.start()
    for i in range(60):
        work = comm.all_reduce_async(operand(10), group=f"{rank}")
        child = os.fork()
        if child == 0:
            is_right = refuses(lambda: comm.all_reduce(operand(3))) and refuses(comm.barrier)
            is_right = is_right and refuses(work.wait) and refuses(comm.init)
            comm.finalize()
            if i % 2:
                os._exit(0 if is_right else 1)
            sys.exit(0 if is_right else 1)
        assert os.waitpid(child, 0)[1] == 0
        work.wait()
    done = True
    thread.join()


def many() -> None:
    """Begins thousands of collectives, whose results would not all have room."""
    x = operand(64 << 10)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limit = used + (400 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    if rank == 1:
        time.sleep(1)
    for _ in range(4000):
        work = comm.all_reduce_async(x)
    check(work.wait())


def several_threads() -> None:
    """Several threads have thousands of collectives under way."""

    def call(tag: int) -> None:
        partner = (rank + 1) % size, (rank + size - 1) % size
        sends = [comm.send_async(operand(1 + i % 100), partner[0], tag=tag) for i in range(1500)]
        for i in range(1500):
            assert comm.recv(flow.empty([1 + i % 100]), partner[1], tag=tag)[0].item() == partner[1] + 1
        for each in sends:
            each.wait()

    threads = [threading.Thread(target=call, args=(tag,)) for tag in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def leaves() -> None:
    """Joins and leaves while another thread calls: it is told, whatever it is within."""
    for cycle in range(20):
        thread = threading.Thread(target=call_until_told)
        thread.start()
        time.sleep(choice.uniform(0, 0.05))
        comm.finalize()
        thread.join()
        assert refuses(lambda: comm.all_reduce(operand(3)))
        if cycle < 19:
            comm.init(timeout=100)


def ends() -> None:
    """Ends while a thread is within collectives."""
    threading.Thread(target=call_until_told, daemon=True).start()
    time.sleep(choice.uniform(0, 0.3))


globals()[sys.argv[1]]()
