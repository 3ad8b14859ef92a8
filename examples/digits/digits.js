// Classifies handwritten digits: standardises the pixels, projects them with PCA, and finds the k nearest neighbours.
//
// Usage: node digits.js [--device NAME] [--profile FILE] [DATA]. This folder has the same program in Python and Ruby.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const {parseArgs} = require('node:util');
const zlib = require('node:zlib');
const flow = require('oneflow-js');

const [COMPONENTS, STEPS, NEIGHBOURS, CLASSES] = [16, 100, 5, 10];

/** Returns the images (n, 64) as float64 and the labels (n) as int64. */
function load(file) {
  const lines = zlib.gunzipSync(fs.readFileSync(file)).toString().trim().split('\n');
  const table = flow.tensor(lines.map((line) => line.split(',').map(Number)), {dtype: 'int64'});
  return [table.at(':, :64').cast(flow.float64), table.at(':, 64')];
}

/** Scales each pixel to zero mean and unit variance over the training images. Constant pixels become zero. */
function standardise(train, test) {
  const [mean, std] = [train.mean({dim: 0}), train.std({dim: 0})];
  const scale = flow.where(std.gt(0), std, 1);
  return [train.sub(mean).div(scale), test.sub(mean).div(scale)];
}

/**
 * Returns the leading eigenvectors (64, COMPONENTS) of the covariance, and their share of the variance. Computes them
 * by power iteration with deflation.
 */
function principalComponents(data) {
  let covariance = flow.einsum('ni,nj->ij', data, data).div(data.shape[0] - 1);
  const total = covariance.diagonal().sum();
  const vectors = [];
  let explained = 0;
  for (let component = 0; component < COMPONENTS; component++) {
    let vector = flow.ones([data.shape[1]], {dtype: flow.float64});
    for (let step = 0; step < STEPS; step++) {
      vector = flow.matmul(covariance, vector);
      vector = vector.div(vector.mul(vector).sum().sqrt());
    }
    const value = flow.einsum('i,ij,j->', vector, covariance, vector);
    covariance = covariance.sub(value.mul(flow.outer(vector, vector)));
    vectors.push(vector);
    explained = value.div(total).add(explained);
    process.stderr.write(`\rcomponent ${component + 1} of ${COMPONENTS}`);
  }
  process.stderr.write('\n');
  return [flow.stack(vectors, {dim: 1}), explained.item()];
}

/** Returns the most frequent label among the nearest training points; of equally frequent ones, the smallest. */
function classify(train, labels, test) {
  const squares = test.mul(test).sum({dim: 1, keepdim: true}).add(train.mul(train).sum({dim: 1}));
  const distances = squares.sub(flow.einsum('ik,jk->ij', test, train).mul(2));
  const [, nearest] = flow.topk(distances, NEIGHBOURS, {dim: 1, largest: false});
  const votes = labels.at(nearest).unsqueeze(2).eq(flow.arange(CLASSES));
  return votes.sum({dim: 1}).argmax({dim: 1});
}

/** Counts how often each digit (row) was classified as each digit (column). */
function confusionMatrix(truth, guess) {
  const matrix = flow.zeros([CLASSES, CLASSES], {dtype: flow.int64});
  matrix.indexPut_([truth, guess], flow.ones([truth.shape[0]], {dtype: flow.int64}), {accumulate: true});
  return matrix;
}

/** Learns from two thirds of the images, and classifies the others. */
function compute(images, labels) {
  const heldOut = flow.arange(images.shape[0]).remainder(3).eq(0);
  const others = heldOut.logicalNot();
  const [train, test] = standardise(images.at(others), images.at(heldOut));
  const [basis, explained] = principalComponents(train);
  const guess = classify(train.matmul(basis), labels.at(others), test.matmul(basis));
  const truth = labels.at(heldOut);
  const right = Number(guess.eq(truth).sum().item());
  return {train, test, explained, guess, truth, right};
}

function main() {
  const options = {device: {type: 'string'}, profile: {type: 'string'}};
  const {values, positionals} = parseArgs({options, allowPositionals: true});
  flow.setDefaultDevice(values.device ?? flow.getDefaultDevice());
  const [images, labels] = load(positionals[0] ?? path.join(__dirname, '..', 'data', 'digits.csv.gz'));
  const start = performance.now();

  let found;
  const run = () => {
    found = compute(images, labels);
  };
  const profile = values.profile === undefined ? run() : flow.profile(run);
  const seconds = (performance.now() - start) / 1000;
  const {train, test, explained, guess, truth, right} = found;
  console.log(`device: ${images.device}`);
  console.log(`images: ${train.shape[0]} to learn from, ${test.shape[0]} to classify`);
  console.log(`variance explained by ${COMPONENTS} components: ${explained.toFixed(12)}`);
  console.log(`accuracy: ${(right / test.shape[0]).toFixed(6)} (${right} of ${test.shape[0]})`);
  console.log('confusion matrix:');
  console.log(confusionMatrix(truth, guess).toString());
  console.log(`time: ${seconds.toFixed(3)} s`);
  if (profile) {
    profile.save(values.profile);
    process.stdout.write(profile.table());
  }
}

main();
