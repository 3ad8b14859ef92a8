// Passes over graphs: what they change, and what they report.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import flow from 'oneflow-js';
import {checkFailure} from './support.mjs';

const {capture, passes, rule} = flow.graph;
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

test('rules of the program', () => {
  const [weight, scale] = [flow.randn([5, 6]), flow.randn([6])];
  const options = {names: ['x', 'weight', 'scale'], constants: ['weight', 'scale'], name: 'fold_scale'};
  const examples = [flow.ones([2, 3]), flow.ones([3, 4]), flow.ones([4])];
  const fold = rule((a, w, s) => a.matmul(w).mul(s), (a, w, s) => a.matmul(w.mul(s)), examples,
    {...options, when: (a, w) => w.shape.length === 2});
  const graph = capture((x) => scale.mul(x.matmul(weight)).relu(), flow.ones([2, 5]), {dynamic: 'batch'});
  const x = flow.randn([7, 5]);
  const expected = graph.run(x);
  for (const optimized of [graph.optimize({rules: [fold]}), graph.rewrite(fold)]) {
    assert.deepEqual(callsOf(optimized), ['matmul', 'relu']);
    assert.deepEqual(optimized.report.passes.map(({name}) => name), ['fold_scale']);
    assert.ok(optimized.run(x).sub(expected).abs().max().item() <= 1e-6 * expected.abs().max().item());
  }
  const never = rule((a, w, s) => a.matmul(w).mul(s), (a) => a, examples, {...options, when: () => false});
  assert.deepEqual(callsOf(graph.rewrite([never])), ['matmul', 'mul', 'relu']);
  const wrong = rule((a) => a.relu(), () => { throw new RangeError('no'); }, flow.ones([1]));
  assert.throws(() => graph.rewrite(wrong), {name: 'RangeError', message: 'no'});
  assert.deepEqual(callsOf(graph.rewrite([])), ['matmul', 'mul', 'relu']);
  checkFailure(() => graph.rewrite(1), flow.TypeMismatch, 'rewrite: an item of rules must be Rule, got number');
});

test('weights are stored with fewer bits', () => {
  const weight = flow.randn([64, 64]);
  const graph = capture((x) => x.matmul(weight), flow.ones([2, 64]), {weights: {w: weight}});
  const optimized = graph.optimize({weights: 'bfloat16'});
  assert.equal(optimized.constants.w.dtype, 'bfloat16');
  assert.ok(optimized.report.error > 0 && optimized.report.error < 1e-2);
  checkFailure(() => graph.optimize({weights: 'int8'}), flow.InvalidArgument,
    "optimize: weights must be float16 or bfloat16, got 'int8'");
});
