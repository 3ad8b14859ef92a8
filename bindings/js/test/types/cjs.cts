// A program with CommonJS modules. tsc checks its types; it is never run.

import flow = require('oneflow-js');

const x: flow.Tensor = flow.zeros(2, 3).add(1);
const shape: number[] = x.shape;
const scores: flow.Tensor = flow.where(x.gt(0), x, 0);
export {shape, scores};
