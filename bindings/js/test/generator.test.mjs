// Generators of random numbers.

import assert from 'node:assert/strict';
import {once} from 'node:events';
import fs from 'node:fs';
import {afterEach, beforeEach, test} from 'node:test';
import {inspect} from 'node:util';
import {Worker} from 'node:worker_threads';
import flow, {Generator} from 'oneflow-js';

const {cases} = JSON.parse(fs.readFileSync(new URL('../../../tests/random.json', import.meta.url), 'utf8'));

let kept;
beforeEach(() => {
  kept = flow.getRandomState();
});
afterEach(() => flow.setRandomState(kept));

/** Makes the calls of a case and compares their results. */
function draw({draws}, generator) {
  for (const {function: name, arguments: args, dtype, tolerance, gives} of draws) {
    const found = flow[name](...args, {dtype, generator}).flatten().toArray();
    assert.equal(found.length, gives.length);
    found.forEach((value, i) => assert.ok(Math.abs(value - gives[i]) <= tolerance, `${name}: ${value}, ${gives[i]}`));
  }
}

for (const item of cases) {
  test(`the numbers of seed ${item.seed} are those of an independent Philox`, () => {
    const before = {seed: BigInt(item.seed), offset: BigInt(item.offset)};
    const after = {seed: BigInt(item.seed), offset: BigInt(item.after)};
    const generator = new Generator();
    generator.setState(before);
    draw(item, generator);
    assert.deepEqual(generator.getState(), after);
    flow.setRandomState(before);
    draw(item, null);
    assert.deepEqual(flow.getRandomState(), after);
    assert.deepEqual(flow.defaultGenerator.getState(), after);
  });
}

test('seeds', () => {
  const generator = new Generator(5);
  assert.equal(generator.initialSeed(), 5n);
  assert.equal(generator.manualSeed(-1), generator);
  assert.deepEqual(generator.getState(), {seed: 2n ** 64n - 1n, offset: 0n});
  assert.equal(new Generator().initialSeed(), 67280421310721n);
  const chosen = generator.seed();
  assert.deepEqual(generator.getState(), {seed: chosen, offset: 0n});
  assert.notEqual(generator.seed(), chosen);
  assert.equal(flow.manualSeed(3n), flow.defaultGenerator);
  assert.equal(flow.initialSeed(), 3n);
  assert.equal(inspect(new Generator(7)), 'Generator(seed 7, offset 0)');
});

test('clones are independent', () => {
  const generator = new Generator(5);
  flow.rand([7], {generator});
  const twin = generator.clone();
  assert.deepEqual(twin.getState(), {seed: 5n, offset: 7n});
  flow.rand([1], {generator: twin});
  assert.deepEqual(generator.getState(), {seed: 5n, offset: 7n});
  const copied = structuredClone(generator.getState());
  assert.deepEqual(copied, generator.getState());
  assert.throws(() => structuredClone(generator), /stays on its thread/);
});

test('subclasses', () => {
  class Own extends Generator {
    draws = 0;

    constructor(name) {
      super(7);
      this.name = name;
    }

    getState() {
      this.draws++;
      return super.getState();
    }
  }
  const own = new Own('first');
  assert.deepEqual(own.getState(), {seed: 7n, offset: 0n});
  assert.deepEqual([own.name, own.draws, own instanceof Generator], ['first', 1, true]);
  const numbers = flow.rand([3], {generator: own}).toArray();
  assert.deepEqual(numbers, flow.rand([3], {generator: new Generator(7)}).toArray());
  own.dispose();
  assert.throws(() => own.seed(), {
    code: 'InvalidArgument', message: 'seed: the receiver must be a live Generator, got a disposed one',
  });
});

test('generators are not written as JSON', () => {
  assert.throws(() => JSON.stringify({generator: new Generator()}), {
    code: 'Unsupported', message: 'JSON.stringify: a Generator cannot be written as JSON',
  });
});

test('workers share the default generator, and new ones start with the fixed seed', async () => {
  flow.manualSeed(9);
  const worker = new Worker(`
    const {parentPort} = require('node:worker_threads');
    const flow = require('oneflow-js');
    flow.rand([4]);
    parentPort.postMessage([flow.getRandomState(), new flow.Generator().initialSeed()]);
  `, {eval: true});
  const [[state, seed]] = await once(worker, 'message');
  assert.deepEqual(state, {seed: 9n, offset: 4n});
  assert.equal(seed, 67280421310721n);
  assert.deepEqual(flow.getRandomState(), state);
  await worker.terminate();
});

test('failed calls draw nothing', () => {
  const generator = new Generator(5);
  assert.throws(() => flow.rand([-1], {generator}), flow.ShapeError);
  assert.throws(() => flow.rand([2], {generator, out: flow.ones([3])}), flow.ShapeError);
  assert.equal(generator.getState().offset, 0n);
});

test('disposed generators', () => {
  const generator = new Generator(5);
  generator.dispose();
  generator.dispose();
  assert.equal(generator.isDisposed, true);
  assert.equal(String(generator), 'Generator(disposed)');
  const message = 'rand: generator must be a live Generator, got a disposed one';
  assert.throws(() => flow.rand([2], {generator}), {code: 'InvalidArgument', message});
  for (const method of ['seed', 'initialSeed', 'getState', 'clone']) {
    const text = `${method}: the receiver must be a live Generator, got a disposed one`;
    assert.throws(() => generator[method](), {code: 'InvalidArgument', message: text});
  }
  assert.throws(() => flow.defaultGenerator.dispose(), {code: 'InvalidArgument'});
  assert.equal(flow.defaultGenerator.isDisposed, false);
});

test('errors', () => {
  const range = 'must be between -2**63 and 2**64 - 1';
  assert.throws(() => new Generator('a'), {
    code: 'TypeMismatch', message: 'Generator: seed must be integer, got string',
  });
  assert.throws(() => new Generator(1.5), {code: 'TypeMismatch'});
  assert.throws(() => new Generator(2n ** 64n), {
    code: 'InvalidArgument', message: `Generator: seed ${range}, got 18446744073709551616`,
  });
  assert.throws(() => new Generator(-(2n ** 63n) - 1n), {code: 'InvalidArgument'});
  const generator = new Generator();
  assert.throws(() => generator.setState(3), {
    code: 'TypeMismatch', message: 'setState: state must be object, got number',
  });
  assert.throws(() => generator.setState({seed: 1}), {
    code: 'TypeMismatch', message: 'setState: offset must be integer, got undefined',
  });
  assert.throws(() => flow.rand([2], {generator: 5}), {
    code: 'TypeMismatch', message: 'rand: generator must be Generator or null, got number',
  });
  assert.throws(() => Generator.prototype.seed.call({}), {
    code: 'TypeMismatch', message: 'seed: the receiver must be a Generator, got object',
  });
  assert.equal(inspect(Object.create(Generator.prototype)), 'Generator {}');
});

test('generators are garbage-collected', {skip: typeof globalThis.gc !== 'function'}, () => {
  for (let i = 0; i < 20_000; i++) new Generator(i).seed();
  globalThis.gc();
});
