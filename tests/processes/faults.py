"""Runs a scenario of something that goes wrong as one rank of a job, and prints a line of JSON for each outcome.

TEST_DEVICE is the device of the tensors.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import oneflow_py as flow

comm = flow.comm


def attempt(call) -> None:
    """Prints the result of a call, or its error."""
    try:
        result = call()
        print(json.dumps(result.tolist() if isinstance(result, flow.Tensor) else result), flush=True)
    except (flow.Error, KeyboardInterrupt) as error:
        print(json.dumps([type(error).__name__, str(error)]), flush=True)


def ones(*shape):
    return flow.ones(shape, device=os.environ.get("TEST_DEVICE", "cpu"))


def join():
    """Joins with a short deadline, once all ranks have started: that may take longer."""
    folder = Path(os.environ["TEST_FOLDER"])
    (folder / f"started.{os.environ['ONEFLOW_RANK']}").touch()
    while len(list(folder.glob("started.*"))) < int(os.environ["ONEFLOW_WORLD_SIZE"]):
        time.sleep(0.01)
    comm.init(timeout=2)


def reach_rank_1():
    """Returns on rank 1 after all others have called it, which need nothing of rank 1 to go on."""
    comm.gather(flow.ones([1]), 1)


def killed(rank):
    reach_rank_1()
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    attempt(lambda: comm.all_reduce(ones(3)))
    attempt(lambda: comm.all_reduce(ones(3)))
    attempt(lambda: comm.all_reduce(ones(3), group=comm.Group([0, 2, 3])))


def stopped(rank):
    join()
    reach_rank_1()
    if rank == 1:
        os.kill(os.getpid(), signal.SIGSTOP)
    attempt(lambda: comm.all_reduce(ones(3)))


def operators(rank):
    attempt(lambda: comm.all_gather(ones(3)) if rank == 1 else comm.all_reduce(ones(3)))
    attempt(lambda: comm.all_reduce(ones(3)))


def shapes(rank):
    attempt(lambda: comm.all_reduce(ones(3 + rank // 2)))
    attempt(lambda: comm.all_reduce(ones(3)))


def dtypes(rank):
    attempt(lambda: comm.all_reduce(flow.ones([3], dtype="int64" if rank == 0 else "float32"), op="max"))


def gradients(rank):
    x = ones(3)
    x.requires_grad = rank == 0
    y = comm.all_reduce(x)
    attempt(lambda: y.sum().backward() if rank == 0 else comm.all_reduce(ones(4)))
    attempt(lambda: comm.all_reduce(ones(2)))


def parts(rank):
    attempt(lambda: comm.scatter(ones(3), part=None if rank == 1 else 1))


def roots(rank):
    attempt(lambda: comm.broadcast(ones(3), 1 if rank == 2 else 0))
    attempt(lambda: comm.all_reduce(ones(3)))


def leaves(rank):
    comm.barrier()
    if rank == 1:
        return
    attempt(lambda: comm.all_reduce(ones(3)))


def never(rank):
    attempt(lambda: comm.init(timeout=2))


def busy(rank, end):
    """Something happens to a rank while its device has work of a collective that all have submitted."""
    join()
    x = ones(3)
    attempt(lambda: comm.all_reduce(x))
    if rank == 1:
        flow.set_option("accel_hold", 1)
    result = comm.all_reduce(x)
    reach_rank_1()
    if rank == 1:
        end()
    attempt(lambda: result)
    attempt(lambda: comm.all_reduce(ones(3), group="0,2" if rank != 1 else "1"))


def busy_killed(rank):
    busy(rank, lambda: os.kill(os.getpid(), signal.SIGKILL))


def busy_stopped(rank):
    busy(rank, lambda: os.kill(os.getpid(), signal.SIGSTOP))


def busy_late(rank):
    def wait():
        time.sleep(3)
        flow.set_option("accel_hold", 0)

    busy(rank, wait)


def graph(rank):
    captured = flow.graph.capture(lambda x: comm.all_reduce(x * 2, group="0,1") + 2, ones(2))
    for value in (1, 1.5, 2.5):
        attempt(lambda value=value: captured(ones(2) * value))


def failing(rank):
    if rank == 1:
        flow.set_option("accel_fail_collectives", 1)
    attempt(lambda: comm.all_reduce(ones(3)))
    comm.barrier()
    attempt(lambda: comm.all_reduce(ones(3)))


def host(rank):
    attempt(lambda: comm.all_reduce(flow.ones(3) if rank == 1 else ones(3)))
    attempt(lambda: comm.all_reduce(ones(3)))


def through_host(rank):
    x = ones(3)
    flow.reset_fallbacks()
    attempt(lambda: comm.all_reduce(x))
    attempt(lambda: comm.all_reduce_async(x).wait())
    attempt(lambda: list(flow.fallbacks().values()))
    flow.set_option("fallback_is_error", 1)
    attempt(lambda: comm.all_reduce(x))
    attempt(lambda: comm.all_reduce_async(x).wait())


def swaps(rank):
    other = 1 - rank
    sent = comm.send_async(ones(100_000) * rank, other)
    attempt(lambda: comm.recv(ones(100_000), other).sum())
    sent.wait()
    begun = [comm.send_async(ones(2) * tag, other, tag=tag) for tag in range(3)]
    for tag in (2, 0, 1):
        attempt(lambda tag=tag: comm.recv(ones(2), other, tag=tag))
    attempt(lambda: [work.wait().tolist() for work in begun])
    sent = comm.send_async(ones() * rank, other)
    attempt(lambda: comm.recv(ones(), other))
    sent.wait()


def lists(rank):
    attempt(lambda: comm.all_reduce([ones(2), ones(2)]))
    attempt(lambda: comm.all_gather([[1.0, rank]]))


def secrets(rank):
    attempt(lambda: comm.all_reduce(ones(3)))


def twice(rank):
    comm.init()
    attempt(lambda: comm.init())
    attempt(lambda: comm.all_reduce(ones(1)))
    comm.barrier()
    comm.finalize()
    attempt(lambda: comm.all_reduce(ones(1)))
    comm.finalize()


def forks(rank):
    comm.barrier()
    child = os.fork()
    if child == 0:
        attempt(lambda: comm.all_reduce(ones(1)))
        os._exit(0)
    os.waitpid(child, 0)
    attempt(lambda: comm.all_reduce(ones(1)))


def many(rank):
    works = [comm.all_reduce_async(ones(100) * i) for i in range(3000)]
    size = comm.world_size()
    attempt(lambda: all(work.wait()[0].item() == size * i for i, work in enumerate(works)))


def unfinished(rank):
    if rank == 1:
        begun = [comm.all_reduce_async(ones(100)) for _ in range(500)]
        begun[0].wait()
    else:
        attempt(lambda: [comm.all_reduce(ones(100)) for _ in range(500)][-1])


def interrupted(rank):
    comm.barrier()
    if rank == comm.world_size() - 1:
        time.sleep(1)
    else:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    attempt(lambda: comm.all_reduce(ones(3)))
    attempt(lambda: comm.all_reduce(ones(2)))


scenario = sys.argv[1]
globals()[scenario](int(os.environ["ONEFLOW_RANK"]))
