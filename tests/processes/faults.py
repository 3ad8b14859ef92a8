"""Runs a scenario of something that goes wrong as one rank of a job, and prints a line of JSON for each outcome."""

import json
import os
import signal
import sys
import threading
import time

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
    return flow.ones(shape)


def killed(rank):
    comm.barrier()
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    attempt(lambda: comm.all_reduce(ones(3)))
    attempt(lambda: comm.all_reduce(ones(3)))
    attempt(lambda: comm.all_reduce(ones(3), group=comm.Group([0, 2])))


def stopped(rank):
    comm.init(timeout=2)
    comm.barrier()
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
    works = [comm.all_reduce_async(flow.full([100], float(i))) for i in range(3000)]
    attempt(lambda: all(work.wait()[0].item() == 3 * i for i, work in enumerate(works)))


def interrupted(rank):
    comm.barrier()
    if rank == 0:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        time.sleep(1)
    attempt(lambda: comm.all_reduce(ones(3)))
    attempt(lambda: comm.all_reduce(ones(2)))


scenario = sys.argv[1]
globals()[scenario](int(os.environ["ONEFLOW_RANK"]))
