#!/usr/bin/env bash
# Builds the runtime with AddressSanitizer and UndefinedBehaviorSanitizer in build-sanitized/, and runs its unit tests, and
# conformance vectors and invalid input through the C API. Any sanitizer report is a failure. With ONEFLOW_VECTORS=all it
# replays all vectors instead of a sample, and checks pointers before each access.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build-sanitized
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DONEFLOW_BUILD_BINDINGS=OFF -DONEFLOW_SANITIZE=address,undefined \
  -DONEFLOW_SANITIZE_POINTERS="$(tools/checks_pointers.sh)" >$build.log 2>&1 || { cat $build.log; exit 1; }
cmake --build $build --target tests
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
ctest --test-dir $build --verbose --no-tests=error --parallel "$(nproc)"
plugins=$PWD/$build/test_plugins
ONEFLOW_VECTORS=${ONEFLOW_VECTORS:-0/8} ONEFLOW_DEVICE_PATH=$plugins/far.so:$plugins/accel.so OF_BUILD=$PWD/$build \
  "${PYTHON:-.venv/bin/python}" -m pytest tests/capi/test_programs.py
