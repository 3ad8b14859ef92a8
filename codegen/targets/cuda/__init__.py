"""The kernels of the CUDA backend: one source per record, compiled for each type that the record computes in."""

from __future__ import annotations

from codegen.grid import GridTarget


class Cuda(GridTarget):
    source_template = "kernels.cu.j2"
