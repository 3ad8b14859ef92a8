// Interleaved timing for the benchmark programs, and the installation of the libraries that they compare with.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROUNDS = 15;

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Installs the libraries of package.json, if they are missing. */
export function installPeers() {
  const installed = (name) => fs.existsSync(path.join(HERE, 'node_modules', name));
  const {dependencies} = JSON.parse(fs.readFileSync(path.join(HERE, 'package.json'), 'utf8'));
  if (Object.keys(dependencies).every(installed)) return;
  execFileSync('npm', ['ci', '--silent'], {cwd: HERE, stdio: ['ignore', 2, 2]});
}

/**
 * Returns the median nanoseconds per call of each contestant, a function that makes the given number of calls, or a
 * promise of them. All run once in each round. The event loop runs between them, because the finalizers of some
 * libraries need it.
 */
export async function interleaved(calls, contestants) {
  const times = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, run] of Object.entries(contestants)) {
      const start = process.hrtime.bigint();
      await run(calls);
      const elapsed = Number(process.hrtime.bigint() - start) / calls;
      if (round > 0) times[name].push(elapsed);
      globalThis.gc?.();
      await turn();
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, values]) => [name, median(values)]));
}

/** Prints a row of results, see ../README.md. The times are in nanoseconds, `unit` is that of the row. */
export function report(what, unit, ours, peers, bounds, references = {}) {
  const scale = {ns: 1, us: 1e-3, ms: 1e-6}[unit];
  const rounded = (time) => Math.round(time * scale * 10) / 10;
  const all = Object.fromEntries(Object.entries(peers).map(([name, time]) => [name, rounded(time)]));
  console.log(JSON.stringify({what, unit, ours: rounded(ours), peers: all, bounds, references}));
}
