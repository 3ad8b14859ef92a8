// Runs a scenario of something that goes wrong as one rank of a job, and prints a line of JSON for each outcome. See
// faults.py.

import {readdirSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {setTimeout} from 'node:timers/promises';

const flow = createRequire(import.meta.url)('oneflow-js'); // found by NODE_PATH
const {comm} = flow;
const rank = Number(process.env.ONEFLOW_RANK);
const ones = (...shape) => flow.ones(shape, {device: process.env.TEST_DEVICE ?? 'cpu'});

/** Prints the result of a call, or its error. */
async function attempt(call) {
  try {
    const result = await call();
    console.log(JSON.stringify(result instanceof flow.Tensor ? result.toArray() : result ?? null));
  } catch (error) {
    if (!(error instanceof flow.OneFlowError)) throw error;
    console.log(JSON.stringify([error.constructor.name, error.message]));
  }
}

/** Joins with a short deadline, once all ranks have started: that may take longer. */
async function join() {
  const folder = process.env.TEST_FOLDER;
  writeFileSync(`${folder}/started.${rank}`, '');
  const started = () => readdirSync(folder).filter((name) => name.startsWith('started.')).length;
  while (started() < Number(process.env.ONEFLOW_WORLD_SIZE)) await setTimeout(10);
  comm.init({timeout: 2});
}

/** Returns on rank 1 after all others have called it, which need nothing of rank 1 to go on. */
const reachRank1 = () => comm.gather(flow.ones([1]), 1);

async function busy(signal) {
  await join();
  const x = ones(3);
  await attempt(() => comm.allReduce(x));
  if (rank === 1) flow.setOption('accel_hold', 1);
  const result = comm.allReduce(x);
  reachRank1();
  if (rank === 1) process.kill(process.pid, signal);
  await attempt(() => result);
  await attempt(() => comm.allReduce(ones(3), {group: '0,2'}));
}

const scenarios = {
  async killed() {
    reachRank1();
    if (rank === 1) process.kill(process.pid, 'SIGKILL');
    await attempt(() => comm.allReduce(ones(3)));
    await attempt(() => comm.allReduceAsync(ones(3)));
    await attempt(() => comm.allReduce(ones(3), {group: new comm.Group([0, 2, 3])}));
  },
  async stopped() {
    await join();
    reachRank1();
    if (rank === 1) process.kill(process.pid, 'SIGSTOP');
    await attempt(() => comm.allReduce(ones(3)));
  },
  async operators() {
    await attempt(() => (rank === 1 ? comm.allGather(ones(3)) : comm.allReduce(ones(3))));
    await attempt(() => comm.allReduce(ones(3)));
  },
  async shapes() {
    await attempt(() => comm.allReduceAsync(ones(3 + Math.floor(rank / 2))));
    await attempt(() => comm.allReduceAsync(ones(3)));
  },
  async dtypes() {
    await attempt(() => comm.allReduce(flow.ones([3], {dtype: rank === 0 ? 'int64' : 'float32'}), {op: 'max'}));
  },
  async roots() {
    await attempt(() => comm.broadcast(ones(3), rank === 2 ? 1 : 0));
    await attempt(() => comm.allReduce(ones(3)));
  },
  async leaves() {
    comm.barrier();
    if (rank !== 1) await attempt(() => comm.allReduce(ones(3)));
  },
  async never() {
    await attempt(() => comm.init({timeout: 2}));
  },
  async busy_killed() {
    await busy('SIGKILL');
  },
  async busy_stopped() {
    await busy('SIGSTOP');
  },
  async failing() {
    if (rank === 1) flow.setOption('accel_fail_collectives', 1);
    await attempt(() => comm.allReduce(ones(3)));
    comm.barrier();
    await attempt(() => comm.allReduce(ones(3)));
  },
  async through_host() {
    const x = ones(3);
    flow.resetFallbacks();
    await attempt(() => comm.allReduce(x));
    await attempt(() => comm.allReduceAsync(x));
    await attempt(() => Object.values(flow.fallbacks()));
    flow.setOption('fallback_is_error', 1);
    await attempt(() => comm.allReduce(x));
    await attempt(() => comm.allReduceAsync(x));
  },
  async host() {
    await attempt(() => comm.allReduce(rank === 1 ? flow.ones([3]) : ones(3)));
    await attempt(() => comm.allReduce(ones(3)));
  },
  async lists() {
    await attempt(() => comm.allReduce([ones(2), ones(2)]));
    await attempt(() => comm.allGather([[1, rank]]));
  },
  async secrets() {
    await attempt(() => comm.allReduce(ones(3)));
  },
  async twice() {
    comm.init();
    await attempt(() => comm.init());
    await attempt(() => comm.allReduce(ones(1)));
    comm.barrier();
    comm.finalize();
    await attempt(() => comm.allReduce(ones(1)));
    comm.finalize();
  },
  async many() {
    const promises = Array.from({length: 3000}, (_, i) => comm.allReduceAsync(flow.full([100], i, {dtype: 'float32'})));
    await attempt(async () => (await Promise.all(promises)).every((x, i) => x.at(0).item() === 3 * i));
  },
};

await scenarios[process.argv[2]]();
