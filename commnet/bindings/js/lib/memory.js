'use strict';

const {markAsUntransferable} = require('node:worker_threads');
const native = require('./native');
const {boolean, options} = require('./arguments');
const {makeError} = require('./errors');
const {Token} = require('./token');

const RIGHTS = ['read', 'write'];

/** Returns the bits of rights, of which those that are not given are as in `otherwise`. */
function rightsOf(name, given, otherwise) {
  const {read = otherwise.read, write = otherwise.write} = options(name, given, RIGHTS);
  const bits = (boolean('read', read) ? 1 : 0) + (boolean('write', write) ? 2 : 0);
  if (bits === 0) throw makeError('INVALID_ARGUMENT', `${name}: one of read and write must be true`);
  return bits;
}

/** What peers may do by default. */
const ONLY_READ = {read: true, write: false};

const {transfer} = ArrayBuffer.prototype;

/**
 * The ArrayBuffers of allocated memory. Node.js does not transfer those of addons to other threads. It must not be told
 * that once more: newer versions could then not detach them.
 */
const allocated = new WeakSet();

/** Takes the memory from an ArrayBuffer. Where there is transfer(), a failure of the addon would end the process. */
function detach(buffer) {
  if (transfer === undefined) return native.detach(buffer);
  try {
    return Reflect.apply(transfer, buffer, []);
  } catch {
    throw makeError('INVALID_ARGUMENT', 'the ArrayBuffer of the memory was made one that cannot be detached');
  }
}

/** Memory that peers may read, or read and write. */
class Memory {
  #endpoint;
  #number;
  #rights;
  #data;

  constructor(endpoint, number, rights, data) {
    this.#endpoint = endpoint;
    this.#number = number;
    this.#rights = rights;
    this.#data = data;
    this.size = data.length;
    Object.defineProperty(this, 'size', {writable: false});
  }

  /** Registers the bytes of a Uint8Array. */
  static register(endpoint, view, given) {
    const rights = rightsOf('register()', given, ONLY_READ);
    const number = endpoint.register(view, rights);
    if (view.buffer instanceof ArrayBuffer && !allocated.has(view.buffer)) markAsUntransferable(view.buffer);
    return new Memory(endpoint, number, rights, Buffer.from(view.buffer, view.byteOffset, view.byteLength));
  }

  /** Allocates bytes, and registers them. */
  static allocate(endpoint, size, given) {
    const rights = rightsOf('allocate()', given, ONLY_READ);
    const [number, buffer] = endpoint.allocate(size, rights);
    allocated.add(buffer);
    return new Memory(endpoint, number, rights, Buffer.from(buffer));
  }

  /** The bytes. */
  get data() {
    return this.#data;
  }

  /** Returns a token with the rights of the memory, or with a part of them. */
  token(given) {
    const rights = rightsOf('token()', given, {read: (this.#rights & 1) !== 0, write: (this.#rights & 2) !== 0});
    return new Token(this.#endpoint.token(this.#number, rights));
  }

  /** Ends the registration: no peer accesses the memory any more. Frees memory of allocate(). */
  release() {
    this.#endpoint.releaseMemory(this.#number, detach);
  }

  [Symbol.dispose]() {
    this.release();
  }
}

module.exports = {Memory};
