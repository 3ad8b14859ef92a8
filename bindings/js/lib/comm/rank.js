'use strict';

/**
 * The program of a process that comm.spawn() has started: calls a function as a rank of a job. Its arguments are the
 * descriptors of the file with the call and, by rank, of those for results.
 */

const fs = require('node:fs');
const {createRequire} = require('node:module');
const path = require('node:path');
const {pathToFileURL} = require('node:url');
const util = require('node:util');
const vm = require('node:vm');
const flow = require('../index');
const {pack, unpack} = require('./clone');

const [callFile, ...resultFiles] = process.argv.splice(2).map(Number);
const resultFile = resultFiles[Number(process.env.ONEFLOW_RANK)];
let hasEnded = false;

/** Writes how the rank has ended, and ends it. */
function end(outcome, status) {
  hasEnded = true;
  fs.writeFileSync(resultFile, outcome);
  process.exit(status);
}

/** Returns a value as bytes; undefined if it cannot be cloned. */
function packed(value) {
  try {
    return pack(value);
  } catch {
    return undefined;
  }
}

function fail(error) {
  const time = process.hrtime.bigint(); // of the clock that all processes of a host share
  const isError = util.types.isNativeError(error);
  const hint = error instanceof ReferenceError
    ? '; the function runs in another process, without the variables around it: pass their values as arguments'
    : '';
  const summary = (isError ? String(error) : util.inspect(error)) + hint;
  end(pack({failure: {time, summary, trace: isError ? String(error.stack) : '', error: packed(error)}}), 1);
}

/** Returns the function of a source, or that of a module. */
async function functionOf({source, file}) {
  if (source !== undefined) {
    const scope = {flow, require: createRequire(path.join(process.cwd(), 'comm.spawn'))};
    const options = {
      filename: 'comm.spawn',
      importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    };
    return vm.compileFunction(`return (${source}\n);`, Object.keys(scope), options)(...Object.values(scope));
  }
  const {default: found} = await import(pathToFileURL(file));
  if (typeof found !== 'function') {
    throw new flow.TypeMismatch(`comm.spawn: ${file} must export a function as its default, got ${typeof found}`);
  }
  return found;
}

async function run() {
  const {args, ...code} = unpack(fs.readFileSync(`/proc/self/fd/${callFile}`));
  const fn = await functionOf(code);
  const result = await fn(...args);
  let bytes;
  try {
    bytes = pack({result});
  } catch (error) {
    throw new flow.TypeMismatch(`comm.spawn: the result cannot be cloned: ${error.message}`);
  }
  end(bytes, 0);
}

process.on('uncaughtException', fail);
process.on('exit', (status) => {
  if (!hasEnded && status === 0) process.exitCode = 1; // it has exited early
});
run().catch(fail);
