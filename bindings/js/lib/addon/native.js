'use strict';

/**
 * The addon. An installed package has it in the package for the system, an optional dependency; a checkout of the
 * repository, whose package.json has no version, in the build folder: $OF_BUILD, or build/ if that is not set.
 */

const fs = require('node:fs');
const {createRequire} = require('node:module');
const path = require('node:path');
const manifest = require('../../package.json');
const loading = require('./loading');

/** Loads what bundlers cannot see, from where this code runs. */
const load = createRequire(__filename);

/** The version of Node-API that the addon is compiled for. */
const NODE_API = 9;

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

/**
 * Loads the addon of a package. Its package.json lists the sizes of its files: the loader of the system would crash on
 * a truncated one.
 */
function loadFrom({name, folder, description}) {
  if (description.version !== manifest.version) throw loading.otherVersion(name, description.version);
  for (const [file, bytes] of Object.entries(description.sizes)) {
    const size = fs.statSync(path.join(folder, file), {throwIfNoEntry: false})?.size;
    if (size === undefined) throw loading.damaged(name, `${file} is missing.`);
    if (size !== bytes) throw loading.damaged(name, `${file} has ${size} instead of ${bytes} bytes.`);
  }
  let addon;
  try {
    addon = load(path.join(folder, description.main));
  } catch (error) {
    throw loading.refused(name, folder, error);
  }
  if (addon.version() !== manifest.version) throw loading.otherRuntime(addon.version(), addon.libraryPath());
  return addon;
}

/** Makes the runtime find the devices of the installed packages that have one each. */
function addDevices(addon, platform) {
  for (const name of Object.keys(manifest.peerDependencies ?? {})) {
    const plugin = name.startsWith(`${platform.name}-`) ? find(name) : null;
    if (plugin === null) continue;
    const failure = addon.addDevicePath(path.join(plugin.folder, plugin.description.main));
    if (failure !== null) process.emitWarning(`${name} is not used: ${failure}`, 'OneFlowWarning');
  }
}

function loadPackage() {
  const names = Object.keys(manifest.optionalDependencies);
  const system = `@${manifest.name}/${process.platform}-${process.arch}`;
  for (const name of names.filter((each) => each === system || each.startsWith(`${system}-`))) {
    const platform = find(name);
    if (platform === null) continue;
    const addon = loadFrom(platform);
    addDevices(addon, platform);
    return addon;
  }
  throw loading.missing(names);
}

function loadBuild() {
  const build = process.env.OF_BUILD ?? path.join(__dirname, '..', '..', '..', '..', 'build');
  const file = path.join(build, 'lib', 'oneflow.node');
  if (fs.existsSync(file)) return load(file);
  throw loading.loadError('MISSING_PACKAGE', `the addon ${file} is missing.`, 'Run `make build` in the checkout.');
}

if (Number(process.versions.napi) < NODE_API) throw loading.oldNode();
module.exports = manifest.version === undefined ? loadBuild() : loadPackage();
