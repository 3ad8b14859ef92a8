"""`python -m codegen`: see `python -m codegen --help`."""

from __future__ import annotations

import sys

from codegen.command_line import main

sys.exit(main(sys.argv[1:]))
