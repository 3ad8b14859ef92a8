"""Prints scalar expressions in the dialect that OpenCL and CUDA share: with the functions of maths.h, and casts."""

from __future__ import annotations

from typing import ClassVar

from codegen.kernel_printer import KernelPrinter


class GridPrinter(KernelPrinter):
    """Prints scalar expressions for grid devices."""

    as_functions: ClassVar = {"<<": "shift_left", ">>": "shift_right"}
    words: ClassVar = {
        "bool_type": "OF_IS_BOOL(T)", "float_type": "OF_IS_FLOATING(T)", "lowest": "of_lowest_like((T)0)",
        "highest": "of_highest_like((T)0)", "last_index": "OF_LAST_INDEX",
    }  # fmt: skip
    # The names that kernels use themselves, and the keywords that OpenCL adds to C.
    taken = frozenset(
        "at base bytes coordinate count d data dim dtype end exists failed first fold gather indices input_at item "
        "items j kept_bits lane last later merge number offset op place positions random report rest result result_at "
        "results round S source space span split state step stride strides T tile turn u valid value values whole x y "
        "constant global half kernel local private read_only read_write sampler_t uchar uint ulong ushort "
        "write_only".split()
    )
    failed = "&failed"
    kept_bits = "kept_bits"

    def number(self, literal: str) -> str:
        return f"({self.value_type}){literal}"

    def cast(self, expression: str) -> str:
        return f"({self.value_type})({expression})"

    def call(self, function: str, arguments: list[str]) -> str:
        return f"of_{function}({', '.join(arguments)})"

    def draw(self, distribution: str, arguments: list[str]) -> str:
        return f"of_{distribution} OF_OF(T)({', '.join(['random', *arguments])})"
