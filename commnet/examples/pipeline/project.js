'use strict';

/**
 * Rank 1 of the pipeline: reads rows of pixels from the memory of rank 0, projects them onto the principal axes of the
 * first rows, and writes the results into the memory of rank 2.
 */

const {once} = require('node:events');
const {Endpoint, Token} = require('commnet');

const TOKEN = 1; // numbers of handlers
const ROWS = 2;
const PIXELS = 64;
const AXES = 16;
const STEPS = 100;

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

/** Returns the rows of a matrix. */
const split = (values, width) =>
  Array.from({length: values.length / width}, (_, i) => values.subarray(i * width, (i + 1) * width));

/** Returns the mean of rows, and their principal axes, by power iteration. */
function fit(rows) {
  const mean = new Float64Array(PIXELS).map((_, i) => rows.reduce((sum, row) => sum + row[i], 0) / rows.length);
  const centred = rows.map((row) => Float64Array.from(row, (value, i) => value - mean[i]));
  const axes = [];
  for (let axis = 0; axis < AXES; axis++) {
    let vector = new Float64Array(PIXELS).fill(1);
    for (let step = 0; step < STEPS; step++) {
      const sum = new Float64Array(PIXELS);
      for (const row of centred) {
        const weight = dot(row, vector);
        for (let i = 0; i < PIXELS; i++) sum[i] += weight * row[i];
      }
      const length = Math.sqrt(dot(sum, sum));
      vector = sum.map((value) => value / length);
    }
    axes.push(vector);
    for (const row of centred) {
      const weight = dot(row, vector);
      for (let i = 0; i < PIXELS; i++) row[i] -= weight * vector[i];
    }
  }
  return {mean, axes};
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
    const pixels = new Float32Array(count * PIXELS);
    await python.read(tokens.python, pixels, {offset: first * PIXELS * 4});
    const rows = split(pixels, PIXELS);
    model ??= fit(rows);
    const {mean, axes} = model;
    const features = rows.flatMap((row) => axes.map((axis) => dot(axis, row.map((value, i) => value - mean[i]))));
    await ruby.write(tokens.ruby, Float32Array.from(features), {offset: first * AXES * 4});
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
