// A program with ES modules. tsc checks its types; it is never run.

import {CommnetError, Endpoint, PeerLostError, Token} from '../../index.js';

const endpoint = new Endpoint();
const memory = endpoint.register(new Float64Array(8), {write: true});
const bytes: Buffer = memory.token({write: false}).toBuffer();
const allocated: Buffer = endpoint.allocate(64n, {write: true}).data;
const peer = endpoint.peer('b');
if (peer?.isConnected) {
  const queue = endpoint.queue();
  const numbers: Float64Array = await peer.read(Token.from(bytes), new Float64Array(8), {queue});
  const all: Buffer = await peer.read(Token.from(bytes), undefined, {offset: 8n});
  await peer.write(Token.from(bytes), numbers, {offset: all.length});
  await peer.read(Token.from(bytes), allocated);
  await queue.mark();
}
// @ts-expect-error Strings are not bytes.
await peer?.send('text');
// @ts-expect-error There is no such option.
new Endpoint({secrets: 'x'});
const error: CommnetError = new PeerLostError('lost');
const code: string = error.code;
export {code};
