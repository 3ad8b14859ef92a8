#!/usr/bin/env bash
# Packs the tarball for C and C++: the shared library, headers, files for CMake and pkg-config, licences. The static library
# and each device plugin have tarballs of their own, to be unpacked over the first. The same input gives the same bytes.
#
# Usage: package_c.sh BUILD DIST
set -euo pipefail
shopt -s nullglob # there may be no plugin
cd "$(dirname "$0")/.."

build=$1
dist=$2
platform=linux-$(uname -m)-gnu
stage=$build/c-package
rm -rf "$stage" "$dist"
mkdir -p "$dist"

# Packs the folder $stage/<name>, whose content gets the top folder that all tarballs share.
top=oneflow-$(cat VERSION)
pack() {
  tar --create --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" \
    --directory "$stage/$1" "$top" | gzip --best --no-name >"$dist/$1.tar.gz"
}

base=$top-$platform
cmake --build "$build" --target oneflow_static >/dev/null
cmake --install "$build" --component Unspecified --prefix "$stage/$base/$top" --strip >/dev/null
cmake --install "$build" --component static --prefix "$stage/$base-static/$top" --strip >/dev/null
mkdir -p "$stage/$base/$top/share/doc/oneflow"
cp "$build"/payload/notices/* "$stage/$base/$top/share/doc/oneflow"
pack "$base"
pack "$base-static"
for plugin in "$build"/payload/devices/*; do
  name=$base-$(basename "$plugin")
  install -D -t "$stage/$name/$top/lib/oneflow_devices" "$plugin"/*
  pack "$name"
done
