#!/usr/bin/env bash
# Builds the runtime with ThreadSanitizer in build-tsan/, and runs its unit tests. Any report is a failure: of a data race,
# or of mutexes that are locked in different orders.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build-tsan
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DONEFLOW_BUILD_BINDINGS=OFF \
  -DONEFLOW_SANITIZE=thread >$build.log 2>&1 || { cat $build.log; exit 1; }
cmake --build $build --target runtime_tests device_tests
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
ctest --test-dir $build --verbose --no-tests=error --parallel "$(nproc)" --tests-regex '^(runtime|device)_tests_'
