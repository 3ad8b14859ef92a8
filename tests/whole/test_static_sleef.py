"""Tests that the static library of SLEEF's functions, which is made from the shared one, computes the same bits."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ARCHIVE = Path(os.environ.get("OF_BUILD", ROOT / "build")) / "floor" / "libsleef.a"
HEADER = ROOT / "runtime" / "devices" / "cpu" / "simd" / "vector_functions.h"

# Per instruction set: the flag of the processor, SLEEF's word for deterministic functions, bytes of a vector.
SETS = {"sse4": ("sse4_1", "cinz", 16), "avx2": ("avx2", "finz", 32), "avx512f": ("avx512f", "finz", 64)}
BINARY = {"pow", "atan2"}
OWN = {"fmod"}  # is not SLEEF's

PROGRAM = """
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
typedef {type} vector __attribute__((vector_size({bytes})));
typedef union {{ vector v; {integer} bits[{lanes}]; }} lanes;
{declarations}
static uint64_t state = 1;
static uint64_t number(void) {{
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state ^ (state >> 29);
}}
int main(int count, char** arguments) {{
  void* shared = dlopen(count > 1 ? arguments[1] : "", RTLD_NOW);
  if (!shared) return 2;
  static const struct {{ const char* name; void* function; int operands; }} functions[] = {{ {table} }};
  for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {{
    void* other = dlsym(shared, functions[i].name);
    if (!other) return 3;
    for (int round = 0; round < 4000; round++) {{
      lanes x, y, a, b;
      for (int k = 0; k < {lanes}; k++) {{
        x.bits[k] = ({integer})number();
        y.bits[k] = ({integer})number();
        // Every other vector holds numbers of everyday size, instead of bits of any meaning.
        if (round & 1) x.v[k] = ({type})((int64_t)number() % 100000) / 1000, y.v[k] = ({type})(number() % 1000) / 100;
      }}
      if (functions[i].operands == 1) {{
        a.v = ((vector (*)(vector))functions[i].function)(x.v);
        b.v = ((vector (*)(vector))other)(x.v);
      }} else {{
        a.v = ((vector (*)(vector, vector))functions[i].function)(x.v, y.v);
        b.v = ((vector (*)(vector, vector))other)(x.v, y.v);
      }}
      if (memcmp(&a, &b, sizeof(vector)) != 0) {{
        printf("%s differs\\n", functions[i].name);
        return 1;
      }}
    }}
  }}
  printf("%zu functions\\n", sizeof(functions) / sizeof(*functions));
  return 0;
}}
"""


def used_functions() -> list[tuple[str, str]]:
    """Returns the names and error bounds of the functions that the CPU backend calls."""
    found = re.findall(r"^  X\((\w+), (\d+)\)", HEADER.read_text(encoding="utf-8"), re.MULTILINE)
    return [pair for pair in found if pair[0] not in OWN]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="SLEEF is used on x86-64")
@pytest.mark.parametrize(("letter", "type_name"), [("f", "float"), ("d", "double")])
@pytest.mark.parametrize("instructions", SETS)
def test_functions_compute_the_same_bits(instructions: str, letter: str, type_name: str, tmp_path: Path) -> None:
    flag, word, size = SETS[instructions]
    if flag not in Path("/proc/cpuinfo").read_text(encoding="utf-8").split():
        pytest.skip(f"this processor has no {instructions}")
    lanes = size // (4 if letter == "f" else 8)
    names = {f"Sleef_{word}_{name}{letter}{lanes}_u{bound}{instructions}": name for name, bound in used_functions()}
    assert len(names) >= 24
    source = tmp_path / "compare.c"
    source.write_text(
        PROGRAM.format(
            type=type_name,
            integer="uint32_t" if letter == "f" else "uint64_t",
            bytes=size,
            lanes=lanes,
            declarations="\n".join(f"void {name}(void);" for name in names),
            table=", ".join(
                f'{{"{name}", (void*){name}, {2 if function in BINARY else 1}}}' for name, function in names.items()
            ),
        ),
        encoding="utf-8",
    )
    program = tmp_path / "compare"
    options = ["-O1", f"-m{instructions.replace('sse4', 'sse4.2')}"]
    subprocess.run(["cc", *options, source, ARCHIVE, "-ldl", "-lm", "-o", program], check=True)
    shared = subprocess.run(["cc", "-print-file-name=libsleef.so"], check=True, capture_output=True, text=True).stdout
    done = subprocess.run([program, shared.strip()], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, f"{len(names)} functions\n")
