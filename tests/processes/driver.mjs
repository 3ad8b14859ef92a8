// Runs the cases of a file as one rank of a job, and prints a line of JSON for each. See driver.py.

import {createHash} from 'node:crypto';
import fs from 'node:fs';
import {createRequire} from 'node:module';

const flow = createRequire(import.meta.url)('oneflow-js'); // found by NODE_PATH

const DEVICE = process.env.TEST_DEVICE ?? 'cpu';

const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());

async function run(test) {
  const rank = flow.comm.rank();
  if (test.options.group !== undefined && !new flow.comm.Group(test.ranks).ranks.includes(rank)) return null;
  const {data, shape} = test.inputs[rank];
  let x;
  if (typeof data === 'number') { // many elements, which follow from a number
    const count = shape.reduce((product, size) => product * size, 1);
    x = flow.arange(count).mul(data).remainder(4099).to(test.dtype).div(7).reshape(shape);
  } else {
    x = flow.tensor(data, {dtype: test.dtype}).reshape(shape);
  }
  x = x.to(DEVICE);
  if (test.gradient) x.setRequiresGrad();
  const options = Object.fromEntries(Object.entries(test.options).map(([name, value]) => [camel(name), value]));
  const name = camel(test.call);
  let result = test.is_async
    ? await flow.comm[name + 'Async'](x, ...test.positional, options)
    : flow.comm[name](x, ...test.positional, options);
  if (test.gradient) {
    const weights = flow.arange(result.size, {dtype: test.dtype}).reshape(result.shape).add(rank);
    result.mul(weights.to(DEVICE)).sum().backward();
    result = x.grad;
  }
  if (String(result.device) !== String(x.device)) throw new Error(`the result is on ${result.device}`);
  result = result.to('cpu');
  const numbers = result.to(flow.float64).reshape([-1]);
  const isLong = numbers.size > 1000;
  return [[...result.shape], isLong ? createHash('sha256').update(numbers.dataSync()).digest('hex') : numbers.toArray()];
}

for (const each of JSON.parse(fs.readFileSync(process.argv[2], 'utf8'))) console.log(JSON.stringify(await run(each)));
if (DEVICE.startsWith('accel')) console.log(flow.getOption('accel_collectives'));
flow.comm.finalize();
