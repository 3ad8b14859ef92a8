'use strict';

/**
 * The addon. An installed package has it in native/; a source tree in the build folder, or where $COMMNET_NODE_ADDON
 * says.
 */

const fs = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..');
const candidates = [
  path.join(root, 'native', 'commnet.node'),
  path.join(root, '..', '..', 'build', 'bindings', 'js', 'commnet.node'),
];
const found = process.env.COMMNET_NODE_ADDON ?? candidates.find((file) => fs.existsSync(file));
if (found === undefined) throw new Error(`commnet: the addon is missing; looked for ${candidates.join(' and ')}`);

module.exports = require(path.resolve(found));
