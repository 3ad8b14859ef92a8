// Joins a job, then lets WebAssembly read beyond its memory.

import {createRequire} from 'node:module';

const flow = createRequire(import.meta.url)('oneflow-js'); // found by NODE_PATH

// (module (memory 1) (func (export "read") (param i32) (result i32) (i32.load (local.get 0))))
const MODULE = '0061736d0100000001060160017f017f030201000503010001070801047265616400000a0901070020002802000b';

flow.comm.init();
const {read} = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(MODULE, 'hex'))).exports;
try {
  read(1 << 30);
} catch (error) {
  if (flow.comm.rank() === 0) console.log(String(error));
}
