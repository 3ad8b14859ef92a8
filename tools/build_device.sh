#!/usr/bin/env bash
# Builds the backend in runtime/devices/<name> as its author would elsewhere: a project of its own that knows oneflow by what
# `cmake --install` puts into build/installed-headers. The plugin lands where liboneflow looks for plugins.
set -euo pipefail
cd "$(dirname "$0")/.."

name=$1
shift
build=build/devices/$name
headers=$PWD/build/installed-headers
cmake --install build --prefix "$headers" >/dev/null
[ -f $build/build.ninja ] || cmake -S "runtime/devices/$name" -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$headers" -DCMAKE_LIBRARY_OUTPUT_DIRECTORY="$PWD/build/lib/oneflow_devices" "$@" \
  >build/configure-$name.log 2>&1 || { cat build/configure-$name.log; exit 1; }
cmake --build $build
