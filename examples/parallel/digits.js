// Trains a network to read handwritten digits, on several processes: each learns from its part of every batch.
//
// Usage: oneflow-run -n 4 node digits.js [--epochs N] [DATA]. This folder has the same program in Python and Ruby; the
// ranks of a job may run different ones. The losses are those of one process, but for rounding.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const {parseArgs} = require('node:util');
const zlib = require('node:zlib');
const flow = require('oneflow-js');

const [BATCH, LEARNING_RATE, HIDDEN, CLASSES] = [64, 5e-3, 64, 10];
const {comm} = flow;

/** Returns the images (n, 64) and labels (n) to learn from, and those of every third image, held out. */
function load(file) {
  const lines = zlib.gunzipSync(fs.readFileSync(file)).toString().trim().split('\n');
  const table = flow.tensor(lines.map((line) => line.split(',').map(Number)), {dtype: 'int64'});
  const [images, labels] = [table.at(':, :64').cast(flow.float32).div(16), table.at(':, 64')];
  const heldOut = flow.arange(labels.shape[0]).remainder(3).eq(0);
  return [heldOut.logicalNot(), heldOut].map((chosen) => [images.at(chosen), labels.at(chosen)]);
}

/** Returns random weights of a layer, and zeros. */
function layer(inputs, outputs) {
  return [flow.rand([outputs, inputs]).mul(2).sub(1).mul(Math.sqrt(6 / inputs)), flow.zeros([outputs])];
}

/** Returns a score for each image and class. */
function network([weight, bias, lastWeight, lastBias], images) {
  return flow.linear(flow.linear(images, weight, bias).relu(), lastWeight, lastBias);
}

/** Returns the part of this rank. */
function ownPart(indices) {
  return flow.tensorSplit(indices, comm.worldSize())[comm.rank()];
}

/** Returns the sums of tensors over all ranks. They travel as one. */
function sumOverRanks(tensors) {
  const total = comm.allReduce(flow.cat(tensors.map((each) => each.flatten())));
  return total.split(tensors.map((each) => each.size)).map((part, i) => part.reshape(tensors[i].shape));
}

/** Trains on all images in each epoch. Yields each epoch, and its mean loss. */
function* train(parameters, [images, labels], epochs) {
  const [averages, squares] = [0, 1].map(() => parameters.map((each) => flow.zerosLike(each)));
  let step = 0;
  for (let epoch = 1; epoch <= epochs; epoch++) {
    let total = 0;
    // The batches are the same on all ranks, which have the same seed.
    for (const batch of flow.randperm(labels.shape[0]).split(BATCH)) {
      const own = ownPart(batch);
      const scores = network(parameters, images.at(own));
      const ownLoss = flow.crossEntropy(scores, labels.at(own), {reduction: 'sum'}).div(batch.shape[0]);
      const sums = sumOverRanks([...flow.grad(ownLoss, parameters), ownLoss.detach()]);
      const loss = sums.pop();
      step += 1;
      flow.optim.adam_(parameters, sums, averages, squares, {step, lr: LEARNING_RATE});
      total += loss.item() * batch.shape[0];
    }
    yield [epoch, total / labels.shape[0]];
  }
}

function main() {
  const options = {epochs: {type: 'string', default: '10'}};
  const {values, positionals} = parseArgs({options, allowPositionals: true});
  const epochs = comm.broadcastObject(Number(values.epochs));
  flow.manualSeed(0);
  const [learned, [images, labels]] = load(positionals[0] ?? path.join(__dirname, '..', 'data', 'digits.csv.gz'));

  const parameters = [...layer(64, HIDDEN), ...layer(HIDDEN, CLASSES)].map((each) => each.setRequiresGrad());
  for (const [epoch, loss] of train(parameters, learned, epochs)) {
    if (comm.rank() === 0) console.log(`epoch ${epoch}: loss ${loss.toFixed(4)}`);
  }
  const own = ownPart(flow.arange(labels.shape[0]));
  const guess = flow.noGrad(() => network(parameters, images.at(own)).argmax({dim: 1}));
  const right = comm.allReduce(guess.eq(labels.at(own)).sum()).item();
  if (comm.rank() === 0) {
    console.log(`accuracy: ${(right / labels.shape[0]).toFixed(4)} (${comm.worldSize()} ranks)`);
  }
}

main();
