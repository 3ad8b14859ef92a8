#!/usr/bin/env bash
# Builds the backend in runtime/devices/<name> as a project of its own, as an author of a plugin outside this repository would:
# it sees only the headers that `cmake --install` puts into build/installed-headers. The plugin is written to the folder where
# liboneflow looks for plugins.
#
# Usage: build_device.sh NAME [CMAKE-OPTION...]
set -euo pipefail
cd "$(dirname "$0")/.."

name=$1
shift
build=build/devices/$name
headers=$PWD/build/installed-headers
cmake --install build --prefix "$headers" >/dev/null
if [ "$(cat $build/.options 2>/dev/null)" != "$*" ] || [ ! -f $build/build.ninja ]; then
  LDFLAGS="$(cat build/floor/flags) -Wl,--version-script=$PWD/cmake/no_cpp.map" \
    cmake -S "runtime/devices/$name" -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$headers" \
    -DCMAKE_{C,CXX,CUDA}_COMPILER_LAUNCHER=ccache \
    -DCMAKE_LIBRARY_OUTPUT_DIRECTORY="$PWD/build/lib/oneflow_devices" "$@" >build/configure-$name.log 2>&1 \
    || { cat build/configure-$name.log; exit 1; }
  echo "$*" >$build/.options
fi
cmake --build $build
