// Measures the cost of `a.add(b)` on 4 floats, and of einsum for two 2 x 2 matrices, from Node.js. The peers are a
// minimal node-addon-api call that returns a wrapped object, and tfjs on its wasm backend, which has matrix products
// instead of einsum. All contestants run once in each round. The event loop runs between them, because the finalizers of
// some peers need it.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

import {installPeers, interleaved, report} from './timing.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const CALLS = 200_000; // enough for garbage collections to happen in the timed part

/** Loads the addon of bare.cpp, and compiles it if it is missing. */
function bareAddon() {
  const target = path.join(process.env.OF_BUILD ?? path.join(HERE, '..', '..', 'build'), 'bare.node');
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

installPeers();
const {Bare} = bareAddon();
const flow = createRequire(import.meta.url)('../../bindings/js');
const tf = await import('@tensorflow/tfjs');
await import('@tensorflow/tfjs-backend-wasm');
await tf.setBackend('wasm');

const [a, b] = [flow.tensor([1, 2, 3, 4]), flow.tensor([1, 2, 3, 4])];
const [bareA, bareB] = [new Bare(), new Bare()];
const [tfA, tfB] = [tf.tensor1d([1, 2, 3, 4]), tf.tensor1d([1, 2, 3, 4])];

const [tfM, tfN] = [tf.tensor2d([[1, 2], [3, 4]]), tf.tensor2d([[1, 2], [3, 4]])];
const [m, n] = [flow.tensor([[1, 2], [3, 4]]), flow.tensor([[1, 2], [3, 4]])];
const product = flow.einsumExpression('ij,jk->ik', m, n);

const times = await interleaved(CALLS, {
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

report('Node a.add(b), 4 floats, collected', 'ns', times.collected, {'node-addon-api': times['node-addon-api'], 'tfjs wasm': times['tfjs wasm']}, [
  {peer: 'node-addon-api', at_most: 1.1},
  {peer: 'tfjs wasm', at_most: 0.4},
]);
report('Node a.add(b), 4 floats, in tidy', 'ns', times.tidied, {collected: times.collected}, [{peer: 'collected', at_most: 0.5}]);
report('Node einsum ij,jk->ik, 2 x 2', 'ns', times.einsum, {'its expression': times.expression, 'tfjs wasm, matMul': times['tfjs matMul']}, [
  {peer: 'tfjs wasm, matMul', at_most: 0.4},
  {peer: 'target', at_most: 1},
], {target: 900});
