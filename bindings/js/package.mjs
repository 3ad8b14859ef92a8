// Makes the npm packages: oneflow-js, which has no native code; the package with the native part for this system, its
// optional dependency; and one for each device plugin, its optional peer dependencies. Takes the names of further such
// packages, which other machines build, without the scope: linux-arm64-gnu linux-arm64-gnu-opencl.
//
// Usage: BUILD=<build folder> DIST=<output folder> node package.mjs [package ...]

import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import os from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const {BUILD, DIST, ONEFLOW_REPOSITORY: address} = process.env;
const here = fileURLToPath(new URL('.', import.meta.url));
const payload = path.join(BUILD, 'payload');
const stage = fs.mkdtempSync(path.join(os.tmpdir(), 'oneflow-js-'));

const {platformName} = createRequire(import.meta.url)('./lib/addon/platform.js');
// Tests of upgrades make packages of another version.
const version = process.env.ONEFLOW_VERSION ?? fs.readFileSync(path.join(here, '..', '..', 'VERSION'), 'utf8').trim();
const source = JSON.parse(fs.readFileSync(path.join(here, 'package.json'), 'utf8'));
delete source.devDependencies;
delete source.scripts;
// Where the project is, when a release is made: npm compares it with what signs the packages.
const links = address && {
  homepage: `${address}#readme`,
  repository: {type: 'git', url: `git+${address}.git`},
  bugs: {url: `${address}/issues`},
};
const platform = platformName();
const scoped = (name) => `@${source.name}/${name}`;

/** Returns the names in a folder; none if it does not exist. */
const namesIn = (folder) => (fs.existsSync(folder) ? fs.readdirSync(folder).sort() : []);
const devices = namesIn(path.join(payload, 'devices'));
const all = [platform, ...devices.map((device) => `${platform}-${device}`), ...process.argv.slice(2)].sort();
const isPlatform = (name) => /^[^-]+-[^-]+(-gnu|-musl)?$/.test(name);

/** Copies files, or the contents of a folder, into a folder of a package. Their modes do not depend on the machine. */
function copy(from, to) {
  if (fs.statSync(from).isDirectory()) {
    for (const name of namesIn(from)) copy(path.join(from, name), path.join(to, name));
    return;
  }
  fs.mkdirSync(path.dirname(to), {recursive: true});
  fs.copyFileSync(from, to);
  fs.chmodSync(to, fs.statSync(from).mode & 0o111 ? 0o755 : 0o644);
}

/** Completes the folder of a package. */
function complete(folder, description, readme) {
  copy(path.join(payload, 'notices'), folder);
  fs.writeFileSync(path.join(folder, 'README.md'), readme);
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(description, null, 2)}\n`);
}

/** Returns what the package.json of a package with native files has in addition to its name. */
function native(description) {
  const {license, author, engines, keywords} = source;
  const [system, cpu, libc] = platform.split('-');
  return {
    version, ...description, ...links, keywords, license, author, engines,
    os: [system], cpu: [cpu], ...(libc && {libc: [libc === 'gnu' ? 'glibc' : libc]}),
    preferUnplugged: true,
    publishConfig: {access: 'public'},
  };
}

function makeMain() {
  const folder = path.join(stage, source.name);
  for (const name of source.files) copy(path.join(here, name), path.join(folder, name));
  // What compiles extensions: headers of the C API, and that of this package.
  for (const from of [payload, here]) copy(path.join(from, 'include'), path.join(folder, 'include'));
  const plugins = all.filter((name) => !isPlatform(name));
  const list = (names, value) => Object.fromEntries(names.map((name) => [scoped(name), value]));
  const dependencies = {
    optionalDependencies: list(all.filter(isPlatform), version),
    ...(plugins.length > 0 && {
      peerDependencies: list(plugins, version),
      peerDependenciesMeta: list(plugins, {optional: true}),
    }),
  };
  const {name, ...others} = source;
  const files = [...source.files, 'include/', ...namesIn(path.join(payload, 'notices'))];
  const readme = fs.readFileSync(path.join(here, 'README.md'), 'utf8');
  complete(folder, {name, version, ...others, ...links, files, ...dependencies}, readme);
}

function makePlatform() {
  const name = scoped(platform);
  const folder = path.join(stage, platform);
  copy(path.join(payload, 'js'), folder);
  copy(path.join(payload, 'runtime'), folder);
  const purpose = `The native part of ${source.name} for ${platform}`;
  const description = native({
    name,
    description: purpose,
    main: namesIn(path.join(payload, 'js'))[0],
    // lib/addon/native.js compares them before it loads the addon.
    sizes: Object.fromEntries(namesIn(folder).map((file) => [file, fs.statSync(path.join(folder, file)).size])),
  });
  complete(folder, description, `# ${name}\n\n${purpose}. \`npm install ${source.name}\` brings it.\n`);
}

function makeDevice(device) {
  const name = scoped(`${platform}-${device}`);
  const folder = path.join(stage, `${platform}-${device}`);
  const from = path.join(payload, 'devices', device);
  copy(from, folder);
  const purpose = `The ${device} devices of ${source.name} for ${platform}`;
  const description = native({name, description: purpose, main: namesIn(from)[0]});
  complete(folder, description, `# ${name}\n\n${purpose}: \`npm install ${source.name} ${name}\`.\n`);
}

try {
  makeMain();
  makePlatform();
  devices.forEach(makeDevice);
  fs.rmSync(DIST, {recursive: true, force: true});
  fs.mkdirSync(DIST, {recursive: true});
  const folders = namesIn(stage).map((name) => `./${name}`);
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', DIST, ...folders], {cwd: stage});
} finally {
  fs.rmSync(stage, {recursive: true});
}
