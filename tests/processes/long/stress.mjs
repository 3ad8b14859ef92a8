// Does something that disturbs collectives again and again as one rank of a job, and checks all results.

import {createRequire} from 'node:module';
import {setTimeout as sleep} from 'node:timers/promises';

const flow = createRequire(import.meta.url)('oneflow-js');
const {comm} = flow;
comm.init({timeout: 100});
const rank = comm.rank();
const size = comm.worldSize();
const total = size * (size + 1) / 2;

const operand = (count) => flow.full([count], rank + 1);
const countOf = (i) => [3, 5000, 200000][i % 3];

function check(result) {
  const numbers = [result.at(0).item(), result.at(-1).item()];
  if (numbers[0] !== total || numbers[1] !== total) throw new Error(`${numbers}`);
}

async function refuses(call) {
  try {
    await call();
  } catch (error) {
    if (error instanceof flow.CommunicationError) return true;
    throw error;
  }
  return false;
}

const scenarios = {
  // Thousands are under way at once.
  async many() {
    for (let round = 0; round < 3; ++round) {
      const x = operand(1000);
      (await Promise.all(Array.from({length: 3000}, () => comm.allReduceAsync(x)))).forEach(check);
    }
  },

  // Joins and leaves while promises are pending: they are rejected.
  async leaves() {
    for (let cycle = 0; cycle < 20; ++cycle) {
      let isTold = false;
      const calls = (async () => {
        for (let i = 0; !isTold; ++i) {
          isTold = await refuses(async () => check(await comm.allReduceAsync(operand(countOf(i)))));
        }
      })();
      await sleep(Math.random() * 50);
      comm.finalize();
      await calls;
      if (!await refuses(() => comm.allReduceAsync(operand(3)))) throw new Error('it was not told');
      if (cycle < 19) comm.init({timeout: 100});
    }
  },

  // Ends while collectives are under way.
  async ends() {
    for (let i = 0; i < 1000; ++i) comm.allReduceAsync(operand(countOf(i))).catch(() => {});
    await sleep(Math.random() * 100);
    process.exit(0);
  },
};

await scenarios[process.argv[2]]();
