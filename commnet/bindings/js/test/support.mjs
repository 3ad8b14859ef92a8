// What the tests share.

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createInterface} from 'node:readline';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import commnet from '../lib/index.js';

export const SECRET = Buffer.from('of the tests');
export const folder = fileURLToPath(new URL('..', import.meta.url));

/** Creates an endpoint that is closed at the end of a test. */
export function endpoint(t, name, options = {}) {
  const created = new commnet.Endpoint({name, secret: SECRET, transports: ['sockets'], ...options});
  t.after(() => created.close());
  return created;
}

/** Creates endpoints 'a' and 'b'. Returns them and the peer that 'a' has. */
export async function pair(t, options) {
  const a = endpoint(t, 'a', options);
  const b = endpoint(t, 'b', options);
  return {a, b, toB: await a.connect(b.address)};
}

/** Waits for so many messages of a number. */
export function messages(receiver, number, count) {
  return new Promise((resolve) => {
    const all = [];
    receiver.onMessage(number, (message) => {
      all.push(message);
      if (all.length === count) resolve(all);
    });
  });
}

/** Collects garbage, and uses the memory that has become free. */
export async function collect() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc();
    await sleep(1);
    Buffer.alloc(1 << 20, 255);
  }
}

/** Waits until a condition holds. */
export async function until(condition, text = 'a condition never held') {
  for (let i = 0; i < 500; i++) {
    if (condition()) return;
    await sleep(10);
  }
  assert.fail(text);
}

/** Starts a program in another process, which writes a line of JSON. Returns the process and what it wrote. */
export async function start(t, code) {
  const head = `const commnet = require(${JSON.stringify(folder)}); const {Endpoint, Token} = commnet;`;
  const parameters = ['--expose-gc', '-e', `${head}\n${code}`];
  const child = spawn(process.execPath, parameters, {stdio: ['pipe', 'pipe', 'inherit']});
  t.after(() => child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  const lines = createInterface({input: child.stdout});
  const [line] = await once(lines, 'line');
  return {child, exit, said: JSON.parse(line)};
}

export {commnet};
