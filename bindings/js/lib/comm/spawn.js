'use strict';

/** Jobs that a running program starts. */

const childProcess = require('node:child_process');
const {randomUUID} = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {fileURLToPath} = require('node:url');
const vm = require('node:vm');
const {launcher} = require('../addon/packages');
const {makeError} = require('../errors');
const {describe} = require('../tensor/tensor');
const {pack, unpack} = require('./clone');

const CALLER = 'comm.spawn';

function refuse(code, text) {
  throw makeError(code, `${CALLER}: ${text}`);
}

/** Returns what a process finds a function by: its source, or the file of a module. */
function codeOf(fn) {
  if (typeof fn === 'string') return {file: path.resolve(fn)};
  if (fn instanceof URL && fn.protocol === 'file:') return {file: fileURLToPath(fn)};
  if (typeof fn !== 'function') {
    refuse('TypeMismatch', `fn must be function or path of a module, got ${describe(fn)}`);
  }
  const source = Function.prototype.toString.call(fn);
  try {
    // Native and bound functions have no source, and that of a method is no expression.
    new vm.Script(`(${source}\n)`);
  } catch {
    refuse('TypeMismatch', 'fn must be a function with a source, got a method, or a native or bound function');
  }
  return {source};
}

function checkCount(n) {
  const expected = 'n must be a positive integer, got';
  if (typeof n !== 'number' || !Number.isInteger(n)) {
    refuse('TypeMismatch', `${expected} ${typeof n === 'number' ? n : describe(n)}`);
  }
  if (n < 1) refuse('InvalidArgument', `${expected} ${n}`);
}

/** Opens a file without a name: nothing is left of it, however the processes end. */
function openUnnamed() {
  const name = path.join(os.tmpdir(), `oneflow-${randomUUID()}`);
  const file = fs.openSync(name, 'wx+', 0o600);
  fs.unlinkSync(name);
  return file;
}

/** Runs a job to its end. Returns what the launcher says about the rank that has failed, and how it has ended. */
function run(count, files) {
  const program = path.join(__dirname, 'rank.js');
  if (!fs.existsSync(program)) refuse('Unsupported', 'the package must be left out of bundles, as an external one');
  // In a process it has these descriptors: that of reports, then those of the files.
  const report = 3;
  const numbers = files.map((_, position) => report + 1 + position);
  const options = ['-n', count, '--grace', 0.5, '--end-with', process.pid, '--report', report];
  const child = childProcess.spawn(launcher(), [...options, process.execPath, program, ...numbers].map(String), {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...files],
  });
  // Looked up each time: notebooks replace them.
  child.stdout.on('data', (bytes) => process.stdout.write(bytes));
  child.stderr.on('data', (bytes) => process.stderr.write(bytes));
  let reports = '';
  child.stdio[report].setEncoding('utf8').on('data', (text) => {
    reports += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status, signal) => resolve({reports, status, signal}));
  });
}

/** Returns the result of a rank. */
function resultOf(file, rank) {
  const bytes = fs.readFileSync(`/proc/self/fd/${file}`);
  if (bytes.length === 0) {
    refuse('CommunicationError', `rank ${rank} ended with exit status 0 before the function returned`);
  }
  return unpack(bytes).result;
}

/** Returns the failure that a rank has written, in an array; an empty one if it was ended before. */
function failureOf(file, rank) {
  try {
    const {failure} = unpack(fs.readFileSync(`/proc/self/fd/${file}`));
    return failure ? [{rank, ...failure}] : [];
  } catch {
    return [];
  }
}

/** Makes the error of a job that has failed: that of the rank that was first, as others may have failed by it. */
function makeFailure({reports, status, signal}, files) {
  const [, number, text] = /^(\d+) (.*)\n/.exec(reports) ?? [];
  const failures = files.flatMap(failureOf);
  if (number !== undefined && !failures.some(({rank}) => rank === Number(number))) {
    return makeError('CommunicationError', `${CALLER}: rank ${number} ${text} before the function returned`);
  }
  if (failures.length === 0) {
    return makeError('CommunicationError', `${CALLER}: oneflow-run ended with ${signal ?? `status ${status}`}`);
  }
  const first = failures.reduce((a, b) => (b.time < a.time ? b : a));
  const trace = first.trace && `\n\n${first.trace}`;
  const error = makeError('CommunicationError', `${CALLER}: rank ${first.rank} raised ${first.summary}${trace}`);
  if (first.error !== undefined) {
    Object.defineProperty(error, 'cause', {value: unpack(first.error), writable: true, configurable: true});
  }
  return error;
}

/** Starts n processes on this host, calls a function in each, and returns the results in the order of the ranks. */
async function spawn(fn, n, ...args) {
  const code = codeOf(fn);
  checkCount(n);
  let call;
  try {
    call = pack({...code, args});
  } catch (error) {
    refuse('TypeMismatch', `the arguments cannot be cloned: ${error.message}`);
  }
  const files = [];
  try {
    for (let i = 0; i <= n; i++) files.push(openUnnamed());
    const [callFile, ...resultFiles] = files;
    fs.writeFileSync(callFile, call);
    const end = await run(n, files);
    if (end.status !== 0) throw makeFailure(end, resultFiles);
    return resultFiles.map(resultOf);
  } finally {
    for (const file of files) fs.closeSync(file);
  }
}

module.exports = {spawn};
