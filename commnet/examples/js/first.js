'use strict';

// The example of bindings/js/README.md: a message, and a read of the other endpoint's memory.
const {Endpoint} = require('commnet');

async function main() {
  const a = new Endpoint({name: 'a', secret: 'of both'});
  const b = new Endpoint({name: 'b', secret: 'of both'});
  const greeting = new Promise((resolve) => b.onMessage(7, ({data}) => resolve(data.toString())));
  const numbers = Float64Array.of(1, 2, 3);
  const token = b.register(numbers).token(); // token.toBuffer() has 64 bytes, which b would send to a

  const peer = await a.connect(b.address); // usually from another process
  await peer.send(Buffer.from('hello'), {handler: 7});
  const copy = await peer.read(token, new Float64Array(3));
  console.log(await greeting, copy); // hello Float64Array(3) [ 1, 2, 3 ]
  a.close();
  b.close();
  if (copy[2] !== 3) throw new Error('the copy is not right');
}

main();
