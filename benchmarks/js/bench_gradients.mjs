// Measures a training step of a perceptron from Node.js, 784-512-256-10 with a batch of 128: forward and backward pass,
// and the update of the parameters. The peer is tfjs on its wasm and cpu backends.
import {createRequire} from 'node:module';

import {installPeers, interleaved, report} from './timing.mjs';

const SIZES = [784, 512, 256, 10];
const BATCH = 128;
const RATE = 0.01;

installPeers();
const flow = createRequire(import.meta.url)('../../bindings/js');
const tf = await import('@tensorflow/tfjs');
await import('@tensorflow/tfjs-backend-wasm');

/** Returns Float32Arrays: the inputs, then a matrix and a vector per layer. */
function data() {
  let state = 1;
  const next = () => (state = (state * 48271) % 0x7fffffff) / 0x7fffffff - 0.5;
  const random = (count, scale) => Float32Array.from({length: count}, () => next() * scale);
  const layers = SIZES.slice(1).map((n, i) => [random(SIZES[i] * n, 0.1), random(n, 0.1)]);
  return {inputs: random(BATCH * SIZES[0], 2), layers};
}

const labels = Int32Array.from({length: BATCH}, (_, i) => i % SIZES.at(-1));

function oneflow() {
  const {inputs, layers} = data();
  const x = flow.tensor(inputs, {shape: [BATCH, SIZES[0]]});
  const target = flow.tensor(labels).to(flow.int64);
  const parameters = layers.flatMap(([w, b], i) => [
    flow.tensor(w, {shape: [SIZES[i], SIZES[i + 1]]}).setRequiresGrad(),
    flow.tensor(b).setRequiresGrad(),
  ]);
  const step = () =>
    flow.tidy(() => {
      let h = x;
      for (let i = 0; i < parameters.length; i += 2) {
        h = h.matmul(parameters[i]).add(parameters[i + 1]);
        if (i + 2 < parameters.length) h = h.relu();
      }
      const loss = flow.nn.functional.crossEntropy(h, target);
      const grads = flow.grad(loss, parameters);
      flow.optim.sgd_(parameters, grads, {lr: RATE});
      return loss.item();
    });
  return step;
}

function tfjs() {
  const {inputs, layers} = data();
  const x = tf.tensor2d(inputs, [BATCH, SIZES[0]]);
  const target = tf.cast(tf.oneHot(tf.tensor1d(labels, 'int32'), SIZES.at(-1)), 'float32');
  const parameters = layers.flatMap(([w, b], i) => [
    tf.variable(tf.tensor2d(w, [SIZES[i], SIZES[i + 1]])),
    tf.variable(tf.tensor1d(b)),
  ]);
  const optimizer = tf.train.sgd(RATE);
  const loss = () => {
    let h = x;
    for (let i = 0; i < parameters.length; i += 2) {
      h = tf.add(tf.matMul(h, parameters[i]), parameters[i + 1]);
      if (i + 2 < parameters.length) h = tf.relu(h);
    }
    return tf.losses.softmaxCrossEntropy(target, h);
  };
  return () => tf.tidy(() => optimizer.minimize(loss, true, parameters).dataSync()[0]);
}

const repeated = (step) => (calls) => {
  for (let i = 0; i < calls; i++) step();
};

const steps = {oneflow: oneflow()};
for (const backend of ['wasm', 'cpu']) {
  await tf.setBackend(backend);
  steps[`tfjs ${backend}`] = tfjs();
}
const onBackend = (name) => async (calls) => {
  if (name !== 'oneflow') await tf.setBackend(name.split(' ')[1]);
  repeated(steps[name])(calls);
};
const times = await interleaved(5, Object.fromEntries(Object.keys(steps).map((name) => [name, onBackend(name)])));
const {oneflow: ours, ...peers} = times;
report('Node training step, MLP 784-512-256-10, batch 128', 'us', ours, peers, [{peer: 'best', at_most: 0.125}]);
