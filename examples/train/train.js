// Trains a convolutional network to read handwritten digits.
//
// Usage: node train.js [--seed N] [--epochs N] [--device NAME] [--quiet] [--save GRAPH] [DATA]. This folder
// has the same program in Python and Ruby. All of them print the same losses.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const {parseArgs} = require('node:util');
const zlib = require('node:zlib');
const flow = require('oneflow-js');

const [BATCH, LEARNING_RATE, DROPOUT, CLASSES] = [64, 5e-3, 0.5, 10];

/** Returns the images (n, 1, 8, 8) and labels (n) to learn from, and those of every third image, held out. */
function load(file) {
  const lines = zlib.gunzipSync(fs.readFileSync(file)).toString().trim().split('\n');
  const table = flow.tensor(lines.map((line) => line.split(',').map(Number)), {dtype: 'int64'});
  const [images, labels] = [table.at(':, :64').cast(flow.float32).reshape(-1, 1, 8, 8).div(16), table.at(':, 64')];
  const heldOut = flow.arange(labels.shape[0]).remainder(3).eq(0);
  const others = heldOut.logicalNot();
  return [[images.at(others), labels.at(others)], [images.at(heldOut), labels.at(heldOut)]];
}

/** Returns random weights between -sqrt(6 / inputs) and sqrt(6 / inputs), which keep the variance through a relu. */
function uniform(shape, {inputs}) {
  return flow.rand(shape).mul(2).sub(1).mul(Math.sqrt(6 / inputs));
}

/** Returns what the network learns, by name. */
function initialParameters() {
  return {
    firstWeight: uniform([16, 1, 3, 3], {inputs: 9}),
    firstBias: flow.zeros([16]),
    secondWeight: uniform([32, 16, 3, 3], {inputs: 144}),
    secondBias: flow.zeros([32]),
    normWeight: flow.ones([32]),
    normBias: flow.zeros([32]),
    lastWeight: uniform([CLASSES, 512], {inputs: 512}),
    lastBias: flow.zeros([CLASSES]),
  };
}

/** Returns the mean and the variance of each channel, which batchNorm moves in training and uses otherwise. */
function initialStatistics() {
  return [flow.zeros([32]), flow.ones([32])];
}

/** Returns a score for each image and class. */
function network(p, statistics, images, {training}) {
  let x = flow.conv2d(images, p.firstWeight, p.firstBias, {padding: 1}).relu();
  x = flow.conv2d(x, p.secondWeight, p.secondBias, {padding: 1}).relu();
  x = flow.batchNorm(x, ...statistics, p.normWeight, p.normBias, {training});
  x = flow.dropout(flow.maxPool2d(x, 2).flatten(1), DROPOUT, training);
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

/** Yields the images and labels in a random order, BATCH at a time. */
function* batches([images, labels]) {
  for (const chosen of flow.randperm(labels.shape[0]).split(BATCH)) yield [images.at(chosen), labels.at(chosen)];
}

/** Trains on all images in each epoch. Yields each epoch, its mean loss, and the images per second. */
function* train(parameters, statistics, data, epochs) {
  const count = data[1].shape[0];
  const adam = new Adam(Object.values(parameters), epochs * Math.ceil(count / BATCH));
  for (let epoch = 1; epoch <= epochs; epoch++) {
    const start = performance.now();
    let total = 0;
    for (const [images, labels] of batches(data)) {
      const loss = flow.crossEntropy(network(parameters, statistics, images, {training: true}), labels);
      adam.step(loss);
      total += loss.item() * labels.shape[0];
    }
    yield [epoch, total / count, count / (performance.now() - start) * 1000];
  }
}

/** Returns how many images have their highest score at the label. */
function countRight(parameters, statistics, [images, labels]) {
  const guess = flow.noGrad(() => network(parameters, statistics, images, {training: false}).argmax({dim: 1}));
  return guess.eq(labels).sum().item();
}

/** Saves the network as a graph for any number of images: examples/c/classify.c runs it. */
function save(parameters, statistics, file) {
  const [mean, variance] = statistics;
  const predict = (images) => network(parameters, statistics, images, {training: false});
  const weights = {...parameters, mean, variance};
  flow.graph.capture(predict, flow.ones([1, 1, 8, 8]), {dynamic: 'count', weights, names: ['images']}).save(file);
}

function main() {
  const options = {
    seed: {type: 'string', default: '0'},
    epochs: {type: 'string', default: '20'},
    device: {type: 'string', default: flow.getDefaultDevice()},
    quiet: {type: 'boolean', default: false},
    save: {type: 'string'},
  };
  const {values, positionals} = parseArgs({options, allowPositionals: true});
  flow.setDefaultDevice(values.device);
  flow.manualSeed(Number(values.seed));
  const [learned, heldOut] = load(positionals[0] ?? path.join(__dirname, '..', 'data', 'digits.csv.gz'));

  const [parameters, statistics] = [initialParameters(), initialStatistics()];
  for (const [epoch, loss, rate] of train(parameters, statistics, learned, Number(values.epochs))) {
    if (!values.quiet) console.log(`epoch ${epoch}: loss ${loss.toFixed(10)}, ${rate.toFixed(0)} images/s`);
  }
  const [right, count] = [countRight(parameters, statistics, heldOut), heldOut[1].shape[0]];
  console.log(`accuracy: ${(right / count).toFixed(6)} (${right} of ${count})`);
  if (values.save !== undefined) save(parameters, statistics, values.save);
}

main();
