// Checked by tsc, never run: what users of CommonJS write.

import flow = require('oneflow-js');

const x: flow.Tensor = flow.zeros(2, 3).add(1);
const shape: number[] = x.shape;
const scores: flow.Tensor = flow.where(x.gt(0), x, 0);
export {shape, scores};
