'use strict';

/** The addon. */

const fs = require('node:fs');
const path = require('node:path');
const manifest = require('../../package.json');
const loading = require('./loading');
const {load, find, findPlatform, isCheckout, buildFolder} = require('./packages');

/** The version of Node-API that the addon is compiled for. */
const NODE_API = 9;

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
  const platform = findPlatform();
  const addon = loadFrom(platform);
  addDevices(addon, platform);
  return addon;
}

function loadBuild() {
  const file = path.join(buildFolder(), 'oneflow.node');
  if (fs.existsSync(file)) return load(file);
  throw loading.loadError('MISSING_PACKAGE', `the addon ${file} is missing.`, 'Run `make build` in the checkout.');
}

if (Number(process.versions.napi) < NODE_API) throw loading.oldNode();
module.exports = isCheckout ? loadBuild() : loadPackage();
