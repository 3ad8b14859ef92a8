'use strict';

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

/** Memory that peers may read, or read and write. */
class Memory {
  #native;
  #number;
  #rights;

  constructor(native, view, given) {
    this.#rights = rightsOf('register()', given, {read: true, write: false});
    this.#native = native;
    this.#number = native.register(view, this.#rights);
    this.size = view.byteLength;
    Object.defineProperty(this, 'size', {writable: false});
  }

  /** Returns a token with the rights of the memory, or with a part of them. */
  token(given) {
    const rights = rightsOf('token()', given, {read: (this.#rights & 1) !== 0, write: (this.#rights & 2) !== 0});
    return new Token(this.#native.token(this.#number, rights));
  }

  /** Ends the registration: no peer accesses the memory any more. */
  release() {
    this.#native.releaseMemory(this.#number);
  }

  [Symbol.dispose]() {
    this.release();
  }
}

module.exports = {Memory};
