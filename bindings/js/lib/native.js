'use strict';

/**
 * The addon: in a package it lies in native/, in a source tree where CMake puts it. $OF_BUILD names the build folder
 * when it is not build/.
 */

const fs = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..');
const build = process.env.OF_BUILD ?? path.join(root, '..', '..', 'build');
const candidates = [path.join(root, 'native', 'oneflow.node'), path.join(build, 'lib', 'oneflow.node')];
const found = candidates.find((file) => fs.existsSync(file));
if (found === undefined) {
  throw new Error(`oneflow-js: the addon is missing; looked for ${candidates.join(' and ')}`);
}

module.exports = require(found);
