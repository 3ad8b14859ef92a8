// What the tests share: comparing values, checking failures with class and whole text, programs with other plugins.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import flow from 'oneflow-js';

const build = process.env.OF_BUILD ?? fileURLToPath(new URL('../../../build', import.meta.url));

/** Nested arrays of a result: tensors are read, several results make a list. */
function plain(value) {
  if (flow.isTensor(value)) return value.toArray({bigint: value.dtype === 'int64'});
  return Array.isArray(value) ? value.map(plain) : value;
}

/** Whether two values agree: numbers up to a tolerance, integers of either kind exactly. */
export function agree(found, expected, relative = 1e-4, absolute = 1e-4) {
  if (Array.isArray(expected)) {
    return Array.isArray(found) && found.length === expected.length &&
      expected.every((member, i) => agree(found[i], member, relative, absolute));
  }
  if (typeof found === 'bigint' && Number.isSafeInteger(expected)) return found === BigInt(expected);
  if (typeof expected !== 'number' || typeof found !== 'number') return Object.is(found, expected);
  if (Number.isNaN(expected)) return Number.isNaN(found);
  return found === expected || Math.abs(found - expected) <= absolute + relative * Math.abs(expected);
}

/** Runs an example of a record and compares what it gives. */
export function checkExample(call, expected) {
  flow.manualSeed(0);
  const found = plain(call());
  assert.ok(agree(found, expected), `expected ${show(expected)}, got ${show(found)}`);
}

const show = (value) => JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? `${member}n` : member));

/** What assert.throws() and assert.rejects() are to find: an error of this class with this text. */
export const failure = (Class, text) => (error) => {
  assert.equal(error.message, text);
  assert.equal(error.code, Class.name);
  assert.ok(error instanceof Class);
  assert.ok(error instanceof flow.OneFlowError);
  return true;
};

/** A call must fail with this class and this text. */
export function checkFailure(call, Class, text) {
  flow.manualSeed(0);
  assert.throws(call, failure(Class, text));
}

/** The file of a plugin that the tests' build makes. */
export const plugin = (name) => path.join(build, 'test_plugins', `${name}.so`);

/** What a program prints that runs in a process of its own; one that hangs is ended. */
export function runAlone(program, environment) {
  const script = `import flow from 'oneflow-js'; ${program}`;
  return execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
    cwd: path.join(build, 'node_modules'), env: {...process.env, ...environment}, encoding: 'utf8', timeout: 120_000,
  });
}

/** Resident memory in MiB. */
export const residentMiB = () => process.memoryUsage.rss() / 2 ** 20;
