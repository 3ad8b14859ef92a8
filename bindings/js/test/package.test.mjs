// The packages that users install: what they contain, and that they run, also bundled, without this checkout.

import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {symbols} from 'node-api-headers';
import webpack from 'webpack';

import {
  firstExample, firstOutput, install, packages, platformPackage, root, run, tarball, temporary, version,
} from './installation.mjs';

const build = process.env.OF_BUILD ?? path.join(root, 'build');
const here = fileURLToPath(new URL('..', import.meta.url));
const limits = JSON.parse(fs.readFileSync(path.join(root, 'tests', 'limits.json'), 'utf8'));
const model = path.join(root, 'tests', 'data', 'onnx', 'layer.onnx');
const payload = (...names) => fs.readdirSync(path.join(build, 'payload', ...names)).sort();
const plugins = payload('devices').map((device) => `${platformPackage}-${device}`);
const tool = (name) => path.join(here, 'node_modules', '.bin', name);

/** Returns the names of the files in a package, and its package.json. */
function read(name) {
  const listing = execFileSync('tar', ['-tzf', tarball(name)], {encoding: 'utf8'});
  const files = listing.trim().split('\n').map((file) => file.replace('package/', '')).sort();
  const description = execFileSync('tar', ['-xzOf', tarball(name), 'package/package.json'], {encoding: 'utf8'});
  return {files, description: JSON.parse(description)};
}

test('each package has its files, the same version, and no install script', () => {
  const notices = payload('notices');
  const common = ['README.md', 'package.json', ...notices];
  const main = read('oneflow-js');
  assert.deepEqual(main.files.filter((file) => !/^(lib|generated|include)\//.test(file)), common.sort());
  const headers = main.files.filter((file) => file.startsWith('include/oneflow/'));
  const names = [...payload('include', 'oneflow'), 'napi.h'];
  assert.deepEqual(headers, names.map((name) => `include/oneflow/${name}`).sort());
  const others = main.files.filter((file) => !headers.includes(file));
  assert.deepEqual(others.filter((file) => !/\.(js|mjs|ts|mts|json|md)$/.test(file)), ['LICENSE']);
  assert.deepEqual(main.description.optionalDependencies, {[platformPackage]: version});
  assert.deepEqual(main.description.peerDependencies, Object.fromEntries(plugins.map((name) => [name, version])));
  for (const name of plugins) assert.equal(main.description.peerDependenciesMeta[name].optional, true);

  const platform = read(platformPackage);
  assert.deepEqual(platform.files, [...common, ...payload('runtime'), ...payload('js')].sort());
  const libraries = plugins.map((name, i) => {
    const {files, description} = read(name);
    assert.deepEqual(files, [...common, ...payload('devices', payload('devices')[i])].sort());
    return description;
  });
  for (const description of [platform.description, ...libraries]) {
    assert.deepEqual([description.os, description.cpu], [[process.platform], [process.arch]]);
    assert.deepEqual(description.libc, ['glibc']);
  }
  for (const description of [main.description, platform.description, ...libraries]) {
    assert.equal(description.version, version);
    assert.equal(description.scripts, undefined);
    for (const key of ['description', 'license', 'author', 'keywords', 'engines']) assert.ok(description[key], key);
  }
});

test('what everyone downloads is small', () => {
  const bytes = ['oneflow-js', platformPackage].map((name) => fs.statSync(tarball(name)).size);
  assert.ok(bytes[0] + bytes[1] <= limits.package_bytes, `${bytes} bytes`);
});

test('the addon needs only functions of a stable version of Node-API', () => {
  const addon = path.join(build, 'payload', 'js', payload('js')[0]);
  const needed = execFileSync('nm', ['-D', '--undefined-only', addon], {encoding: 'utf8'});
  const {js_native_api_symbols: language, node_api_symbols: runtime} = symbols.v9;
  const stable = new Set([...language, ...runtime]);
  const names = needed.match(/\bn(?:ode_)?api_\w+/g);
  assert.ok(names.length > 20);
  assert.deepEqual(names.filter((name) => !stable.has(name)), []);
});

test('two builds of the packages are the same bytes', (t) => {
  const folder = temporary(t);
  execFileSync(process.execPath, [path.join(here, 'package.mjs')], {env: {...process.env, BUILD: build, DIST: folder}});
  assert.deepEqual(fs.readdirSync(folder), fs.readdirSync(packages));
  for (const name of fs.readdirSync(folder)) {
    assert.ok(fs.readFileSync(path.join(folder, name)).equals(fs.readFileSync(path.join(packages, name))), name);
  }
});

test('publint and attw find nothing', () => {
  const checks = [['publint', '--strict'], ['attw', '--no-color']];
  for (const [name, ...options] of checks) {
    execFileSync(tool(name), [...options, tarball('oneflow-js')], {stdio: 'pipe'});
  }
});

test('the package runs without a compiler and without this checkout', (t) => {
  const folder = install(t, 'oneflow-js', platformPackage);
  fs.writeFileSync(path.join(folder, 'first.mjs'), firstExample());
  assert.equal(run(folder, ['first.mjs']), `${firstOutput.join('\n')}\n`);

  const program = `
    const flow = require('oneflow-js');
    const fromOnnx = flow.onnx.load(process.argv[1]).run(flow.ones([1, 3])).toArray();
    const loaded = require('node:fs').readFileSync('/proc/self/maps', 'utf8');
    import('oneflow-js').then(({default: imported, matmul, ones}) => {
      const libraries = [...new Set(loaded.match(/\\S*liboneflow\\S*/g))];
      const sum = matmul(ones([3, 3]), ones([3, 3])).sum().item();
      console.log(JSON.stringify({same: imported === flow, sum, fromOnnx, libraries, devices: flow.devices()}));
    });`;
  const {libraries, ...found} = JSON.parse(run(folder, ['-e', program, model]));
  assert.deepEqual(found, {same: true, sum: 27, fromOnnx: [[9.5, 0]], devices: ['cpu:0']});
  const native = path.join(folder, 'node_modules', platformPackage);
  assert.ok(libraries.length >= 2);
  for (const library of libraries) assert.equal(path.dirname(library), native);
});

test('the command starts ranks, and ends with them', async (t) => {
  const folder = install(t, 'oneflow-js', platformPackage);
  const command = path.join(folder, 'node_modules', '.bin', 'oneflow-run');
  const ranks = (...args) => run(folder, [command, ...args]);
  assert.equal(ranks('--version'), `oneflow-run ${version}\n`);
  assert.deepEqual(ranks('-n', '2', 'sh', '-c', 'echo $ONEFLOW_RANK').split('\n').sort(), ['', '[0] 0', '[1] 1']);
  assert.throws(() => ranks('-n', '2', 'sh', '-c', 'exit 3'), {status: 3});

  // Signals reach the ranks, also when nothing of this process is left to pass them on.
  for (const signal of ['SIGTERM', 'SIGKILL']) {
    const program = 'trap "echo told; exit 0" TERM; echo ready; while :; do sleep 0.05; done';
    const child = spawn(command, ['-n', '1', 'sh', '-c', program], {stdio: ['ignore', 'pipe', 'inherit']});
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      if (output === '') child.kill(signal);
      output += text;
    });
    await once(child, 'close');
    assert.equal(output, 'ready\ntold\n', signal);
  }
});

test('the devices of an installed plugin are found', (t) => {
  const folder = install(t, 'oneflow-js', platformPackage, ...plugins);
  const program = `
    const flow = require('oneflow-js');
    console.log(JSON.stringify([flow.devices(), Object.keys(flow.rejectedPlugins())]));`;
  const [devices, rejected] = JSON.parse(run(folder, ['-e', program]));
  for (const name of plugins) {
    const device = name.slice(platformPackage.length + 1);
    const isFound = devices.some((each) => each.startsWith(`${device}:`));
    assert.ok(isFound || rejected.some((file) => file.includes(name)), `${name}: ${devices}, ${rejected}`);
  }
  assert.ok(devices.includes('opencl:0')); // that of PoCL, which apt.txt installs

  const workers = `
    const {Worker, isMainThread, parentPort} = require('node:worker_threads');
    const flow = require('oneflow-js');
    const step = () => flow.ones([4], {device: 'opencl:0'}).add(1).sum().item();
    if (isMainThread) {
      const all = Array.from({length: 4}, () => new Worker(__filename));
      let left = all.length;
      for (const worker of all) {
        worker.on('message', (sum) => console.log(sum));
        worker.on('exit', () => --left === 0 && console.log(step()));
      }
    } else {
      parentPort.postMessage(step());
    }`;
  fs.writeFileSync(path.join(folder, 'workers.cjs'), workers);
  assert.equal(run(folder, ['workers.cjs']), '8\n'.repeat(5));
});

/** Installs the packages into a folder with the first example, as server.mjs. */
function server(t) {
  const folder = install(t, 'oneflow-js', platformPackage);
  fs.writeFileSync(path.join(folder, 'server.mjs'), `export async function main() {\n${
    firstExample().replace(/^import .*$/m, '')}\n}\nimport flow from 'oneflow-js';\nmain();\n`);
  return folder;
}

test('bundles of esbuild run', (t) => {
  const folder = server(t);
  const formats = [['cjs', []], ['cjs', ['--external:oneflow-js']], ['esm', ['--external:oneflow-js']]];
  for (const [format, options] of formats) {
    const outfile = path.join(folder, 'bundle', `server.${format === 'cjs' ? 'cjs' : 'mjs'}`);
    const common = ['--bundle', '--minify', '--platform=node', '--log-level=warning', `--format=${format}`];
    const log = execFileSync(tool('esbuild'), ['server.mjs', ...common, ...options, `--outfile=${outfile}`],
      {cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});
    assert.equal(log, '');
    assert.equal(run(folder, [outfile]), `${firstOutput.join('\n')}\n`, `${format} ${options}`);
  }
});

test('a bundle of webpack runs', async (t) => {
  const context = server(t);
  const options = {context, mode: 'production', target: 'node', entry: './server.mjs', output: {path: context}};
  const compiler = webpack(options);
  const report = await promisify(compiler.run).call(compiler);
  assert.ok(!report.hasErrors() && !report.hasWarnings(), report.toString());
  assert.equal(run(context, ['main.js']), `${firstOutput.join('\n')}\n`);
});
