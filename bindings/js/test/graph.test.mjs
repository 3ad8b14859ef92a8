// Graphs: capture with fixed and varying sizes, what cannot be captured, states, files, runs on other threads.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {test} from 'node:test';
import flow from 'oneflow-js';
import {checkFailure, runAlone} from './support.mjs';

const {capture, load} = flow.graph;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'graph-'));
process.on('exit', () => fs.rmSync(folder, {recursive: true}));
const plain = (data) => JSON.parse(JSON.stringify(data));

test('a graph computes what the function does', async () => {
  const [weight, x] = [flow.randn([4, 3]), flow.randn([2, 4])];
  const layer = (input, scale) => input.matmul(weight).tanh().mul(scale).softmax(-1);
  const graph = capture(layer, [x, flow.ones([3])], {names: ['x', 'scale'], weights: {weight}});
  const inputs = [flow.randn([2, 4]), flow.randn([3])];
  const expected = plain(layer(...inputs));
  assert.deepEqual(plain(graph.run(inputs)), expected);
  assert.deepEqual(plain(await graph.runAsync({x: inputs[0], scale: inputs[1]})), expected);
  assert.deepEqual(graph.inputs[0], {name: 'x', dtype: 'float32', device: 'cpu:0', shape: ['2', '4']});
  assert.deepEqual(Object.keys(graph.constants), ['weight']);
  assert.match(`${graph}`, /^graph 1\n/);
});

test('nested inputs and results', () => {
  const step = ({layers}, x) => ({y: layers[0].matmul(x), rest: [layers[1].add(1), {x}]});
  const state = {layers: [flow.randn([3, 3]), flow.arange(2)]};
  const graph = capture(step, [state, flow.randn([3])]);
  const x = flow.randn([3]);
  assert.deepEqual(plain(graph.run([state, x])), plain(step(state, x)));
  assert.deepEqual(graph.inputs.map(({name}) => name), ['input0.layers.0', 'input0.layers.1', 'input1']);
  checkFailure(() => graph.run([{layers: []}, x]), flow.TypeMismatch,
    'run: the inputs are nested in another way than at the capture');
});

test('sizes follow from those of the inputs', () => {
  const weight = flow.randn([4, 3, 3, 3]);
  const fn = (image) => {
    const x = flow.conv2d(image, weight, {stride: 2, padding: 1});
    const rows = x.shape[2] * x.shape[3];
    return {x: x.reshape(image.shape[0], 4, rows), half: flow.zeros([Math.floor(rows / 2)])};
  };
  const graph = capture(fn, flow.randn([2, 3, 16, 16]), {dynamic: {input0: ['n', null, 'height', 'width']}});
  for (const shape of [[1, 3, 9, 31], [5, 3, 22, 6]]) {
    const image = flow.randn(shape);
    assert.deepEqual(plain(graph.run(image)), plain(fn(image)));
  }
  assert.deepEqual(graph.sizes.n, {min: 1, max: Infinity, step: 1});
});

test('ranges of sizes', () => {
  const graph = capture((x) => x.reshape(x.shape[0] / 4, 4).sum(1), flow.ones([8]),
    {dynamic: 'time', ranges: {time: {min: 4, max: 64, step: 4}}});
  assert.deepEqual(graph.run(flow.ones([64])).shape, [16]);
  checkFailure(() => graph.run(flow.ones([6])), flow.ShapeError,
    "run: 'time' must be between 4 and 64 in steps of 4, got 6 in dimension 0 of input 'input0'");
});

test('states', () => {
  const total = flow.zeros([2]);
  const graph = capture((x) => total.add_(x).mul(2), flow.ones([2]), {weights: {total}});
  const {result, states} = graph.run(flow.tensor([1, 2]), {states: true});
  assert.deepEqual(plain(result), [2, 4]);
  assert.deepEqual(plain(states), {total: [1, 2]});
  assert.deepEqual(plain(total), [0, 0]);
});

test('what cannot be captured', () => {
  const x = flow.ones([3]);
  for (const read of [(y) => y.sum().item(), (y) => y.toArray(), (y) => `${y}`, (y) => flow.nonzero(y)]) {
    assert.throws(() => capture((y) => read(y) ?? y, x), flow.Unsupported);
  }
  assert.throws(() => capture((y) => (y.shape[0] > 3 ? y.relu() : y.tanh()), x, {dynamic: 'n'}),
    {code: 'InvalidArgument', message: /call 0 is relu, not tanh/});
  assert.throws(() => capture(() => {
    throw new RangeError('mine');
  }, x), RangeError);
  checkFailure(() => capture(async (y) => y, x), flow.TypeMismatch,
    'capture: the result must be Tensor, array, Map or object, got instance of Promise');
  assert.equal(flow.ones([3]).sum().item(), 3);
});

test('wrong inputs and options', () => {
  const graph = capture((x, y) => x.matmul(y), [flow.ones([2, 3]), flow.ones([3])], {names: ['x', 'y']});
  const x = flow.ones([2, 3]);
  checkFailure(() => graph.run([x]), flow.TypeMismatch, 'run: the graph takes 2 inputs (x, y), got 1');
  checkFailure(() => graph.run([x, flow.arange(3)]), flow.DTypeError,
    "run: input 'y' must be a float32 tensor, got int64");
  checkFailure(() => graph.run([x, flow.ones([4])]), flow.ShapeError,
    "run: dimension 0 of input 'y' must be 3, got shape [4]");
  const unknown = 'run: unknown argument state; did you mean states?';
  checkFailure(() => graph.run([x, flow.ones([3])], {state: true}), flow.TypeMismatch, unknown);
  checkFailure(() => capture(3, x), flow.TypeMismatch, 'capture: fn must be function, got number');
  checkFailure(() => capture((y) => y, x, {dynamic: {z: ['n']}}), flow.InvalidArgument,
    "capture: dynamic has no input 'z'; there are input0");
  assert.throws(() => new flow.graph.Graph(), flow.TypeMismatch);
});

test('random operators draw from the generator of the run', () => {
  const graph = capture((x) => x.add(flow.rand([3])), flow.zeros([3]));
  const draw = () => plain(graph.run(flow.zeros([3]), {generator: new flow.Generator(5)}));
  assert.deepEqual(draw(), draw());
});

test('files', async () => {
  const file = path.join(folder, 'model.flow');
  const weight = flow.randn([3, 3]);
  const graph = capture((x) => x.matmul(weight), flow.ones([1, 3]), {dynamic: 'n', weights: {weight}});
  graph.save(file);
  const x = flow.randn([4, 3]);
  const all = [load(file), load(file, {verify: true}), load(file, {mmap: true}), await flow.graph.loadAsync(file)];
  for (const loaded of all) {
    assert.equal(`${loaded}`, `${graph}`);
    assert.deepEqual(plain(loaded.run(x)), plain(graph.run(x)));
  }
  const whole = load(file);
  fs.truncateSync(file);
  assert.deepEqual(plain(whole.run(x)), plain(graph.run(x)));
  assert.throws(() => load(file, {mmap: 1}), flow.TypeMismatch);
  await graph.saveAsync(file);
  const damaged = fs.readFileSync(file);
  damaged[damaged.length - 1] ^= 1;
  fs.writeFileSync(file, damaged);
  assert.throws(() => load(file, {verify: true}), flow.InvalidArgument);
  assert.throws(() => load(path.join(folder, 'missing.flow')), flow.FileError);
  await assert.rejects(flow.graph.loadAsync(path.join(folder, 'missing.flow')), {
    name: 'FileError', message: /^loadAsync: '.*' cannot be opened: No such file or directory$/,
  });
  await assert.rejects(graph.saveAsync(path.join(folder, 'missing', 'a')), {
    name: 'FileError', message: /^saveAsync: '.*' cannot be written: No such file or directory$/,
  });
  await assert.rejects(graph.runAsync(flow.ones([])), {name: 'ShapeError', message: /^runAsync: /});
});

test('many runs at once', async () => {
  const weight = flow.randn([16, 16]);
  const fn = (x) => x.matmul(weight).relu().matmul(weight);
  const graph = capture(fn, flow.ones([1, 16]), {dynamic: 'n'});
  const inputs = Array.from({length: 20}, (_, i) => flow.randn([i + 1, 16]));
  const results = await Promise.all(inputs.map((x) => graph.runAsync(x)));
  results.forEach((result, i) => assert.deepEqual(plain(result), plain(fn(inputs[i]))));
});

test('values belong to the thread that captures', async () => {
  let found;
  const graph = capture((x) => {
    found = Promise.allSettled(Array.from({length: 40}, () => flow.addAsync(x, 1)));
    return x.mul(2);
  }, flow.ones([2]));
  assert.deepEqual(graph.run(flow.ones([2])).toArray(), [2, 2]);
  for (const {reason} of await found) {
    assert.ok(reason instanceof flow.Unsupported);
    assert.match(reason.message, /only by the thread that captures it$/);
  }
});

test('no use of a value ends the process', () => {
  const printed = runAlone(`
    const attempt = (use) => {
      try {
        const result = use();
        if (result instanceof Promise) result.catch(() => {});
      } catch {}
    };
    const spaces = [flow, flow.optim, flow.nn, flow.linalg].filter((space) => space);
    const sweep = (value) => {
      const things = [[], [1], [0, 1], [value], [value, value], [[0, 1]], ['float64'], [true], [[value, value]],
        [value, {out: value}], [(x) => x]];
      for (let owner = value; owner && owner !== Object.prototype; owner = Object.getPrototypeOf(owner)) {
        for (const name of Reflect.ownKeys(owner)) {
          attempt(() => value[name]);
          if (name === 'constructor' || name === 'dispose' || name === Symbol.dispose) continue;
          for (const args of things) attempt(() => value[name](...args));
        }
      }
      for (const space of spaces) {
        for (const name of Object.keys(space)) {
          if (/^(set|load|manualSeed|tidy)/.test(name) || typeof space[name] !== 'function') continue;
          for (const args of things) attempt(() => space[name](...args));
        }
      }
      for (const use of [String, Number, JSON.stringify, structuredClone, Array.from]) attempt(() => use(value));
    };
    let kept;
    flow.graph.capture((x) => {
      kept = x.clone();
      sweep(kept);
      return x.mul(2);
    }, flow.ones([2, 2]));
    sweep(kept);
    process.stdout.write('alive');
  `, {});
  assert.ok(printed.endsWith('alive'));
});
