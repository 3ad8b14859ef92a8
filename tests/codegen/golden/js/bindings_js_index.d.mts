// generated from opdefs by codegen, do not edit

import * as flow from './index.js';

export * from './index.js';
export default flow;
