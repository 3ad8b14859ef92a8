"""Runs scenarios of comm.spawn, and prints a line of JSON for each outcome."""

import functools
import json
import os
import signal
import sys
import threading
import time

import oneflow_py as flow

comm = flow.comm


def attempt(name, call) -> None:
    """Prints the result of a call, or its error."""
    try:
        outcome = call()
    except flow.Error as error:
        cause = type(error.__cause__).__name__ if error.__cause__ else None
        outcome = {"class": type(error).__name__, "text": str(error), "cause": cause}
    print(json.dumps([name, outcome]), flush=True)


def values():
    assert comm.rank() == 0  # of a job of its own
    two = 2

    def function(x, options):
        places = [comm.rank(), comm.world_size(), comm.local_rank(), comm.local_world_size()]
        return {"sum": comm.all_reduce(x * two) + options["bias"], "places": places}

    x = flow.tensor([1, 2], dtype="float16")
    results = comm.spawn(function, 3, x, {"bias": flow.tensor(0.5, requires_grad=True)})
    for each in results:
        assert (each["sum"].dtype, each["sum"].device) == (x.dtype, x.device)
    return [[each["sum"].tolist(), each["places"]] for each in results]


def output():
    def function():
        print("out", comm.rank(), flush=True)
        print("err", comm.rank(), file=sys.stderr)

    return comm.spawn(function, 2)


def fails(end):
    """Returns a job whose rank 1 does something, while rank 0 waits for it, and rank 2 works."""

    def function():
        comm.barrier()
        if comm.rank() == 1:
            end()
        if comm.rank() == 0:
            comm.barrier()
        time.sleep(100)

    return lambda: comm.spawn(function, 3)


def unlucky():
    raise IndexError("no luck")


def nested():
    return comm.spawn(lambda: [comm.rank(), comm.spawn(lambda: comm.world_size(), 2)], 1)


def scenarios():
    attempt("values", values)
    attempt("output", output)
    attempt("raises", fails(unlucky))
    attempt("killed", fails(lambda: os.kill(os.getpid(), signal.SIGKILL)))
    attempt("exits", fails(lambda: os._exit(3)))
    attempt("leaves", lambda: comm.spawn(lambda: os._exit(0) if comm.rank() == 1 else None, 2))
    attempt("result", lambda: comm.spawn(threading.Lock, 1))
    attempt("arguments", lambda: comm.spawn(print, 1, threading.Lock()))
    attempt("function", lambda: comm.spawn(3, 1))
    for n in ("2", 1.5, True, None, 0, -1):
        attempt("n", functools.partial(comm.spawn, print, n))
    attempt("nested", nested)


def waits():
    def function():
        comm.barrier()
        print("ready", flush=True)
        time.sleep(100)

    comm.spawn(function, 2)


def wait_for_good():
    try:
        waits()
    except KeyboardInterrupt:
        print("interrupted", flush=True)


{"all": scenarios, "waits": wait_for_good}[sys.argv[1]]()
