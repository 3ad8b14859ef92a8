"""Kernels of the OpenCL backend: C++ sources that hold the text of kernels, which the plugin compiles when it runs."""

from __future__ import annotations

from codegen.grid import GridTarget


class OpenCl(GridTarget):
    source_template = "program.cpp.j2"
