// Shows typical uses of einsum, and checks each result against a second method.
//
// Usage: node gallery.mjs. This folder has the same program in Python and Ruby, with the same output.

import * as flow from 'oneflow-js';

const title = (text) => console.log(`\n${text}\n`);

const asList = (list) => `[${list.join(', ')}]`;

const random = (...shapes) => shapes.map((shape) => flow.randn(shape));

/** Prints an equation, what it computes, and a summary of the result. */
function show(equation, words, result) {
  console.log(`  ${equation}: ${words}`);
  console.log(`    shape ${asList(result.shape)}, sum ${result.sum().item().toFixed(6)}`);
}

/** Ends the program if the results differ by more than rounding. */
function check(result, other, way) {
  const difference = result.sub(other).abs().max().div(other.abs().max()).item();
  if (difference > 1e-9) throw new Error(`differs from ${way} by ${difference} of the largest element`);
  console.log(`    the same as ${way}`);
}

function diagonalAndTrace() {
  title('Diagonal and trace');
  const x = flow.arange(9).reshape(3, 3);
  console.log(`  ii->i: the elements with the same index twice: ${asList(flow.einsum('ii->i', x).toArray())}`);
  console.log(`  ii->: their sum: ${flow.einsum('ii->', x).item()}`);
  const [batch] = random([4, 2, 3, 3]);
  const traces = flow.einsum('...ii->...', batch);
  show('...ii->...', 'the trace of each matrix of a batch', traces);
  check(traces, batch.diagonal({dim1: -2, dim2: -1}).sum({dim: -1}), 'diagonal and sum');
}

function matrixProducts() {
  title('Matrix products');
  const [a, b] = random([2, 1, 3, 4], [5, 4, 2]);
  const product = flow.einsum('...ij,...jk->...ik', a, b);
  show('...ij,...jk->...ik', 'batches of any shapes that broadcast', product);
  check(product, flow.matmul(a, b), 'matmul');
  const [x, y] = random([3, 4], [4, 2]);
  const transposed = flow.einsum(x, [0, 1], y, [1, 2], [2, 0]);
  check(transposed, flow.matmul(x, y).transpose(0, 1), 'matmul, with labels in lists');
}

function forms() {
  title('Quadratic and bilinear forms');
  const [matrix, x, y] = random([4, 4], [4], [4]);
  const quadratic = flow.einsum('i,ij,j->', x, matrix, x);
  show('i,ij,j->', 'a quadratic form, x A x', quadratic);
  check(quadratic, flow.dot(x, flow.mv(matrix, x)), 'dot and mv');
  const bilinear = flow.einsum('i,ij,j->', x, matrix, y);
  show('i,ij,j->', 'a bilinear form, x A y', bilinear);
  check(bilinear, flow.matmul(x, flow.matmul(matrix, y)), 'matmul');
}

function bilinearLayer() {
  title('Bilinear layer');
  const [weights, left, right] = random([3, 4, 5], [6, 4], [6, 5]);
  const layer = flow.einsum('ni,kij,nj->nk', left, weights, right);
  show('ni,kij,nj->nk', 'k bilinear forms for each row n of two matrices', layer);
  const columns = [...weights].map((each) => flow.matmul(left, each).mul(right).sum({dim: 1}));
  check(layer, flow.stack(columns, {dim: 1}), 'matmul, elementwise product and sum');
}

function mahalanobis() {
  title('Mahalanobis distances');
  const [points, root] = random([100, 3], [3, 3]);
  const centred = points.sub(points.mean({dim: 0}));
  const precision = flow.einsum('ki,kj->ij', root, root);
  const distances = flow.einsum('ni,ij,nj->n', centred, precision, centred).sqrt();
  show('ni,ij,nj->n', 'each point\'s distance from the mean', distances);
  check(distances, flow.matmul(centred, root.transpose(0, 1)).pow(2).sum({dim: 1}).sqrt(), 'the lengths of R x');
}

function attend(q, k, v) {
  const scores = flow.einsum('bhqd,bhkd->bhqk', q, k).div(Math.sqrt(4));
  show('bhqd,bhkd->bhqk', 'the score of key position k for query position q, in each head', scores);
  check(scores, flow.matmul(q, k.transpose(-2, -1)).div(Math.sqrt(4)), 'matmul with the keys transposed');
  const weights = flow.softmax(scores, {dim: -1});
  const heads = flow.einsum('bhqk,bhkd->bhqd', weights, v);
  show('bhqk,bhkd->bhqd', 'the weighted sums of the values', heads);
  check(heads, flow.matmul(weights, v), 'matmul');
  return heads;
}

function attention() {
  title('Multi-head attention');
  const [x, output, ...projections] = random([2, 5, 12], [3, 4, 12], [12, 3, 4], [12, 3, 4], [12, 3, 4]);
  const [q, k, v] = projections.map((weights) => flow.einsum('btc,chd->bhtd', x, weights));
  const heads = attend(q, k, v);
  const result = flow.einsum('bhqd,hdc->bqc', heads, output);
  show('bhqd,hdc->bqc', 'the output projection of all heads', result);
  const joined = heads.transpose(1, 2).reshape(2, 5, 12);
  check(result, flow.matmul(joined, output.reshape(12, 12)), 'matmul of the concatenated heads');
}

function tucker() {
  title('Tucker decomposition');
  const [core, ...factors] = random([2, 3, 4], [7, 2], [8, 3], [9, 4]);
  const equation = 'abc,ia,jb,kc->ijk';
  const result = flow.einsum(equation, core, ...factors);
  show(equation, 'a tensor from a small core and a matrix per dimension', result);
  const other = factors.reduce((part, factor) => flow.tensordot(part, factor, [0], [1]), core);
  check(result, other, 'tensordot, one dimension at a time');
  const path = flow.einsumPath(equation, core, ...factors);
  console.log(`    ${path.flops} operations in the order that was found, ${path.naiveFlops} all at once`);
}

function cp() {
  title('CP decomposition');
  const [weights, a, b, c] = random([3], [4, 3], [5, 3], [6, 3]);
  const result = flow.einsum('r,ir,jr,kr->ijk', weights, a, b, c);
  show('r,ir,jr,kr->ijk', 'a tensor as a sum of r outer products', result);
  const products = a.reshape(4, 1, 1, 3).mul(b.reshape(5, 1, 3)).mul(c);
  check(result, products.mul(weights).sum({dim: 3}), 'broadcast products and sum');
}

const [SITES, BOND, PHYSICAL] = [6, 3, 2];

/** Returns a matrix product state: a tensor (left bond, physical, right bond) per site, with end bonds of 1. */
function randomState() {
  const ends = [1, ...Array(SITES - 1).fill(BOND), 1];
  return random(...Array.from({length: SITES}, (_, site) => [ends[site], PHYSICAL, ends[site + 1]]));
}

/** Returns the state as one vector. */
const wholeState = (state) => state.reduce((part, site) => flow.tensordot(part, site, 1)).flatten();

/** Returns the equation of the overlap: the states share their physical labels, and each has its own bonds. */
function overlapEquation() {
  const physical = [...'pqrstu'];
  const terms = ['abcdefg', 'ABCDEFG'].flatMap((bonds) => physical.map((label, i) => bonds[i] + label + bonds[i + 1]));
  return `${terms.join(',')}->`;
}

function tensorNetwork() {
  title('A tensor network: the overlap of two matrix product states');
  const equation = overlapEquation();
  const [x, y] = [randomState(), randomState()];
  const overlap = flow.einsumExpression(equation, ...x, ...y);
  console.log(overlap.report);
  const inOrder = flow.einsumPath(equation, {optimize: 'none'}, ...x, ...y);
  console.log(`  from left to right it would take ${inOrder.flops} operations\n`);
  const result = overlap(...x, ...y);
  show(equation, 'the overlap', result);
  check(result, flow.dot(wholeState(x), wholeState(y)), 'dot of the whole states');
  const norm = overlap(...x, ...x);
  show(equation, 'the same expression again, for the squared norm', norm);
  check(norm, wholeState(x).pow(2).sum(), 'a sum of squares');
}

function manyLabels() {
  title('More labels than letters');
  const steps = Array.from({length: 60}, (_, site) => flow.tensor([[1, site % 3], [0, 1]], {dtype: 'int64'}));
  const labelled = steps.flatMap((step, site) => [step, [site, site + 1]]);
  const result = flow.einsum(...labelled, [0, 60]);
  const rows = result.toArray().map(asList);
  console.log(`  [0,1],[1,2],...,[59,60]->[0,60]: a product of 60 matrices: ${asList(rows)}`);
  check(result, steps.reduce((part, step) => flow.matmul(part, step)), '59 times matmul');
}

function main() {
  flow.setDefaultDtype('float64');
  flow.manualSeed(0);
  console.log('einsum: typical uses');
  diagonalAndTrace();
  matrixProducts();
  forms();
  bilinearLayer();
  mahalanobis();
  attention();
  tucker();
  cp();
  tensorNetwork();
  manyLabels();
}

main();
