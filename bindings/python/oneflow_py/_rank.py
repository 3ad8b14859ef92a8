"""What a process that comm.spawn has started does: it calls a function as a rank of a job."""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import signal
import sys
import time
import traceback
from typing import IO, Any, NamedTuple

from oneflow_py._native import TypeMismatch

pickling: Any = pickle
with contextlib.suppress(ImportError):
    pickling = importlib.import_module("cloudpickle")  # which has no types

# The program of a process. Its arguments are the descriptors of the file with the call, and of those for results.
PROGRAM = (
    "import pickle, sys; call = open(f'/proc/self/fd/{sys.argv[1]}', 'rb'); sys.path[:] = pickle.load(call); "
    "from oneflow_py._rank import run; run(call)"
)
# What the file of a rank begins with: a pickle of the result, or of the fields of Failed, follows.
RESULT, FAILURE = b"+", b"-"


class Failed(NamedTuple):
    """How a rank has failed."""

    time: int  # of the clock that all processes of a host share
    summary: str
    trace: str
    error: bytes | None  # the exception, if it can be pickled


def run(call: IO[bytes]) -> None:
    """Calls the function that a file has behind the search path of modules, and writes what it returns."""
    rank = int(os.environ["ONEFLOW_RANK"])
    results = [int(each) for each in sys.argv[2:]]
    sys.argv[1:] = []
    for other in {*results} - {results[rank]}:
        os.close(other)
    os.set_inheritable(results[rank], False)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the caller says that it was interrupted
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)  # type: ignore[union-attr]
    with open(results[rank], "wb") as file:
        try:
            function, args = pickle.load(call)
            _write(function(*args), file)
        except BaseException as error:
            _write_failure(error, file)
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            # At once, so that the others are ended.
            os._exit(1)


def _write(result: Any, file: IO[bytes]) -> None:
    file.write(RESULT)
    try:
        pickling.dump(result, file)
        file.flush()
    except Exception as error:
        text = f"comm.spawn: the result, of type {type(result).__name__}, cannot be pickled: {error}"
        raise TypeMismatch(text) from error


def _write_failure(error: BaseException, file: IO[bytes]) -> None:
    now = time.monotonic_ns()
    if error.__traceback__:
        error = error.with_traceback(error.__traceback__.tb_next)
    summary = "".join(traceback.format_exception_only(error)).strip()
    trace = "".join(traceback.format_exception(error)).rstrip()
    try:
        pickled = pickling.dumps(error)
        pickle.loads(pickled)
    except Exception:
        pickled = None
    file.seek(0)
    file.truncate()
    file.write(FAILURE)
    pickle.dump(tuple(Failed(now, summary, trace, pickled)), file)
    file.flush()
