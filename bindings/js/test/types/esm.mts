// Checked by tsc, never run: what users of ES modules write, and what must be refused.

import flow, {add, Tensor, tidy, type DType} from 'oneflow-js';

const x: Tensor = flow.tensor([[1, 2], [3, 4]], {dtype: flow.float64});
const y: Tensor = add(x, 1).sum({dim: 1, keepdim: true}).mul_(2n);
const dtype: DType = y.dtype;
const {values, indices} = flow.max(x, 1);
const [first]: Tensor[] = [values, indices];
const late: Promise<Tensor> = flow.matmulAsync(x, x);
const view: Tensor = x.at('1:3, ..., None').at([0, 1], null).set(':', 5).permute(1, 0).permute([1, 0]);
const summed: Tensor = tidy(() => flow.einsum('ij,jk->ik', x, x).add(first, {out: y}));
const data: flow.TypedArray = x.dataSync();
const big: bigint = x.item({bigint: true});
for (const row of x) row.dispose();
x[Symbol.dispose]();
try {
  x.reshape(2, 2);
} catch (error) {
  if (error instanceof flow.OneFlowError) error.code.toLowerCase();
}
export {dtype, late, view, summed, data, big};

// @ts-expect-error: an option of another type
flow.sum(x, {keepdim: 'yes'});
// @ts-expect-error: an unknown option
flow.sum(x, {dims: 1});
// @ts-expect-error: no tensor
flow.relu('a');
// @ts-expect-error: an unknown dtype
flow.zeros([2], {dtype: 'float99'});
// @ts-expect-error: tensors are made by functions
new Tensor();
