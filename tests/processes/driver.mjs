// Does what this rank calls, and writes what it gets. See driver.py.

import {createHash} from 'node:crypto';
import fs from 'node:fs';
import {createRequire} from 'node:module';

const flow = createRequire(import.meta.url)('oneflow-js'); // found by NODE_PATH

const DEVICE = process.env.TEST_DEVICE ?? 'cpu';
const RANK = flow.comm.rank();

const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());

async function run(call) {
  if (call === null) return null;
  const {data, shape, dtype} = call;
  let x;
  if (typeof data === 'number') { // many elements, which follow from a number
    const count = shape.reduce((product, size) => product * size, 1);
    x = flow.arange(count).mul(data).remainder(4099).to(dtype).div(7).reshape(shape);
  } else {
    x = flow.tensor(data, {dtype}).reshape(shape);
  }
  x = x.to(DEVICE);
  if (call.gradient) x.setRequiresGrad();
  const options = Object.fromEntries(Object.entries(call.options).map(([name, value]) => [camel(name), value]));
  if (Array.isArray(options.group)) options.group = new flow.comm.Group(options.group);
  const name = camel(call.call);
  let result = call.is_async
    ? await flow.comm[name + 'Async'](x, ...call.positional, options)
    : flow.comm[name](x, ...call.positional, options);
  if (call.gradient) {
    const weights = flow.arange(result.size, {dtype}).reshape(result.shape).add(RANK);
    result.mul(weights.to(DEVICE)).sum().backward();
    result = x.grad;
  }
  if (String(result.device) !== String(x.device)) throw new Error(`the result is on ${result.device}`);
  result = result.to('cpu');
  if (result.size > 1000) return [[...result.shape], createHash('sha256').update(result.dataSync()).digest('hex')];
  return [[...result.shape], result.to(flow.float64).reshape([-1]).toArray()];
}

const folder = process.argv[2];
const results = [];
for (const each of JSON.parse(fs.readFileSync(`${folder}/${RANK}.calls.json`, 'utf8'))) results.push(await run(each));
const written = {communicator: flow.comm.communicator(), results};
if (DEVICE.startsWith('accel')) written.device_collectives = flow.getOption('accel_collectives');
fs.writeFileSync(`${folder}/${RANK}.results.json`, JSON.stringify(written));
flow.comm.finalize();
