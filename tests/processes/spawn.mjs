// Runs scenarios of comm.spawn, and prints a line of JSON for each outcome.

import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';

const require = createRequire(import.meta.url);
const flow = require('oneflow-js'); // found by NODE_PATH
const {comm} = flow;

/** Prints the result of a call, or its error. */
async function attempt(name, call) {
  let outcome;
  try {
    outcome = await call();
  } catch (error) {
    if (!(error instanceof flow.OneFlowError)) throw error;
    outcome = {class: error.constructor.name, text: error.message, cause: error.cause?.constructor.name ?? null};
  }
  console.log(JSON.stringify([name, outcome]));
}

async function values() {
  if (comm.rank() !== 0) throw new Error('it is in a job of its own');
  const x = flow.tensor([1, 2], {dtype: 'float16'});
  const results = await comm.spawn((x, two, options) => {
    const {comm} = flow;
    const places = [comm.rank(), comm.worldSize(), comm.localRank(), comm.localWorldSize()];
    return {sum: comm.allReduce(x.mul(two)).add(options.get('bias')), places};
  }, 3, x, 2, new Map([['bias', flow.tensor(0.5).setRequiresGrad()]]));
  return results.map(({sum, places}) => {
    if (sum.dtype !== x.dtype || sum.device !== x.device) throw new Error(`${sum.dtype} on ${sum.device}`);
    return [sum.toArray(), places];
  });
}

const output = () => comm.spawn(() => {
  console.log('out', flow.comm.rank());
  console.error('err', flow.comm.rank());
  return null;
}, 2);

/** Returns a job whose rank 1 does something, while rank 0 waits for it, and rank 2 works. */
const fails = (end) => () => comm.spawn(async (source) => {
  const {comm} = flow;
  comm.barrier();
  if (comm.rank() === 1) eval(source);
  if (comm.rank() === 0) comm.barrier();
  await new Promise((resolve) => setTimeout(resolve, 100_000));
}, 3, end);

async function copies() {
  const shared = [flow.tensor([true]), flow.tensor([{re: 1, im: 2}]), flow.zeros([0, 2]), flow.arange(6).reshape([2, 3]).t()];
  const value = {again: shared, shared, nothing: [undefined, null, NaN, 1n], set: new Set([shared[0]]), when: new Date(0)};
  value.own = value;
  const [found] = await comm.spawn((value) => {
    if (value.own !== value || value.again !== value.shared) throw new Error('identity is lost');
    return value;
  }, 1, value);
  const kept = found.own === found && found.set.has(found.shared[0]) && found.when instanceof Date;
  const [nothing, none, nan, big] = found.nothing;
  return [kept, nothing === undefined && none === null && Number.isNaN(nan) && big === 1n,
    found.shared.every((each, i) => each.equal(shared[i]))];
}

async function scenarios() {
  await attempt('values', values);
  await attempt('output', output);
  await attempt('raises', fails("(function unlucky() { throw new RangeError('no luck'); })()"));
  await attempt('killed', fails("process.kill(process.pid, 'SIGKILL')"));
  await attempt('exits', fails('process.exit(3)'));
  await attempt('leaves', () => comm.spawn(() => flow.comm.rank() === 1 && process.exit(0), 2));
  await attempt('result', () => comm.spawn(() => () => 1, 1));
  await attempt('arguments', () => comm.spawn(() => 1, 1, () => 1));
  await attempt('function', () => comm.spawn(3, 1));
  for (const n of ['2', 1.5, true, null, 0, -1]) await attempt('n', () => comm.spawn(() => 1, n));
  await attempt('nested', () => comm.spawn(async () => [
    flow.comm.rank(), await flow.comm.spawn(() => flow.comm.worldSize(), 2),
  ], 1));
  const outside = 3;
  await attempt('outside', () => comm.spawn(() => outside, 1));
  await attempt('native', () => comm.spawn(Math.max, 1));
  await attempt('method', () => comm.spawn({method() {}}.method, 1));
  const module = new URL('spawned.mjs', import.meta.url);
  await attempt('module', () => comm.spawn(module, 2, 40));
  await attempt('path', () => comm.spawn(fileURLToPath(module), 1, 1));
  await attempt('exports', () => comm.spawn(require.resolve('oneflow-js'), 1));
  await attempt('rejected', () => comm.spawn(() => {
    Promise.reject(new TypeError('nobody waits'));
    return new Promise((resolve) => setTimeout(resolve, 100_000));
  }, 1));
  await attempt('copies', copies);
}

async function waits() {
  await comm.spawn(async () => {
    flow.comm.barrier();
    console.log('ready');
    await new Promise((resolve) => setTimeout(resolve, 100_000));
  }, 2);
}

await {all: scenarios, waits}[process.argv[2]]();
