"""Jobs that a running program starts, such as a notebook."""

from __future__ import annotations

import codecs
import contextlib
import operator
import os
import pickle
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import IO, Any

from oneflow_py import _native as native
from oneflow_py._native import CommunicationError, InvalidArgument, TypeMismatch
from oneflow_py._rank import FAILURE, PROGRAM, RESULT, Failed, pickling
from oneflow_py._run import find
from oneflow_py.modes import check_callable

_CALLER = "comm.spawn"


def spawn(function: Callable[..., Any], n: int, *args: Any) -> list[Any]:
    """Starts `n` processes on this host, calls a function in each, and returns the results in the order of the ranks.

    The processes are the ranks of a new job. The function is pickled: with the package cloudpickle, it may be one of a
    notebook, a lambda or a closure. If a rank fails, the others are ended, and CommunicationError says which, and has
    its error as the cause.
    """
    check_callable(_CALLER, function)
    count = _checked(n)
    with contextlib.ExitStack() as stack:
        # Files without a name: nothing is left of them, however the processes end.
        call, *results = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(count + 1))
        pickle.dump(sys.path, call)
        _write_call(function, args, call)
        reports, status = _run(count, [call, *results])
        if status != 0:
            raise _error(reports, status, results)
        return [_result(rank, file) for rank, file in enumerate(results)]


def _checked(n: Any) -> int:
    """Returns a number of ranks."""
    expected = f"{_CALLER}: n must be a positive int, got"
    try:
        count = None if isinstance(n, bool) else operator.index(n)
    except TypeError:
        count = None
    if count is None:
        raise TypeMismatch(f"{expected} {native._type_name(n)}")
    if count < 1:
        raise InvalidArgument(f"{expected} {count}")
    return count


def _write_call(function: Callable[..., Any], args: tuple[Any, ...], file: IO[bytes]) -> None:
    hint = "; pip install cloudpickle, which pickles functions of notebooks and lambdas" if pickling is pickle else ""
    if hint and getattr(function, "__module__", None) == "__main__":
        raise TypeMismatch(f"{_CALLER}: function must be one of a module, got one of __main__{hint}")
    try:
        pickling.dump((function, args), file)
    except Exception as error:
        raise TypeMismatch(f"{_CALLER}: the function or its arguments cannot be pickled: {error}{hint}") from error
    file.flush()


def _run(count: int, files: Sequence[IO[bytes]]) -> tuple[str, int]:
    """Runs a job to its end, and returns what the launcher says about the rank that has failed, and its status."""
    numbers = [each.fileno() for each in files]
    reader, writer = os.pipe()
    with open(reader, "rb", buffering=0) as reports:
        options = ["-n", count, "--grace", 0.5, "--end-with", os.getpid(), "--report", writer]
        command = [find(), *options, sys.executable, "-c", PROGRAM, *numbers]
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(
                [str(each) for each in command],
                stdin=subprocess.DEVNULL,
                stdout=pipe,
                stderr=pipe,
                pass_fds=[writer, *numbers],
            )
        finally:
            os.close(writer)
        with process:
            assert process.stdout
            assert process.stderr
            try:
                text = _relay(process.stdout, process.stderr, reports)
                return text, process.wait()
            except BaseException:
                # It ends the ranks before itself, and has nobody to write for.
                for stream in (process.stdout, process.stderr):
                    stream.close()
                process.terminate()
                raise


def _relay(out: IO[bytes], err: IO[bytes], reports: IO[bytes]) -> str:
    """Writes what ranks write until all have ended, and returns the reports of the launcher."""
    texts: list[str] = []
    with selectors.DefaultSelector() as selector:
        for source, name in ((out, "stdout"), (err, "stderr"), (reports, "")):
            selector.register(source, selectors.EVENT_READ, (name, codecs.getincrementaldecoder("utf-8")("replace")))
        while selector.get_map():
            for key, _ in selector.select():
                name, decoder = key.data
                chunk = os.read(key.fd, 1 << 16)
                text = decoder.decode(chunk, final=not chunk)
                if not chunk:
                    selector.unregister(key.fileobj)
                if not name:
                    texts.append(text)
                elif text:
                    # Looked up each time: notebooks and tests replace it.
                    stream = getattr(sys, name)
                    stream.write(text)
                    stream.flush()
    return "".join(texts)


def _error(reports: str, status: int, results: Sequence[IO[bytes]]) -> Exception:
    """Returns the error of a job that has failed: that of the rank that was first, as others may have failed by it."""
    number, _, text = reports.partition(" ")
    failures = {rank: failure for rank, file in enumerate(results) if (failure := _failure(file))}
    if number and int(number) not in failures:
        return CommunicationError(f"{_CALLER}: rank {number} {text.strip()} before the function returned")
    if not failures:
        return CommunicationError(f"{_CALLER}: oneflow-run ended with status {status}")
    rank, failure = min(failures.items(), key=lambda each: each[1].time)
    error = CommunicationError(f"{_CALLER}: rank {rank} raised {failure.summary}\n\n{failure.trace}")
    with contextlib.suppress(Exception):
        error.__cause__ = pickle.loads(failure.error) if failure.error else None
    return error


def _failure(file: IO[bytes]) -> Failed | None:
    """Returns the failure that a rank has written; None if it was ended before."""
    file.seek(0)
    try:
        return Failed(*pickle.load(file)) if file.read(1) == FAILURE else None
    except Exception:
        return None


def _result(rank: int, file: IO[bytes]) -> Any:
    file.seek(0)
    if file.read(1) != RESULT:
        raise CommunicationError(f"{_CALLER}: rank {rank} ended with exit status 0 before the function returned")
    try:
        return pickle.load(file)
    except Exception as error:
        raise CommunicationError(f"{_CALLER}: the result of rank {rank} cannot be unpickled: {error}") from error
