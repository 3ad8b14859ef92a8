// Trains a convolutional network to read handwritten digits.
//
// Usage: node train.js [--seed N] [--epochs N] [--device NAME] [--quiet] [DATA]. This folder has the same program in
// Python and Ruby. All of them print the same losses.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const {parseArgs} = require('node:util');
const zlib = require('node:zlib');
const flow = require('oneflow-js');

const [BATCH, LEARNING_RATE, DROPOUT, CLASSES] = [64, 5e-3, 0.5, 10];

/** Returns the images (n, 1, 8, 8) as float32 from 0 to 1, and the labels (n) as int64. */
function load(file) {
  const lines = zlib.gunzipSync(fs.readFileSync(file)).toString().trim().split('\n');
  const table = flow.tensor(lines.map((line) => line.split(',').map(Number)), {dtype: 'int64'});
  return [table.at(':, :64').cast(flow.float32).reshape(-1, 1, 8, 8).div(16), table.at(':, 64')];
}

/** Returns random weights between -sqrt(6 / inputs) and sqrt(6 / inputs), which keep the variance through a relu. */
function uniform(shape, inputs) {
  return flow.rand(shape).mul(2).sub(1).mul(Math.sqrt(6 / inputs));
}

/** Returns what the network learns, by name. */
function initialParameters() {
  return {
    firstWeight: uniform([16, 1, 3, 3], 9),
    firstBias: flow.zeros([16]),
    secondWeight: uniform([32, 16, 3, 3], 144),
    secondBias: flow.zeros([32]),
    normWeight: flow.ones([32]),
    normBias: flow.zeros([32]),
    lastWeight: uniform([CLASSES, 512], 512),
    lastBias: flow.zeros([CLASSES]),
  };
}

/** Returns the mean and variance of each channel, which batchNorm keeps for images that are not trained on. */
function initialStatistics() {
  return {mean: flow.zeros([32]), variance: flow.ones([32])};
}

/** Returns a score for each image and class. */
function network(p, {mean, variance}, images, training) {
  let x = flow.conv2d(images, p.firstWeight, p.firstBias, {padding: 1}).relu();
  x = flow.conv2d(x, p.secondWeight, p.secondBias, {padding: 1}).relu();
  x = flow.batchNorm(x, mean, variance, p.normWeight, p.normBias, {training});
  x = flow.maxPool2d(x, 2).flatten(1);
  if (training) x = x.mul(flow.dropoutMask(x.detach(), DROPOUT));
  return flow.linear(x, p.lastWeight, p.lastBias);
}

/** Changes parameters by Adam, with a learning rate that falls from LEARNING_RATE to 0 in a number of steps. */
class Adam {
  constructor(parameters, steps) {
    this.parameters = parameters.map((each) => each.setRequiresGrad());
    [this.averages, this.squares] = [0, 1].map(() => parameters.map((each) => flow.zerosLike(each)));
    [this.taken, this.steps] = [0, steps];
  }

  /** Computes the gradients of a loss, and moves the parameters against them. */
  step(loss) {
    const gradients = flow.grad(loss, this.parameters);
    const lr = LEARNING_RATE * (1 - this.taken / this.steps);
    this.taken += 1;
    flow.optim.adam_(this.parameters, gradients, this.averages, this.squares, {step: this.taken, lr});
  }
}

/** Trains on batches in a random order. Yields the mean loss of each epoch. */
function* train(parameters, statistics, images, labels, epochs) {
  const count = images.shape[0];
  const adam = new Adam(Object.values(parameters), epochs * Math.ceil(count / BATCH));
  for (let epoch = 0; epoch < epochs; epoch++) {
    let total = 0;
    for (const batch of flow.randperm(count).split(BATCH)) {
      const loss = flow.crossEntropy(network(parameters, statistics, images.at(batch), true), labels.at(batch));
      adam.step(loss);
      total += loss.item() * batch.shape[0];
    }
    yield total / count;
  }
}

/** Returns how many images have their highest score at the label. */
function countRight(parameters, statistics, images, labels) {
  const guess = flow.noGrad(() => network(parameters, statistics, images, false).argmax({dim: 1}));
  return guess.eq(labels).sum().item();
}

function main() {
  const {values, positionals} = parseArgs({
    options: {
      seed: {type: 'string', default: '0'},
      epochs: {type: 'string', default: '20'},
      device: {type: 'string', default: flow.getDefaultDevice()},
      quiet: {type: 'boolean', default: false},
    },
    allowPositionals: true,
  });
  flow.setDefaultDevice(values.device);
  flow.manualSeed(Number(values.seed));
  const [images, labels] = load(positionals[0] ?? path.join(__dirname, '..', 'data', 'digits.csv.gz'));
  const heldOut = flow.arange(images.shape[0]).remainder(3).eq(0);
  const others = heldOut.logicalNot();

  const [parameters, statistics] = [initialParameters(), initialStatistics()];
  const losses = train(parameters, statistics, images.at(others), labels.at(others), Number(values.epochs));
  let [epoch, start] = [0, performance.now()];
  for (const loss of losses) {
    const rate = others.sum().item() / ((performance.now() - start) / 1000);
    epoch += 1;
    if (!values.quiet) console.log(`epoch ${epoch}: loss ${loss.toFixed(12)}, ${rate.toFixed(0)} images/s`);
    start = performance.now();
  }
  const count = heldOut.sum().item();
  const right = countRight(parameters, statistics, images.at(heldOut), labels.at(heldOut));
  console.log(`accuracy: ${(right / count).toFixed(6)} (${right} of ${count})`);
}

main();
