"""The entry point of `python -m codegen`; `python -m codegen --help` lists the commands."""

from __future__ import annotations

import io
import os
import sys

from codegen.command_line import main

if isinstance(sys.stdout, io.TextIOWrapper):
    sys.stdout.reconfigure(errors="backslashreplace")  # escapes what the terminal cannot encode
try:
    status = main(sys.argv[1:])
    sys.stdout.flush()
except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    status = 1
sys.exit(status)
