// A program with CommonJS modules. tsc checks its types; it is never run.

import commnet = require('../../index.js');

async function main(): Promise<void> {
  using endpoint = new commnet.Endpoint({name: 'a', secret: Buffer.from('secret'), transports: ['sockets']});
  const peer: commnet.Peer = await endpoint.connect('b@tcp://127.0.0.1:7000', {timeout: 1000});
  endpoint.onMessage(1, (message) => console.log(message.data.length, message.peer.name, message.channel));
  endpoint.on('leave', (left, why) => console.log(left.name, why.code));
  await peer.send(new Float32Array(3), {handler: 1, signal: AbortSignal.timeout(10)});
}
void main();
