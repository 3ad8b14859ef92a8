'use strict';

/** Does what collectives.py does. */

const {createHash} = require('node:crypto');
const {writeFileSync} = require('node:fs');
const flow = require('../../bindings/js');

const {comm} = flow;
const SMALL = 1000;
const LARGE = 400_000;

async function main() {
  const rank = comm.rank();
  const size = comm.worldSize();
  const lines = [];
  const floats = (count) => flow.sin(flow.arange(count, {dtype: 'float32'}).mul(0.37).add(rank));
  const note = (name, result) => {
    const {buffer, byteOffset, byteLength} = result.dataSync();
    const digest = createHash('md5').update(Buffer.from(buffer, byteOffset, byteLength)).digest('hex');
    lines.push(`${name} [${result.shape.join(', ')}] ${digest}`);
  };
  note('all_reduce', comm.allReduce(floats(SMALL)));
  note('all_reduce large', await comm.allReduceAsync(floats(LARGE)));
  note('all_reduce mean', comm.allReduce(floats(SMALL), {op: 'mean'}));
  note('all_gather', comm.allGather(floats(3 + rank)));
  note('all_gather large', comm.allGather(floats(LARGE + rank)));
  note('reduce_scatter', comm.reduceScatter(floats(7)));
  note('reduce_scatter large', comm.reduceScatter(floats(LARGE)));
  note('all_to_all', comm.allToAll(floats(10)));
  note('all_to_all large', comm.allToAll(floats(LARGE)));
  note('broadcast', comm.broadcast(floats(SMALL), size - 1));
  note('broadcast large', comm.broadcast(floats(LARGE), size - 1));
  note('reduce', comm.reduce(floats(SMALL), size - 1));
  note('gather', comm.gather(floats(2 + rank), size - 1));
  note('scatter', comm.scatter(floats(11), size - 1));
  if (rank === 0) {
    comm.send(floats(LARGE), 1);
    comm.send(floats(SMALL), 1, {tag: 1});
  }
  if (rank === 1) {
    note('recv', comm.recv(floats(LARGE), 0));
    note('recv small', comm.recv(floats(SMALL), 0, {tag: 1}));
  }
  if (rank < 2) {
    const pair = new comm.Group([0, 1]);
    note('group', comm.allReduce(floats(SMALL), {group: pair}));
    note('group by text', comm.allGather(floats(2), {group: '1,0'}));
  }
  const part = comm.world().split(rank % 2, -rank);
  note(`part ${part.text}`, comm.allGather(floats(2), {group: part}));
  let last;
  for (let i = 0; i < 50; i++) last = comm.allReduce(floats(SMALL));
  note('repeated', last);
  comm.barrier();
  try {
    comm.allReduce(floats(2 + rank));
  } catch (error) {
    if (!(error instanceof flow.CommunicationError)) throw error;
    lines.push(`they differ: ${error.message.includes('the ranks differ at call') ? 'True' : 'False'}`);
  }
  writeFileSync(`${process.argv[2]}/${rank}.${comm.communicator()}`, lines.join('\n'));
}

main();
