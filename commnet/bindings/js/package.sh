#!/usr/bin/env bash
# Makes commnet-<version>.tgz with the addon and libcommnet, so that users can install it without a compiler. With
# --test, also installs it into an empty project, and runs a program there.
# Usage: ADDON=<commnet.node> LIBRARY=<libcommnet.so.0> STAGE=<work folder> DIST=<output folder> package.sh [--test]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$STAGE"
mkdir -p "$STAGE/content/native" "$DIST"

cd "$STAGE/content"
cp -r "$here/lib" "$here/index.d.ts" "$here/README.md" "$here"/../../{LICENSE,THIRD_PARTY.md} .
cp "$ADDON" native/commnet.node
cp -L "$LIBRARY" native/
strip --strip-unneeded native/*
node - "$here/package.json" package.json <<'SCRIPT'
const fs = require('node:fs');
const [from, to] = process.argv.slice(2);
const {devDependencies, scripts, ...description} = JSON.parse(fs.readFileSync(from, 'utf8'));
description.cpu = [process.arch];
if (process.report.getReport().header.glibcVersionRuntime) description.libc = ['glibc'];
fs.writeFileSync(to, `${JSON.stringify(description, null, 2)}\n`);
SCRIPT
package=$DIST/$(npm pack --silent --pack-destination "$DIST")
echo "$package"

if [ "${1:-}" = --test ]; then
  mkdir "$STAGE/project"
  cd "$STAGE/project"
  npm install --silent --offline --no-audit --no-fund --prefix . "$package"
  unset COMMNET_NODE_ADDON NODE_PATH
  cat > program.mjs <<'PROGRAM'
import fs from 'node:fs';
import {Endpoint, version} from 'commnet';
const a = new Endpoint();
const b = new Endpoint();
const peer = await a.connect(b.address);
const bytes = await peer.read(b.register(Buffer.from('works')).token());
const maps = fs.readFileSync('/proc/self/maps', 'utf8');
const [library] = maps.match(/\S*libcommnet\S*/);
if (!library.includes('/project/node_modules/')) throw new Error(`loaded ${library}`);
if (maps.includes('libsodium')) throw new Error('libsodium was loaded');
console.log(`commnet ${version} ${bytes}`);
a.close();
b.close();
PROGRAM
  node program.mjs
fi
