// What the cases do not have: transfers while others are under way, groups that split, objects, graphs.

import {createRequire} from 'node:module';

const flow = createRequire(import.meta.url)('oneflow-js'); // found by NODE_PATH
const {comm} = flow;
const rank = comm.rank();
const show = (value) => console.log(JSON.stringify(value instanceof flow.Tensor ? value.toArray() : value));

// A ring: each rank sends to the next one, while it receives from the one before.
const own = flow.full([2], rank + 1, {dtype: 'float32'});
const sent = comm.sendAsync(own, (rank + 1) % 3);
own.zero_(); // what is sent is what it was
show(comm.recv(flow.empty([2]), (rank + 2) % 3));
show(await sent);
show(true);

// The receiver sends back the gradient.
const x = flow.tensor([1, 2]).setRequiresGrad();
if (rank === 0) {
  comm.send(x, 2).mul(0).sum().backward();
  show(x.grad);
}
if (rank === 2) {
  comm.recv(x, 0).mul(flow.tensor([5, 7])).sum().backward();
  show(x.grad);
}

const part = comm.world().split(rank % 2, -rank);
show([part.text, comm.rank(part), comm.worldSize(part)]);
show(comm.allReduce(flow.tensor([rank]), {group: part}));
show(comm.world().split(rank === 1 ? -1 : 0) === null);

if (JSON.stringify(flow.comm.broadcastObject({lr: rank})) !== '{"lr":0}') throw new Error('an object is no options');
show(comm.broadcastObject(rank === 1 ? {a: [1, 2.5, null, true, 'ü'], b: {}} : null, 1));

const graph = flow.graph.capture((x) => comm.allReduce(x.mul(2), {group: '0-2'}).add(1), [flow.ones([2])]);
for (let i = 0; i < 3; i++) show(graph.run(flow.full([2], rank + i + 0.5, {dtype: 'float32'})));
