#!/bin/bash
# Compiles and runs calls.c, which measures the cost of a call from C.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
build=${OF_BUILD:-$root/build}
mkdir -p "$build/benchmarks/c"
cc -O2 -Wall -Wextra -I"$root/runtime/include" -I"$root/runtime/generated/include" calls.c -L"$build/lib" -loneflow \
  -Wl,-rpath,"$build/lib" -o "$build/benchmarks/c/calls"
"$build/benchmarks/c/calls"
