// Addons that users write with <oneflow/napi.h>, against the headers and the library that the package names.

import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import os from 'node:os';
import path from 'node:path';
import {after, before, describe, it} from 'node:test';
import {setTimeout as pause} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {Worker} from 'node:worker_threads';
import flow from 'oneflow-js';

const here = fileURLToPath(new URL('.', import.meta.url));
const require = createRequire(import.meta.url);
const main = require.resolve('oneflow-js');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oneflow-extension-'));
const file = path.join(folder, 'extension.node');
let extension;

/** Compiles extension.cpp to `file`. */
function compile() {
  const packages = path.join(here, '..', 'node_modules');
  const object = `${file}.o`;
  execFileSync('ccache', [
    'g++', '-std=c++20', '-O0', '-fPIC', '-Wall', '-Werror', '-DNAPI_VERSION=8', '-DNODE_ADDON_API_CPP_EXCEPTIONS',
    `-I${flow.include}`, `-isystem${packages}/node-api-headers/include`, `-isystem${packages}/node-addon-api`,
    '-c', path.join(here, 'extension.cpp'), '-o', object,
  ], {stdio: 'inherit'});
  execFileSync('g++', ['-shared', '-Wl,-z,now,-z,nodelete', object, flow.library, '-o', file], {stdio: 'inherit'});
}

before(() => {
  compile();
  extension = require(file);
});
after(() => fs.rmSync(folder, {recursive: true}));

/** Checks that a call throws an error of a class of the package. */
function fails(call, code, message) {
  assert.throws(call, (error) => {
    assert.ok(error instanceof flow[code], error.stack);
    assert.match(error.message, message);
    return true;
  });
}

/** Waits until the garbage collector has released as many pieces of foreign memory. */
async function untilReleased(count) {
  for (let i = 0; i < 200 && extension.released() < count; i++) {
    globalThis.gc?.();
    await pause(1);
  }
  return extension.released();
}

describe('objects', () => {
  it('has the headers', () => {
    const names = fs.readdirSync(path.join(flow.include, 'oneflow'));
    for (const name of ['oneflow.h', 'oneflow.hpp', 'operators.hpp', 'extension.h', 'extension.hpp', 'napi.h']) {
      assert.ok(names.includes(name), name);
    }
  });

  it('shares the memory of tensors', () => {
    for (const name of ['same', 'moved', 'optional']) {
      const x = flow.zeros([2]);
      const y = extension[name](x);
      assert.ok(y instanceof flow.Tensor && y !== x);
      extension.add(y, 1.5);
      assert.deepEqual(x.toArray(), [1.5, 1.5]);
    }
  });

  it('gives null for empty tensors', () => {
    assert.equal(extension.empty(), null);
    assert.equal(extension.optional(), null);
    assert.equal(extension.optional(null), null);
  });

  it('converts lists', () => {
    const [x, y] = [flow.zeros([1]), flow.ones([2])];
    assert.deepEqual(extension.reversed([x, y]).map((each) => each.toArray()), [[1, 1], [0]]);
    assert.deepEqual(extension.reversed([]), []);
    fails(() => extension.reversed([x, 2.5]), 'TypeMismatch', /^reversed: tensors\[1\] must be Tensor, got number$/);
    fails(() => extension.reversed(x), 'TypeMismatch', /^reversed: tensors must be array, got Tensor$/);
  });

  it('converts devices and dtypes', () => {
    assert.equal(extension.device('cpu'), 'cpu:0');
    assert.equal(extension.device(flow.device('cpu')), 'cpu:0');
    assert.equal(extension.dtype('int16'), 'int16');
    fails(() => extension.device(1), 'TypeMismatch', /^device: device must be device, got number$/);
    fails(() => extension.device('nothing'), 'DeviceError', /^device: .*nothing/);
    fails(() => extension.dtype(1), 'TypeMismatch', /^dtype: dtype must be dtype, got number$/);
    fails(() => extension.dtype('f'), 'InvalidArgument', /^dtype: dtype must be the name of a dtype, got 'f'$/);
  });

  it('converts generators', () => {
    const generator = new flow.Generator(3);
    const same = extension.generator(generator);
    flow.randn([5], {generator: same});
    assert.deepEqual(generator.getState(), {seed: 3n, offset: 5n});
    assert.deepEqual(extension.newGenerator(11).getState(), {seed: 11n, offset: 0n});
    assert.equal(extension.defaultGenerator(), flow.defaultGenerator);
    fails(() => extension.generator(7), 'TypeMismatch', /^generator: generator must be Generator, got number$/);
    same.dispose();
    fails(() => extension.generator(same), 'InvalidArgument', /^generator: generator must be a live Generator/);
    assert.equal(generator.getState().seed, 3n);
  });

  it('converts plain values', () => {
    assert.equal(extension.integer(-3), -3);
    assert.equal(extension.integer(2n ** 62n), 2n ** 62n);
    assert.equal(extension.boolean(true), true);
    assert.equal(extension.string('größer'), 'größer');
    assert.deepEqual(extension.twice(flow.ones([1])).toArray(), [2]);
    fails(() => extension.integer(1.5), 'TypeMismatch', /^integer: value must be integer, got number$/);
    fails(() => extension.integer(2n ** 63n), 'InvalidArgument', /^integer: value must fit into 64 bits/);
    fails(() => extension.boolean(1), 'TypeMismatch', /^boolean: value must be boolean, got number$/);
    fails(() => extension.string(1), 'TypeMismatch', /^string: value must be string, got number$/);
    fails(() => extension.add(flow.ones([1]), 'x'), 'TypeMismatch', /^add: by must be number, got string$/);
  });

  it('refuses what is no live tensor', () => {
    for (const [value, name] of [['x', 'string'], [null, 'null'], [undefined, 'undefined'], [{}, 'object'],
      [Object.create(flow.Tensor.prototype), 'instance of Tensor']]) {
      fails(() => extension.same(value), 'TypeMismatch', new RegExp(`^same: input must be Tensor, got ${name}$`));
    }
    const x = flow.zeros([1]);
    x.dispose();
    fails(() => extension.same(x), 'InvalidArgument', /^same: input must be a live Tensor, got a disposed one$/);
  });

  it('counts arguments', () => {
    fails(() => extension.same(), 'TypeMismatch', /^same: missing argument input$/);
    fails(() => extension.same(1, 2), 'TypeMismatch', /^same: takes at most 1 positional argument, got 2$/);
  });
});

describe('lifetimes', () => {
  it('releases foreign memory with the last tensor', async () => {
    const start = extension.released();
    let x = extension.foreign(8);
    const views = [extension.same(x), x.at('2:'), extension.reversed([x])[0]];
    x.dispose();
    x = null;
    assert.equal(extension.released(), start);
    for (const view of views) view.dispose();
    assert.equal(await untilReleased(start + 1), start + 1);
  });

  it('releases results in a scope', async () => {
    const start = extension.released();
    flow.tidy(() => {
      extension.same(extension.foreign(8));
    });
    assert.equal(await untilReleased(start + 1), start + 1);
  });

  it('releases what is garbage', async () => {
    const start = extension.released();
    for (let i = 0; i < 100; i++) extension.same(extension.foreign(1024));
    if (globalThis.gc) assert.equal(await untilReleased(start + 100), start + 100);
  });

  it('releases on another thread', async () => {
    const start = extension.released();
    const x = extension.foreign(8);
    extension.releaseElsewhere(x);
    assert.equal(extension.released(), start);
    x.dispose();
    assert.equal(await untilReleased(start + 1), start + 1);
  });
});

describe('errors', () => {
  const names = ['InvalidArgument', 'TypeMismatch', 'ShapeError', 'DTypeError', 'IndexOutOfRange', 'DeviceError',
    'OutOfMemory', 'Unsupported', 'CommunicationError', 'InternalError', 'FileError'];
  for (const [i, name] of names.entries()) {
    it(`makes a ${name}`, () => fails(() => extension.fail(i + 1), name, /^fail: on purpose$/));
  }

  it('makes errors of other exceptions', () => {
    assert.throws(() => extension.fail(-1), {message: 'of C++'});
    fails(() => extension.fail(-2), 'OutOfMemory', /^the host is out of memory$/);
    assert.throws(() => extension.fail(-3), {message: 'an exception of C++ that is not a std::exception'});
  });

  it('leaves what callbacks throw as it is', () => {
    for (const thrown of [new flow.ShapeError('one'), new RangeError('two'), 'three', undefined]) {
      let caught = null;
      try {
        extension.call(() => {
          throw thrown;
        }, flow.ones([1]));
      } catch (error) {
        caught = {error};
      }
      assert.equal(caught?.error, thrown);
    }
    assert.deepEqual(extension.call((x) => x.add(1), flow.ones([1])).toArray(), [2]);
    const wrong = () => extension.call(() => 3, flow.ones([1]));
    fails(wrong, 'TypeMismatch', /^call: the result must be Tensor, got number$/);
    fails(() => extension.call(3, flow.ones([1])), 'TypeMismatch', /^call: function must be function, got number$/);
  });

  it('refuses an older package', () => {
    fails(() => extension.acceptOlder(), 'Unsupported', /^this extension was built for a later version of oneflow-js /);
  });

  it('records for gradients as the caller does', async () => {
    const x = flow.ones([2], {requiresGrad: true});
    assert.equal(flow.noGrad(() => extension.twice(x)).requiresGrad, false);
    const [inside, outside] = await Promise.all([
      flow.noGrad(async () => {
        await pause(1);
        return extension.twice(x).requiresGrad;
      }),
      extension.twice(x).requiresGrad,
    ]);
    assert.deepEqual([inside, outside], [false, true]);
  });
});

describe('environments', () => {
  /** Runs a program in a process of its own. */
  const run = (program) => spawnSync(process.execPath, ['-e', program], {encoding: 'utf8', timeout: 60_000});

  it('cannot be loaded before the package', () => {
    const done = run(`require(${JSON.stringify(file)})`);
    assert.equal(done.status, 1);
    assert.match(done.stderr, /liboneflow\.so/);
  });

  it('is refused where the package is loaded in another environment only', async () => {
    const worker = new Worker(`require(${JSON.stringify(file)})`, {eval: true});
    const error = await new Promise((resolve) => {
      worker.on('error', resolve);
    });
    assert.match(error.message, /extension of oneflow-js, which must be loaded first/);
  });

  it('does not mistake other objects for the table', () => {
    const done = run(`require(${JSON.stringify(main)});
      for (const value of [null, 1, {}, Object.create(globalThis[Symbol.for('oneflow.extension')])]) {
        Object.defineProperty(globalThis, Symbol.for('oneflow.extension'), {value, configurable: true});
        try { require(${JSON.stringify(file)}); } catch (error) { console.log(error.message); }
      }`);
    assert.equal(done.status, 0, done.stderr);
    assert.equal(done.stdout.trim().split('\n').length, 4);
  });

  it('works in worker threads, also in those that end', async () => {
    const program = `
      const {parentPort} = require('node:worker_threads');
      const flow = require(${JSON.stringify(main)});
      const extension = require(${JSON.stringify(file)});
      const kept = [];
      for (let i = 0; i < 100; i++) kept.push(extension.twice(extension.foreign(100)));
      globalThis.kept = kept;
      try { extension.same('x'); } catch (error) { parentPort.postMessage([error.code, kept[0].toArray()[0]]); }
    `;
    const workers = Array.from({length: 4}, () => new Worker(program, {eval: true}));
    const answers = await Promise.all(workers.map((worker) => new Promise((resolve, reject) => {
      worker.on('message', resolve);
      worker.on('error', reject);
    })));
    assert.deepEqual(answers, Array.from({length: 4}, () => ['TypeMismatch', 0]));
    await Promise.all(workers.map((worker) => worker.terminate()));
    assert.deepEqual(extension.same(flow.ones([1])).toArray(), [1]);
  });

  it('works where it is loaded in worker threads alone', () => {
    const program = `const flow = require(${JSON.stringify(main)}); const extension = require(${JSON.stringify(file)});
      globalThis.kept = Array.from({length: 50}, () => extension.foreign(100)); console.log(extension.released());`;
    const done = run(`const {Worker} = require('node:worker_threads');
      require(${JSON.stringify(main)});
      const start = (left) => {
        if (left > 0) new Worker(${JSON.stringify(program)}, {eval: true}).on('exit', () => start(left - 1));
      };
      start(3);`);
    assert.equal(done.status, 0, done.stderr);
    assert.equal(done.stdout, '0\n50\n100\n');
  });
});
