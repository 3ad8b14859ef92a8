#!/usr/bin/env bash
# Collects what the packages of all languages contain, stripped: the runtime and the extensions of the front ends, which
# CMake installs, the device plugins, a folder each, and the licences.
#
# Usage: payload.sh BUILD INTO
set -euo pipefail
shopt -s nullglob # there may be no plugin
cd "$(dirname "$0")/.."

build=$1
into=$2
rm -rf "$into"
cmake --install "$build" --component payload --prefix "$into" --strip >/dev/null
mkdir -p "$into/devices" "$into/notices"
for plugin in "$build"/lib/oneflow_devices/*.so; do
  name=$(basename "$plugin" .so)
  mkdir "$into/devices/$name"
  strip --strip-unneeded -o "$into/devices/$name/$name.so" "$plugin"
done
cp LICENSE "$into/notices"
"${PYTHON:-.venv/bin/python}" -m tools.release.notices --into "$into/notices/THIRD_PARTY_NOTICES.md"
