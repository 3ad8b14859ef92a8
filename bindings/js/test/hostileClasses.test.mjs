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
  Graph: graph, Stream: flow.defaultStream(), Event: new flow.Event('accel:0'),
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
