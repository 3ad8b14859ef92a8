'use strict';

/**
 * Rank 1 of the pipeline: reads rows of pixels from the tensor of rank 0 into one of its own, projects them onto the
 * principal axes of the first rows, and writes the results to rank 2.
 */

const {once} = require('node:events');
const {Endpoint, Token} = require('commnet');
const flow = require('oneflow-js');

const TOKEN = 1; // numbers of handlers
const ROWS = 2;
const PIXELS = 64;
const AXES = 16;
const STEPS = 100;

/** Returns the mean of rows, and their principal axes (PIXELS, AXES), by power iteration. */
function fit(rows) {
  const mean = rows.mean({dim: 0});
  const centred = rows.sub(mean).double();
  let covariance = flow.einsum('ni,nj->ij', centred, centred);
  const axes = [];
  for (let axis = 0; axis < AXES; axis++) {
    let vector = flow.ones([PIXELS], {dtype: flow.float64});
    for (let step = 0; step < STEPS; step++) {
      vector = flow.matmul(covariance, vector);
      vector = vector.div(vector.mul(vector).sum().sqrt());
    }
    const value = flow.einsum('i,ij,j->', vector, covariance, vector);
    covariance = covariance.sub(value.mul(flow.outer(vector, vector)));
    axes.push(vector);
  }
  return {mean, axes: flow.stack(axes, {dim: 1}).float()};
}

async function main() {
  const endpoint = new Endpoint({name: 'node', secret: process.env.PIPELINE_SECRET});
  const tokens = {};
  const tokensCame = new Promise((resolve) => {
    endpoint.onMessage(TOKEN, ({peer, data}) => {
      tokens[peer.name] = Token.from(data);
      if (tokens.python && tokens.ruby) resolve();
    });
  });

  let model;
  async function pass(first, count) {
    const [python, , ruby] = await joined;
    // The tensor and the typed array have the same memory.
    const pixels = new Float32Array(new SharedArrayBuffer(count * PIXELS * 4));
    const rows = flow.tensor(pixels, {shape: [count, PIXELS], share: true});
    await python.read(tokens.python, pixels, {offset: first * PIXELS * 4});
    model ??= fit(rows);
    const features = rows.sub(model.mean).matmul(model.axes);
    await ruby.write(tokens.ruby, features.dataSync(), {offset: first * AXES * 4});
    await ruby.send(Uint32Array.of(first, count), {handler: ROWS}); // not before they are there
  }
  let last = tokensCame;
  endpoint.onMessage(ROWS, ({data}) => {
    const [first, count] = [data.readUInt32LE(0), data.readUInt32LE(4)];
    last = last.then(() => pass(first, count));
  });

  const joined = endpoint.join(); // messages of others may come before this is done
  await joined;
  await once(endpoint, 'leave'); // of Python, which has all results then
  await last;
  endpoint.close();
}

main();
