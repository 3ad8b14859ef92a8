'use strict';

/** The errors of a native part that cannot be loaded. Each says what was found, why it fails, and what to do. */

const fs = require('node:fs');
const path = require('node:path');
const manifest = require('../../package.json');
const {glibcVersion, platformName, describeSystem} = require('./platform');

const FROM_SOURCE = 'To build it for this system, run `make package-js` in a checkout of the repository, and then ' +
  '`npm install <checkout>/dist/js/*.tgz` in your project.';

const install = (...names) => `npm install ${names.map((name) => `${name}@${manifest.version}`).join(' ')}`;

/** Makes an error with this code, the cause and the way out. */
function loadError(code, cause, fix, original) {
  const name = [manifest.name, manifest.version].filter(Boolean).join(' ');
  const error = new Error(`${name} cannot be loaded: ${cause}\nThis is ${describeSystem()}.\n${fix}`);
  error.code = `ONEFLOW_${code}`;
  if (original !== undefined) error.cause = original;
  return error;
}

/** Makes the error for a Node.js without the version of Node-API that the addon needs. */
function oldNode() {
  const found = `Node.js ${process.version} has version ${process.versions.napi} of Node-API`;
  return loadError('OLD_NODE', `${found}.`, `Install Node.js ${manifest.engines.node}.`);
}

/** Makes the error for a system for which no package of `names` is installed. */
function missing(names) {
  const wanted = names.find((name) => name.endsWith(`/${platformName()}`));
  if (wanted === undefined) {
    const others = names.map((name) => path.basename(name)).join(', ');
    const cause = `there is no binary for ${platformName()}, only for ${others}.`;
    return loadError('UNSUPPORTED_PLATFORM', cause, FROM_SOURCE);
  }
  const fix = [
    'npm leaves it out with --omit=optional or --no-optional, and when package-lock.json or node_modules come from ' +
      'another system. Either of these brings it:',
    `  ${install(wanted)}`,
    '  rm -rf node_modules package-lock.json && npm install',
  ];
  return loadError('MISSING_PACKAGE', `the package ${wanted} is not installed.`, fix.join('\n'));
}

/** Makes the error for a package of another version than this one. */
function otherVersion(name, version) {
  const cause = `the package ${name} has version ${version}; both must have the same.`;
  return loadError('VERSION_MISMATCH', cause, `Run: ${install(manifest.name, name)}`);
}

/** Makes the error for a runtime of another version, which something else in the process has loaded before. */
function otherRuntime(version, file, original) {
  const cause = `the process has already loaded ${file}, liboneflow ${version}.`;
  const fix = 'Load only one version of oneflow in a process: `npm ls oneflow-js` lists those of npm.';
  return loadError('VERSION_MISMATCH', cause, fix, original);
}

/** Makes the error for a file of a package that is not what was published. */
function damaged(name, cause, original) {
  const fix = `Install it again: rm -rf node_modules/${name} && ${install(name)}`;
  return loadError('DAMAGED_PACKAGE', `the package ${name} is damaged: ${cause}`, fix, original);
}

/** Returns the path of a liboneflow in this process that is not in `folder`; undefined if there is none. */
function foreignRuntime(folder) {
  if (process.platform !== 'linux') return undefined;
  const maps = fs.readFileSync('/proc/self/maps', 'utf8');
  return (maps.match(/\/.*\/liboneflow\.so.*/g) ?? []).find((file) => path.dirname(file) !== folder);
}

/** Makes the error for an addon that the system's loader refuses with `original`. */
function refused(name, folder, original) {
  if (!path.basename(name).startsWith(platformName())) return missing([name]);
  const [, needed] = original.message.match(/GLIBC_([\d.]+)' not found/) ?? [];
  if (needed !== undefined) {
    const cause = `it needs glibc ${needed} or later, and the system has ${glibcVersion()}.`;
    return loadError('OLD_LIBC', cause, FROM_SOURCE, original);
  }
  const foreign = foreignRuntime(folder);
  if (foreign !== undefined) return otherRuntime('of another version', foreign, original);
  return damaged(name, original.message, original);
}

module.exports = {loadError, oldNode, missing, otherVersion, otherRuntime, damaged, refused};
