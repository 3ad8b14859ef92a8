#!/usr/bin/env bash
# Builds a fuzzer in build-fuzz/. With ONEFLOW_VECTORS=all it checks pointers before each access, too.
#
# Usage: build_fuzzer.sh einsum|files|onnx
set -euo pipefail
cd "$(dirname "$0")/.."

build=build-fuzz
mkdir -p $build
cmake -S runtime/tests/fuzz -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=clang++-14 \
  -DONEFLOW_SANITIZE_POINTERS="$(tools/checks_pointers.sh)" -DONEFLOW_LIBRARY="${OF_BUILD:-$PWD/build}/lib/liboneflow.so" >$build.log 2>&1 ||
  { cat $build.log; exit 1; }
cmake --build $build --target "$1_fuzz"
