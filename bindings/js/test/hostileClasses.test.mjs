// Hostile calls of all members of classes, and of the functions beside them: each error has its class, and begins with
// the name of the member.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, test} from 'node:test';
import flow from 'oneflow-js';

const file = new URL('../generated/classes.test.json', import.meta.url);
const members = JSON.parse(fs.readFileSync(file, 'utf8')).slice(1);

const WRONG = Symbol('wrong');
const tensor = flow.ones([2]);
const saved = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'oneflow-')), 'a.npy');
flow.save(tensor, saved);
after(() => fs.rmSync(path.dirname(saved), {recursive: true}));
const graph = flow.graph.capture((x) => x.add(1), [tensor]);
/** An argument of each type. */
const samples = {
  int: 1, word: 1, positive: 1, bool: true, float: 0.5, str: 'a', path: '/nowhere/x', size: 1, range: {min: 1},
  function: (x) => x, nested: [tensor], array: tensor, Tensor: tensor, any: null, RandomState: {seed: 1, offset: 2},
  Graph: graph, Group: new flow.comm.Group([0]), Stream: flow.defaultStream(), Event: new flow.Event('accel:0'),
};
/** Functions that make an object of each class. */
const makers = {
  Graph: () => flow.graph.capture((x) => x.add(1), [tensor]),
  HookHandle: () => flow.ones([2], {requiresGrad: true}).registerHook((grad) => grad),
  Stream: () => flow.defaultStream(),
  Event: () => new flow.Event('accel:0'),
  TensorFile: () => flow.openFile(saved),
  Profile: () => flow.profile(() => {}),
  Rule: () => flow.graph.rule((x) => x.add(0), (x) => x, [tensor]),
  Group: () => new flow.comm.Group([0]),
};

for (const {class: name} of members.filter((each) => each.name === 'new')) makers[name] ??= () => new flow[name]();

function sample(type) {
  if (type.endsWith('?')) return null;
  if (type.endsWith('[]')) return [];
  return type.endsWith('{}') ? {} : samples[type];
}

/** Calls a member, of an object if it has one. */
function callMember(member, object, args) {
  const space = member.namespace === '' ? flow : flow[member.namespace];
  if (member.class === '') return space[member.name](...args);
  if (member.name === 'new') return new space[member.class](...args);
  if (!member.property) return object[member.name](...args);
  if (member.parameters.length === 0) return object[member.name];
  return (object[member.name] = args[0]);
}

/** Returns what is wrong with calls, their arguments, and a part of their error texts. */
function wrongCalls({property, context, parameters}) {
  const checked = ({type}) => type !== 'any' && type !== 'any?';
  if (property) return parameters.length > 0 ? [['a wrong type', [WRONG], ' must be ']] : [];
  const hasNamed = parameters.some((each) => each.named);
  const isOption = (each) => each.named || (hasNamed && !each.required && each.collects === '');
  const positional = parameters.filter((each) => !isOption(each));
  const required = positional.filter((each) => each.required || each.collects === '***');
  const given = required.map(({type}) => sample(type));
  const found = [];
  positional.forEach((each, i) => {
    if (!checked(each)) return;
    const before = positional.slice(0, i).map(({type}) => sample(type));
    found.push([`a wrong ${each.name}`, [...before, WRONG, ...given.slice(i + 1)], ' must be ']);
  });
  // What collects arguments gets a list or a map.
  const most = positional.map(({type, collects}) => (collects === '' ? sample(type) : collects === '*' ? [] : {}));
  for (const each of parameters.filter(isOption).filter(checked)) {
    found.push([`a wrong ${each.name}`, [...most, {[each.name]: WRONG}], `${each.name} must be `]);
  }
  if (hasNamed) found.push(['an unknown name', [...most, {nope: 1}], 'unknown argument nope']);
  if (required.some((each) => each.collects === '')) {
    found.push(['a missing argument', [], `missing argument ${required[0].name}`]);
  }
  // A function whose result is the context of a block takes the block last.
  const last = [...(hasNamed ? [{}] : []), 1, ...(context ? [() => {}] : [])];
  found.push(['too many arguments', [...most, ...last], 'takes at most']);
  return found;
}

async function assertFails(member, object, args, name, start, part) {
  await assert.rejects(
    async () => callMember(member, object, args),
    (error) => {
      assert.equal(error.name, name, error.message);
      assert.ok(error.message.startsWith(`${start}: `), error.message);
      assert.ok(error.message.includes(part), error.message);
      return true;
    },
  );
}

for (const member of members) {
  const title = `${member.class || member.namespace || 'flow'}.${member.name}`;
  for (const [wrong, args, part] of wrongCalls(member)) {
    test(`${title} with ${wrong}`, () =>
      assertFails(member, makers[member.class]?.(), args, 'TypeMismatch', member.says, part));
  }
  if (member.class === '' || member.name === 'new') continue;
  test(`${title} of a disposed object`, () => {
    const object = makers[member.class]();
    object.dispose();
    const args = member.parameters.filter((each) => each.required).map(({type}) => sample(type));
    return assertFails(member, object, args, 'InvalidArgument', member.name, 'got a disposed one');
  });
}

const fails = (work, code, message) => assert.throws(work, {name: code, message});

test('objects that are disposed of while the arguments of their call are read', () => {
  const own = flow.graph.capture((x, y) => x.add(y), [tensor, tensor]);
  const inputs = {input0: tensor, get input1() { own.dispose(); return tensor; }};
  assert.deepEqual(own.run(inputs).toArray(), [2, 2]);
  fails(() => own.run(inputs), 'InvalidArgument', 'run: the receiver must be a live Graph, got a disposed one');
  const generator = new flow.Generator(1);
  generator.setState({get seed() { generator.dispose(); return 1; }, offset: 1});
});

test('getters run once, and what they change afterwards does not count', () => {
  let count = 0;
  const state = {get seed() { count += 1; return 3; }, get offset() { delete state.seed; return 4; }};
  const generator = new flow.Generator(1);
  generator.setState(state);
  assert.deepEqual([count, generator.getState()], [1, {seed: 3n, offset: 4n}]);
  generator.setState(new Map([['seed', 5], ['offset', 6]]));
  assert.deepEqual(generator.getState(), {seed: 5n, offset: 6n});
});

test('a Map is read whatever its class overrides', () => {
  class Lying extends Map {
    * [Symbol.iterator]() { yield null; }
    entries() { return 5; }
  }
  flow.save(new Lying([['a', tensor]]), saved.replace('.npy', '.npz'));
  assert.deepEqual(Object.keys(flow.load(saved.replace('.npy', '.npz'))), ['a']);
  fails(() => flow.save(Object.create(Map.prototype), saved), 'TypeMismatch', /^save: data must be Tensor, array, Map/);
});

test('lists that are too long', () => {
  const text = (start) => `${start} must have at most 1048576 items, got 4294967295`;
  fails(() => graph.run(new Array(2 ** 32 - 1)), 'InvalidArgument', text('run: inputs'));
  fails(() => flow.save(new Array(2 ** 32 - 1), saved), 'InvalidArgument', text('save: data'));
});

test('the prototype of an object does not say what it is', () => {
  class Own extends flow.Generator {}
  const disguised = new Own(1);
  Object.setPrototypeOf(disguised, flow.graph.Graph.prototype);
  const text = 'text: the receiver must be a Graph, got instance of Graph';
  for (const object of [disguised, Reflect.construct(flow.Generator, [5], flow.graph.Graph)]) {
    fails(() => object.text, 'TypeMismatch', text);
    assert.match(String(object), /^Generator\(seed/);
    assert.deepEqual(flow.rand([2], {generator: object}).shape, [2]);
    object.dispose();
  }
  Object.setPrototypeOf(disguised, flow.Stream.prototype);
  assert.equal(flow.currentStream().equals(disguised), false);
});

test('the text and the copy of an object do not use what its class overrides', () => {
  class Own extends flow.Generator {
    getState() { return null; }
  }
  assert.equal(String(new Own(5)), 'Generator(seed 5, offset 0)');
  assert.deepEqual(new Own(5).clone().getState(), {seed: 5n, offset: 0n});
});

test('equality of disposed objects', () => {
  const stream = flow.currentStream();
  stream.dispose();
  const text = (whose) => `equals: ${whose} must be a live Stream, got a disposed one`;
  fails(() => stream.equals(flow.currentStream()), 'InvalidArgument', text('the receiver'));
  fails(() => flow.currentStream().equals(stream), 'InvalidArgument', text('other'));
});

test('functions may throw any value', () => {
  const one = flow.graph.capture((x) => x.add(1), [tensor]);
  for (const thrown of [null, undefined, 5, 'text', Symbol('thrown'), {code: 'X'}]) {
    const raise = () => { throw thrown; };
    const x = flow.ones([2], {requiresGrad: true});
    x.registerHook(raise);
    const calls = [
      () => flow.graph.capture(raise, [tensor]),
      () => x.sum().backward(),
      () => one.rewrite(flow.graph.rule((y) => y.add(1), raise, [tensor])),
      () => new flow.Generator(1).setState({get seed() { return raise(); }, offset: 1}),
      () => flow.profile(raise),
    ];
    for (const call of calls) {
      let caught = calls;
      try {
        call();
      } catch (error) {
        caught = error;
      }
      assert.equal(caught, thrown);
    }
  }
});

test('objects that a block uses', async () => {
  fails(() => flow.profile((profile) => profile.dispose()), 'InvalidArgument', 'dispose: a block uses this Profile');
  assert.throws(() => flow.profile(() => ({get then() { throw new Error('then'); }})), {message: 'then'});
  const stream = flow.currentStream();
  await assert.rejects(stream.use(async () => {
    await null;
    stream.dispose();
  }), {message: 'dispose: a block uses this Stream'});
  stream.dispose();
  flow.profile(() => 1).dispose(); // no profile is running any more
});

test('signals that are none', async () => {
  const text = (found) => ({name: 'TypeMismatch', message: `runAsync: signal must be AbortSignal, got ${found}`});
  await assert.rejects(graph.runAsync([tensor], {signal: new AbortController()}), text('instance of AbortController'));
  await assert.rejects(graph.runAsync([tensor], {signal: 5}), text('number'));
  const fake = Object.create(AbortSignal.prototype);
  await assert.rejects(graph.runAsync([tensor], {signal: fake}), text('instance of AbortSignal'));
  assert.deepEqual((await graph.runAsync([tensor], {signal: null})).toArray(), [2, 2]);
  const named = flow.graph.capture((signal) => signal.add(1), [tensor], {names: ['signal']});
  assert.deepEqual((await named.runAsync({signal: tensor})).toArray(), [2, 2]);
});

test('an asynchronous run sees the present elements of its arguments', async () => {
  const x = flow.ones([2]);
  const run = graph.runAsync([x]);
  x.fill_(9);
  assert.deepEqual((await run).toArray(), [2, 2]);
});

test('values that texts show', () => {
  fails(() => flow.graph.capture((x) => x, [tensor], {dynamic: {input0: {x: 'n'}}}), 'TypeMismatch',
    'capture: dynamic must give names of sizes by dimension, got "n" for "x"');
  fails(() => new flow.Generator(2 ** 53), 'TypeMismatch',
    'Generator: seed must be integer, got number beyond 2**53; pass a BigInt');
  fails(() => flow.load(new URL('file://host/x.npy')), 'InvalidArgument',
    'load: path must be a file: URL of a path of this system, got file://host/x.npy');
  fails(() => flow.load(Object.create(URL.prototype)), 'TypeMismatch',
    'load: path must be string or URL, got instance of URL');
  const sized = flow.graph.capture((x) => x.add(1), [tensor], {dynamic: 'n'});
  fails(() => sized.warmUp({n: 0}), 'ShapeError', /^warmUp: 'n' must be at least 1, /);
});
