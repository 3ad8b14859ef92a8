#!/usr/bin/env bash
# Compiles the runtime for arm64 in build-arm64/, and replays the conformance vectors of the C API on an emulated
# processor, on the CPU device alone. Without precompiled headers: a file that lacks an #include fails here.
#
# Usage: test.sh [VECTORS...], files of tests/generated/vectors; all by default
set -euo pipefail
cd "$(dirname "$0")/../.."

unset ONEFLOW_DEVICE_PATH
build=$PWD/build-arm64
system=$build/system
tools/install_packages.sh tools/arm64/apt.txt

# The libraries for arm64 are unpacked, not installed: this system stays one of a single architecture.
if [ ! -f "$system/.complete" ]; then
  mkdir -p "$build/lists/partial" "$build/packages"
  apt=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::lists="$build/lists"
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root)
  apt-get "${apt[@]}" update
  libraries=(libgtest-dev libprotozero-dev libutf8proc-dev nlohmann-json3-dev zlib1g-dev)
  (cd "$build/packages" && apt-get "${apt[@]}" download "${libraries[@]}")
  for package in "$build"/packages/*.deb; do dpkg-deb --extract "$package" "$system"; done
  touch "$system/.complete"
fi

cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DONEFLOW_BUILD_BINDINGS=OFF \
  -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
  -DCMAKE_CROSSCOMPILING_EMULATOR="qemu-aarch64-static;-L;/usr/aarch64-linux-gnu" \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
  -DCMAKE_FIND_ROOT_PATH="$system" -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY \
  -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY \
  >"$build/configure.log" 2>&1 || { cat "$build/configure.log"; exit 1; }
cmake --build "$build" --target capi_replay

if [ $# -eq 0 ]; then
  set -- tests/generated/vectors/*.json
fi
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 8 \
  qemu-aarch64-static -L /usr/aarch64-linux-gnu "$build/bin/capi_replay" tests/devices.json \
  | awk '{ print } / cases$/ { passed += $(NF - 3); all += $(NF - 1) } END { printf "%d passed\n%d failed\n", passed, all - passed }'
