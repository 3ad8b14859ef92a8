#!/usr/bin/env bash
# Makes oneflow-js-<version>.tgz with the addon and the shared libraries that it needs, so that users can install it
# without a compiler. Usage: BUILD=<build folder> DIST=<output folder> package.sh
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
stage=$BUILD/js-package
rm -rf "$stage"
mkdir -p "$stage/native" "$stage/generated" "$DIST"

cp "$here/README.md" "$here/../../LICENSE" "$stage/"
cp -r "$here/lib" "$stage/"
cp "$here"/generated/{functions.js,index.mjs,index.d.ts,index.d.mts} "$stage/generated/"
cp "$BUILD/lib/oneflow.node" "$stage/native/"
# liboneflow and the libraries it depends on, which CMake copied next to it, under the names that the loader searches.
for library in "$BUILD"/lib/lib*.so.?; do
  cp -L "$library" "$stage/native/"
done
cp "$BUILD/lib/liboneflow_onnx.so" "$BUILD/lib/oneflow-probe" "$stage/native/"
if [ -d "$BUILD/lib/oneflow_devices" ]; then
  cp -r "$BUILD/lib/oneflow_devices" "$stage/native/"
fi
find "$stage/native" -type f -exec strip --strip-unneeded {} +

node - "$here/package.json" "$stage/package.json" <<'SCRIPT'
const fs = require('node:fs');
const [from, to] = process.argv.slice(2);
const {devDependencies, scripts, ...description} = JSON.parse(fs.readFileSync(from, 'utf8'));
description.os = [process.platform];
description.cpu = [process.arch];
if (process.report.getReport().header.glibcVersionRuntime) description.libc = ['glibc'];
fs.writeFileSync(to, JSON.stringify(description, null, 2) + '\n');
SCRIPT

cd "$stage"
npm pack --silent --pack-destination "$DIST"
