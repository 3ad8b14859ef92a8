// Release of memory: by the garbage collector, by dispose(), by tidy(), and when memory runs out. Run with --expose-gc.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import flow from 'oneflow-js';
import {checkFailure, checkMemoryIsReported, runAlone, withRoom} from './support.mjs';

const MIB = 2 ** 20;

/** Runs a loop that never awaits, disposes or collects, in a fraction of the memory that it allocates. */
function loopIn(bytes, calls, step) {
  withRoom(bytes, () => {
    for (let i = 0; i < calls; i++) step();
  });
}

test('a synchronous loop of small results needs little memory', () => {
  const x = flow.tensor([1, 2, 3, 4]); // its results take 64 bytes each
  loopIn(MIB / 2, 100_000, () => x.add(1));
});

test('a synchronous loop of large results needs little memory', () => {
  const x = flow.ones([2 ** 18]);
  loopIn(64 * MIB, 1000, () => x.add(1));
});

test('a synchronous loop of multiple results, views and reads needs little memory', () => {
  const x = flow.ones([64, 64]);
  loopIn(MIB, 20_000, () => x.max(1).values.transpose(0, 0).dataSync());
});

test('the memory of tensors is reported to V8', () => {
  checkMemoryIsReported('for (let i = 0; i < 500; i++) flow.ones([2 ** 18]);'); // of 1 MiB each
});

test('garbage is released where Node.js runs no finalizers during garbage collections', () => {
  const program = `
    const large = flow.ones([2 ** 18]); // 1 MiB
    for (let i = 0; i < 1000; i++) large.add(1);
    const small = flow.ones([4]);
    for (let i = 0; i < 300_000; i++) small.add(1);
    const {peakInUse, tensors} = flow.memoryStats();
    let view = large.at('10:20');
    for (let i = 0; i < 1000; i++) flow.ones([5]);
    view = view.toArray();
    setImmediate(() => {
      gc();
      setImmediate(() => console.log(JSON.stringify([peakInUse, tensors, view, flow.memoryStats().tensors])));
    });`;
  const [peakInUse, tensors, view, left] = JSON.parse(runAlone(program, {ONEFLOW_STABLE_NODE_API: '1'}));
  assert.ok(peakInUse < 1000 * MIB, `${peakInUse} bytes`); // some of each kind: how many is up to V8
  assert.ok(tensors < 300_000, `${tensors} tensors`);
  assert.ok(left < tensors, `${left} tensors are left`);
  assert.deepEqual(view, Array(10).fill(1));
});

test('garbage collection releases tensors, except those that are held', () => {
  const held = [];
  let made = 0;
  loopIn(8 * MIB, 1000, () => {
    const x = flow.full([2 ** 14], held.length); // int64: 128 KiB
    if (made++ % 40 === 0) held.push(x);
  });
  held.forEach((x, i) => assert.deepEqual(x.at('::16383').toArray(), [i, i]));
});

test('views keep their memory alive', () => {
  let x = flow.ones([1000]);
  const view = x.at('10:20');
  x.dispose();
  x = null;
  for (let i = 0; i < 1000; i++) flow.zeros([1000]);
  assert.deepEqual(view.toArray(), Array(10).fill(1));
});

test('every use of a disposed tensor is an error', () => {
  const x = flow.tensor([1]);
  x.dispose();
  x.dispose();
  assert.equal(x.isDisposed, true);
  const text = (name, argument = 'input') => `${name}: ${argument} must be a live Tensor, got a disposed one`;
  checkFailure(() => x.add(1), flow.InvalidArgument, text('add'));
  checkFailure(() => flow.add(1, x), flow.InvalidArgument, text('add', 'other'));
  checkFailure(() => flow.cat([x]), flow.InvalidArgument, text('cat', 'tensors'));
  checkFailure(() => flow.ones([1]).add(1, {out: x}), flow.InvalidArgument, text('add', 'out'));
  checkFailure(() => x.add_(1), flow.InvalidArgument, text('add_'));
  for (const method of ['at', 'set', 'toArray', 'toJSON', 'dataSync', 'item', 'toString', 'equal']) {
    checkFailure(() => x[method](0), flow.InvalidArgument, text(method));
  }
  checkFailure(() => flow.keep(x), flow.InvalidArgument, text('keep'));
  const properties = [
    'shape', 'strides', 'dtype', 'ndim', 'size', 'device', 'version', 'isContiguous', 'isView', 'isPinned',
  ];
  for (const property of properties) {
    checkFailure(() => x[property], flow.InvalidArgument, text(property));
  }
  assert.equal(String(Object(x)[Symbol.for('nodejs.util.inspect.custom')]()), 'tensor(disposed)');
});

test('an earlier owner does not release a reused slot', () => {
  let early = flow.ones([3]);
  early.dispose();
  const late = flow.tensor([5, 6, 7]);
  early = null;
  globalThis.gc();
  globalThis.gc();
  assert.deepEqual(late.toArray(), [5, 6, 7]);
});

test('Symbol.dispose', () => {
  const x = flow.ones([1]);
  x[Symbol.dispose]();
  assert.equal(x.isDisposed, true);
});

test('tidy disposes of tensors that are not returned', () => {
  let first;
  let inner;
  const {result, list} = flow.tidy(() => {
    first = flow.ones([2]);
    inner = first.add(1);
    return {result: inner.mul(2), list: new Map([['a', [inner.add(5)]]])};
  });
  assert.equal(first.isDisposed, true);
  assert.equal(inner.isDisposed, true);
  assert.deepEqual(result.toArray(), [4, 4]);
  assert.deepEqual(list.get('a')[0].toArray(), [7, 7]);
});

test('tidy: nesting, keep, exceptions', () => {
  let kept;
  let middle;
  let lost;
  const outer = flow.tidy(() => {
    middle = flow.tidy(() => {
      kept = flow.keep(flow.ones([1]));
      return flow.ones([2]);
    });
    assert.equal(middle.isDisposed, false);
    return middle.add(1);
  });
  assert.equal(middle.isDisposed, true);
  assert.deepEqual(outer.toArray(), [2, 2]);
  assert.deepEqual(kept.toArray(), [1]);
  assert.throws(() => flow.tidy(() => {
    lost = flow.ones([1]);
    throw new Error('stop');
  }), /stop/);
  assert.equal(lost.isDisposed, true);
  assert.equal(flow.ones([1]).isDisposed, false);
});

test('tidy: dispose() inside, cyclic results, invalid arguments', () => {
  const cyclic = flow.tidy(() => {
    flow.ones([1]).dispose();
    const found = {x: flow.ones([1])};
    found.self = found;
    return found;
  });
  assert.equal(cyclic.x.item(), 1);
  const chain = flow.tidy(() => {
    let link = flow.ones([1]);
    for (let i = 0; i < 100_000; i++) link = {link};
    return link;
  });
  let last = chain;
  while (!flow.isTensor(last)) last = last.link;
  assert.equal(last.item(), 1);
  assert.equal(flow.tidy(() => new Float32Array(5)).length, 5);
  checkFailure(() => flow.tidy(5), flow.TypeMismatch, 'tidy: fn must be function, got number');
  let made;
  checkFailure(
    () => flow.tidy(async () => {
      made = flow.ones([1]);
    }),
    flow.InvalidArgument,
    'tidy: fn must not return a promise: its tensors would be disposed of before it settles',
  );
  assert.equal(made.isDisposed, true);
});

test('results of promise variants that were called in tidy belong to no scope', async () => {
  let promise;
  flow.tidy(() => {
    promise = flow.ones([2]).addAsync(1);
  });
  assert.deepEqual((await promise).toArray(), [2, 2]);
});

test('many tensors in one tidy', () => {
  const before = flow.memoryStats().tensors;
  flow.tidy(() => {
    for (let i = 0; i < 20_000; i++) flow.zeros([1]);
  });
  assert.ok(flow.memoryStats().tensors <= before);
});

test('garbage is collected before memory runs out', () => {
  const {inUse} = flow.memoryStats();
  flow.setMemoryLimit(inUse + 64 * 2 ** 20);
  try {
    for (let i = 0; i < 200; i++) flow.ones([2 ** 20]);
    const held = [];
    assert.throws(() => {
      for (let i = 0; i < 200; i++) held.push(flow.ones([2 ** 20]));
    }, flow.OutOfMemory);
    assert.ok(held.length > 8);
  } finally {
    flow.setMemoryLimit(0);
  }
  assert.equal(flow.ones([3]).sum().item(), 3);
});

test('garbage is collected without --expose-gc, in worker threads and for promises', () => {
  async function useMemory({ones}) {
    for (let i = 0; i < 100; i++) ones([2 ** 20]);
    for (let i = 0; i < 100; i++) await ones([2 ** 18]).repeatAsync([4]);
    console.log(typeof gc);
  }
  const inWorker = `${useMemory}; import('oneflow-js').then((imported) => useMemory(imported.default));`;
  const program = `
    import {Worker} from 'node:worker_threads';
    ${useMemory}
    flow.setMemoryLimit(64 * 2 ** 20);
    await useMemory(flow);
    new Worker(${JSON.stringify(inWorker)}, {eval: true});`;
  assert.equal(runAlone(program, {}, []), 'undefined\nundefined\n');
});

test('memoryStats()', () => {
  const memory = flow.memoryStats();
  assert.deepEqual(Object.keys(memory), ['tensors', 'inUse', 'peakInUse', 'cached', 'limit']);
  flow.emptyCache();
  flow.resetPeakMemoryStats();
  assert.ok(flow.memoryStats().peakInUse >= flow.memoryStats().inUse - 1);
  assert.throws(() => flow.setMemoryLimit(-1), flow.InvalidArgument);
  assert.throws(() => flow.setMemoryLimit(0.5), flow.TypeMismatch);
});
