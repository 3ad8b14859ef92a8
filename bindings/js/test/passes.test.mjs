// Passes over graphs: what they change, and what they report.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import flow from 'oneflow-js';
import {checkFailure} from './support.mjs';

const {capture, passes} = flow.graph;
const callsOf = (graph) => `${graph}`.split('\n')
  .filter((line) => line.startsWith('%')).map((line) => line.split(' = ')[1].split('(')[0]);

function network() {
  const weight = flow.randn([4, 3, 3, 3]);
  const [mean, variance] = [flow.randn([4]), flow.rand([4]).add(0.5)];
  const factors = flow.randn([4, 1, 1]);
  return (x) => flow.batchNorm(flow.conv2d(x, weight), mean, variance).mul(factors).mul(1);
}

test('batch norm and products become part of a convolution', async () => {
  const graph = capture(network(), flow.ones([2, 3, 6, 6]), {dynamic: 'batch'});
  const x = flow.randn([3, 3, 6, 6]);
  const expected = graph.run(x);
  for (const optimized of [graph.optimize(), await graph.optimizeAsync({inputs: flow.randn([2, 3, 6, 6])})]) {
    assert.deepEqual(callsOf(optimized), ['conv2d']);
    assert.ok(optimized.run(x).sub(expected).abs().max().item() <= 1e-5 * expected.abs().max().item());
    const {report} = optimized;
    assert.deepEqual(report.passes.map(({name, changes, callsBefore, callsAfter}) =>
      [name, changes, callsBefore, callsAfter]), [
      ['multiply_nothing', 1, 4, 3], ['batch_norm_into_conv2d', 1, 3, 2], ['multiply_into_conv2d', 1, 2, 1],
    ]);
    assert.ok(report.error < 1e-5);
    assert.match(`${report}`, /^pass +changes +calls +error\nmultiply_nothing +1 +4 -> 3 +0\n/);
  }
  assert.equal(graph.report, undefined);
});

test('levels and passes can be chosen', () => {
  const graph = capture((x) => x.mul(x.sigmoid()), flow.ones([3]));
  assert.deepEqual(callsOf(graph.optimize()), ['silu']);
  assert.deepEqual(callsOf(graph.optimize({level: 1})), ['sigmoid', 'mul']);
  assert.deepEqual(callsOf(graph.optimize({without: ['silu']})), ['sigmoid', 'mul']);
  assert.ok(Number.isNaN(graph.optimize({measure: false}).report.error));
  checkFailure(() => graph.optimize({without: ['silo']}), flow.InvalidArgument,
    "optimize: there is no pass 'silo'");
  checkFailure(() => graph.optimize({level: 'high'}), flow.TypeMismatch, 'optimize: level must be integer, got string');
  checkFailure(() => graph.optimize({level: 3}), flow.InvalidArgument,
    'optimize: level must be between 0 and 2, got 3');
});

test('all passes are listed', () => {
  assert.deepEqual(passes().find(({name}) => name === 'silu'),
    {name: 'silu', summary: 'Finds `silu`.', level: 2, error: 1e-6});
});
