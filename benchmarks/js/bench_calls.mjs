// Measures the cost of `a.add(b)` on 4 floats, and of einsum for two 2 x 2 matrices, from Node.js. The peers are a
// minimal node-addon-api call that returns a wrapped object, and tfjs on its wasm backend, which has matrix products
// instead of einsum. All contestants run once in each round. The event loop runs between them, because the finalizers of
// some peers need it.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROUNDS = 15;
const CALLS = 200_000; // enough for garbage collections to happen in the timed part

/** Loads the addon of bare.cpp, and compiles it if it is missing. */
function bareAddon() {
  const target = path.join(process.env.OF_BUILD ?? path.join(HERE, '..', '..', 'build'), 'bare.node');
  if (!fs.existsSync(path.join(HERE, 'node_modules'))) {
    execFileSync('npm', ['ci', '--silent'], {cwd: HERE, stdio: ['ignore', 2, 2]});
  }
  if (!fs.existsSync(target)) {
    const include = (name) => `-I${path.join(HERE, 'node_modules', name)}`;
    execFileSync(
      'g++',
      ['-O3', '-shared', '-fPIC', '-std=c++17', include('node-addon-api'), include('node-api-headers/include'), 'bare.cpp', '-o', target],
      {cwd: HERE, stdio: ['ignore', 2, 2]},
    );
  }
  return createRequire(import.meta.url)(target);
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Returns the median nanoseconds per call of each contestant, a function that makes the given number of calls. */
async function interleaved(contestants) {
  const times = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, run] of Object.entries(contestants)) {
      const start = process.hrtime.bigint();
      run(CALLS);
      const elapsed = Number(process.hrtime.bigint() - start) / CALLS;
      if (round > 0) times[name].push(elapsed);
      globalThis.gc?.();
      await turn();
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, values]) => [name, Math.round(median(values) * 10) / 10]));
}

function report(what, ours, peers, bounds, references = {}) {
  console.log(JSON.stringify({what, unit: 'ns', ours, peers, bounds, references}));
}

const {Bare} = bareAddon();
const flow = createRequire(import.meta.url)('../../bindings/js');
const tf = await import('@tensorflow/tfjs-core');
await import('@tensorflow/tfjs-backend-wasm');
await tf.setBackend('wasm');

const [a, b] = [flow.tensor([1, 2, 3, 4]), flow.tensor([1, 2, 3, 4])];
const [bareA, bareB] = [new Bare(), new Bare()];
const [tfA, tfB] = [tf.tensor1d([1, 2, 3, 4]), tf.tensor1d([1, 2, 3, 4])];

const [tfM, tfN] = [tf.tensor2d([[1, 2], [3, 4]]), tf.tensor2d([[1, 2], [3, 4]])];
const [m, n] = [flow.tensor([[1, 2], [3, 4]]), flow.tensor([[1, 2], [3, 4]])];
const product = flow.einsumExpression('ij,jk->ik', m, n);

const times = await interleaved({
  collected: (calls) => {
    for (let i = 0; i < calls; i++) a.add(b);
  },
  tidied: (calls) => {
    for (let i = 0; i < calls; i += 1000) {
      flow.tidy(() => {
        for (let j = 0; j < 1000; j++) a.add(b);
      });
    }
  },
  'node-addon-api': (calls) => {
    for (let i = 0; i < calls; i++) bareA.add(bareB);
  },
  'tfjs wasm': (calls) => {
    for (let i = 0; i < calls; i += 1000) {
      tf.tidy(() => {
        for (let j = 0; j < 1000; j++) tf.add(tfA, tfB);
      });
    }
  },
  'einsum': (calls) => {
    for (let i = 0; i < calls; i++) flow.einsum('ij,jk->ik', m, n);
  },
  'expression': (calls) => {
    for (let i = 0; i < calls; i++) product(m, n);
  },
  'tfjs matMul': (calls) => {
    for (let i = 0; i < calls; i += 1000) {
      tf.tidy(() => {
        for (let j = 0; j < 1000; j++) tf.matMul(tfM, tfN);
      });
    }
  },
});

report('Node a.add(b), 4 floats, collected', times.collected, {'node-addon-api': times['node-addon-api'], 'tfjs wasm': times['tfjs wasm']}, [
  {peer: 'node-addon-api', at_most: 1.1},
  {peer: 'tfjs wasm', at_most: 0.4},
]);
report('Node a.add(b), 4 floats, in tidy', times.tidied, {collected: times.collected}, [{peer: 'collected', at_most: 0.5}]);
report('Node einsum ij,jk->ik, 2 x 2', times.einsum, {'its expression': times.expression, 'tfjs wasm, matMul': times['tfjs matMul']}, [
  {peer: 'tfjs wasm, matMul', at_most: 0.4},
  {peer: 'target', at_most: 1},
], {target: 900});
