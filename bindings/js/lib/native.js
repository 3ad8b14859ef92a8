'use strict';

/**
 * The addon. An installed package has it in native/, a source tree in the build folder: $OF_BUILD, or build/ if that is
 * not set.
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
