// Helpers of the tests: comparison of values, checks of errors by class and whole message, and programs in processes of
// their own.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import flow from 'oneflow-js';

const build = process.env.OF_BUILD ?? fileURLToPath(new URL('../../../build', import.meta.url));

/** Converts a result to nested arrays; several results become a list. */
function plain(value) {
  if (flow.isTensor(value)) return value.toArray({bigint: value.dtype === 'int64'});
  return Array.isArray(value) ? value.map(plain) : value;
}

/** Returns whether two (nested) values agree: numbers within the tolerance, BigInts exactly. */
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

/** Runs an example of a record and asserts that its result agrees with `expected`. */
export function checkExample(call, expected) {
  flow.manualSeed(0);
  const found = plain(call());
  assert.ok(agree(found, expected), `expected ${show(expected)}, got ${show(found)}`);
}

/** Formats a value, also one with BigInts, for a message. */
const show = (value) => JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? `${member}n` : member));

/** Returns a validator for assert.throws() and assert.rejects(): the error must have this class and this message. */
export const failure = (Class, text) => (error) => {
  assert.equal(error.message, text);
  assert.equal(error.code, Class.name);
  assert.ok(error instanceof Class);
  assert.ok(error instanceof flow.OneFlowError);
  return true;
};

/** Asserts that a call throws an error of this class with this message. */
export function checkFailure(call, Class, text) {
  flow.manualSeed(0);
  assert.throws(call, failure(Class, text));
}

/** Returns the path of a device plugin that is built for the tests. */
export const plugin = (name) => path.join(build, 'test_plugins', `${name}.so`);

/**
 * Returns why a program failed, from the error of the function that ran it: how it ended, and what it printed.
 * Summaries show the first lines of a message, which are the source line in what Node.js prints; it is left out.
 */
export const reasonOf = ({status, code, signal, stderr}) =>
  `${signal ?? `status ${status ?? code}`}: ${stderr.replace(/^\s*\S+:\d+\n.*\n\s*\^+\s+/, '')}`;

/** Runs a program in its own process and returns its output. Ends it after a time limit. */
export function runAlone(program, environment, options = ['--expose-gc']) {
  const script = `import flow from 'oneflow-js'; ${program}`;
  try {
    return execFileSync(process.execPath, [...options, '--input-type=module', '-e', script], {
      cwd: path.join(build, 'node_modules'), env: {...process.env, ...environment}, encoding: 'utf8', timeout: 120_000,
    });
  } catch (error) {
    return assert.fail(reasonOf(error));
  }
}

/**
 * Asserts that V8 looks for old garbage because of memory outside of its heap during a program, which runs alone: its
 * heap is too small to be the reason. V8 does so at once or step by step.
 */
export function checkMemoryIsReported(program) {
  const printed = runAlone(`
    import {constants, PerformanceObserver} from 'node:perf_hooks';
    import {setTimeout} from 'node:timers/promises';
    const collections = [];
    new PerformanceObserver((list) => collections.push(...list.getEntries())).observe({entryTypes: ['gc']});
    ${program}
    const end = performance.now(); // later on, V8 may collect because nothing else is done
    const isDueToMemory = ({startTime, detail: {kind, flags}}) => startTime < end &&
      (kind === constants.NODE_PERFORMANCE_GC_INCREMENTAL ||
        flags & constants.NODE_PERFORMANCE_GC_FLAGS_ALL_EXTERNAL_MEMORY);
    for (let i = 0; i < 100 && !collections.some(isDueToMemory); i++) await setTimeout(10); // until they are reported
    console.log(collections.some(isDueToMemory));
  `);
  assert.equal(printed, 'true\n');
}

/**
 * Runs a function while at most `bytes` more may be in use than now. Work that allocates many times as much shows that
 * its results are released: a leak ends in OutOfMemory.
 */
export function withRoom(bytes, work) {
  flow.setMemoryLimit(flow.memoryStats().inUse + bytes);
  try {
    return work();
  } finally {
    flow.setMemoryLimit(0);
  }
}
