// Installations of the packages in dist/js, which `make package-js` makes, in temporary folders.

import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

import platform from '../lib/addon/platform.js';

export const root = fileURLToPath(new URL('../../../', import.meta.url));
export const packages = path.join(root, 'dist', 'js');
export const version = fs.readFileSync(path.join(root, 'VERSION'), 'utf8').trim();
export const platformPackage = `@oneflow-js/${platform.platformName()}`;

/** Makes a temporary folder, which is removed after the test. */
export function temporary(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oneflow-js-'));
  t.after(() => fs.rmSync(folder, {recursive: true}));
  return fs.realpathSync(folder);
}

/** Returns the path of the tarball of a package. */
export function tarball(name) {
  return path.join(packages, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
}

/** Installs packages into an empty project, without a network. Returns its folder. */
export function install(t, ...names) {
  const folder = temporary(t);
  fs.writeFileSync(path.join(folder, 'package.json'), '{"private": true}\n');
  execFileSync('npm', ['install', '--silent', '--offline', '--ignore-scripts', ...names.map(tarball)], {cwd: folder});
  return folder;
}

/** Runs Node.js in a folder, with an environment that does not lead into this checkout. Returns its output. */
export function run(folder, args, variables = {}) {
  const env = {...process.env, ...variables};
  for (const name of ['OF_BUILD', 'ONEFLOW_DEVICE_PATH', 'NODE_PATH', 'NODE_TEST_CONTEXT']) delete env[name];
  return execFileSync(process.execPath, args, {cwd: folder, env, encoding: 'utf8', timeout: 120_000});
}

/** Returns the first code block of the README, which is an ECMAScript module. */
export function firstExample() {
  const [, program] = fs.readFileSync(new URL('../README.md', import.meta.url), 'utf8').match(/```js\n(.*?)```/s);
  return program;
}

/** What the comments in the first example say. */
export const firstOutput = firstExample().match(/\/\/ ([[t].*)/g).map((comment) => comment.slice(3));
