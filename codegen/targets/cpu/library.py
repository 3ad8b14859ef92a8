"""What is compiled into a library of operators for the CPU: the variants and the options of CMakeLists.txt there."""

from __future__ import annotations

import platform
from pathlib import Path

from codegen.target import Unit

FOLDER = "runtime/devices/cpu"
KERNELS = "cpu::find_library_kernel"

_COMMON = (
    "-O3", "-falign-functions=64", "-falign-loops=32", "-fopenmp-simd", "-fno-trapping-math", "-fno-math-errno",
    "-ffp-contract=off", "-fwrapv",
)  # fmt: skip
_BASELINE = ("-march=x86-64-v2", "-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic")
_X86: dict[str, tuple[str, ...]] = {
    "baseline": _BASELINE,
    "avx2": ("-march=haswell",),
    "avx512": ("-march=skylake-avx512", "-mprefer-vector-width=512"),
}


def library_units(root: Path) -> tuple[tuple[Unit, ...], tuple[str, ...], tuple[Path, ...], str]:
    """Returns the sources to compile, the folders with headers, what is linked, and what finds the kernels."""
    is_x86 = platform.machine() in ("x86_64", "AMD64")
    # SLEEF, which make build has made a static library of, computes functions such as exp() on vectors.
    sleef = root / "build" / "floor" / "libsleef.a"
    has_sleef = is_x86 and sleef.exists()
    defined = ("-DOF_X86_VARIANTS",) * is_x86
    units = [
        Unit(f"{FOLDER}/library/kernels.cpp", "cpu_kernels", ("-O2", *defined)),
        Unit(f"{FOLDER}/simd/isa.cpp", "cpu_isa", ("-O2", *defined)),
        Unit(f"{FOLDER}/plugin/environment.cpp", "cpu_environment", ("-O2",)),
        Unit(f"{FOLDER}/simd/vector_functions.cpp", "cpu_functions", ("-O2",)),
    ]
    for isa, options in (_X86 if is_x86 else {"baseline": ()}).items():
        own = (*_COMMON, *options, f"-DOF_ISA={isa}", *("-DOF_SLEEF",) * has_sleef)
        units.append(Unit(f"{FOLDER}/generated/library.cpp", f"cpu_{isa}", own))
        if has_sleef:
            units.append(Unit(f"{FOLDER}/simd/vector_functions_vectorised.cpp", f"cpu_functions_{isa}", own))
    return tuple(units), (FOLDER,), (sleef,) * has_sleef, KERNELS
