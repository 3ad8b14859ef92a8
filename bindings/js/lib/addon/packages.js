'use strict';

/**
 * Where the native files are. An installed package has them in the package for the system, an optional dependency; a
 * checkout of the repository, whose package.json has no version, in the build folder: $OF_BUILD, or build/ if that is
 * not set.
 */

const fs = require('node:fs');
const {createRequire} = require('node:module');
const path = require('node:path');
const manifest = require('../../package.json');
const loading = require('./loading');

/** Loads what bundlers cannot see, from where this code runs. */
const load = createRequire(__filename);

/** Returns the package.json of a package and the folder that it is in; null if the package is not installed. */
function find(name) {
  try {
    const file = load.resolve(`${name}/package.json`);
    return {name, folder: path.dirname(file), description: JSON.parse(fs.readFileSync(file, 'utf8'))};
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return null;
    throw loading.damaged(name, error.message, error);
  }
}

/** Returns the package for this system as `find` does; throws if none is installed. */
function findPlatform() {
  const names = Object.keys(manifest.optionalDependencies);
  const system = `@${manifest.name}/${process.platform}-${process.arch}`;
  for (const name of names.filter((each) => each === system || each.startsWith(`${system}-`))) {
    const platform = find(name);
    if (platform !== null) return platform;
  }
  throw loading.missing(names);
}

const isCheckout = manifest.version === undefined;

/** Returns the folder of the native files in a checkout. */
function buildFolder() {
  return path.join(process.env.OF_BUILD ?? path.join(__dirname, '..', '..', '..', '..', 'build'), 'lib');
}

/** Returns the path of the program oneflow-run. */
function launcher() {
  return path.join(isCheckout ? buildFolder() : findPlatform().folder, 'oneflow-run');
}

module.exports = {load, find, findPlatform, isCheckout, buildFolder, launcher};
