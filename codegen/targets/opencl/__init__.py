"""The kernels of the OpenCL backend: C++ sources that contain the source of kernels, which the plugin compiles."""

from __future__ import annotations

from codegen.grid import GridTarget


class OpenCl(GridTarget):
    source_template = "program.cpp.j2"
