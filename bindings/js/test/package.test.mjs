// The tarball that users install: it is complete, and independent of the source tree and of a compiler.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';

const here = fileURLToPath(new URL('..', import.meta.url));
const model = path.join(here, '..', '..', 'tests', 'data', 'onnx', 'layer.onnx');
const build = process.env.OF_BUILD ?? path.join(here, '..', '..', 'build');

test('the package installs and runs without a compiler', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oneflow-js-'));
  const run = (command, args, env) => execFileSync(command, args, {cwd: folder, encoding: 'utf8', env});
  try {
    execFileSync(path.join(here, 'package.sh'), {env: {...process.env, BUILD: build, DIST: folder}, stdio: 'pipe'});
    const [tarball] = fs.readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    fs.writeFileSync(path.join(folder, 'package.json'), '{"private": true}\n');
    run('npm', ['install', '--silent', '--offline', '--ignore-scripts', `./${tarball}`], process.env);

    const env = {...process.env};
    delete env.OF_BUILD; // it points into the source tree
    const program = `
      const flow = require('oneflow-js');
      const fromOnnx = flow.onnx.load(process.argv[1]).run(flow.ones([1, 3])).toArray();
      const loaded = require('node:fs').readFileSync('/proc/self/maps', 'utf8');
      import('oneflow-js').then(({matmul, ones}) => {
        const libraries = [...new Set(loaded.match(/\\S*lib(?:oneflow|sleef)\\S*/g))];
        console.log(JSON.stringify({sum: matmul(ones([3, 3]), ones([3, 3])).exp().sum().item(), fromOnnx, libraries}));
      });
    `;
    const {sum, fromOnnx, libraries} = JSON.parse(run(process.execPath, ['-e', program, model], env));
    assert.ok(Math.abs(sum - 9 * Math.exp(3)) < 1e-3);
    const native = path.join(fs.realpathSync(folder), 'node_modules', 'oneflow-js', 'native');
    assert.deepEqual(fromOnnx, [[9.5, 0]]);
    assert.ok(libraries.some((library) => path.basename(library) === 'liboneflow_onnx.so'));
    for (const library of libraries) assert.equal(path.dirname(library), native);
    fs.accessSync(path.join(native, 'oneflow-probe'), fs.constants.X_OK);
    const devices = (parent) => fs.readdirSync(path.join(parent, 'oneflow_devices')).sort();
    assert.deepEqual(devices(native), devices(path.join(build, 'lib')));
  } finally {
    fs.rmSync(folder, {recursive: true});
  }
});
