'use strict';

const native = require('./native');
const {bytes} = require('./arguments');
const {makeError} = require('./errors');

/** What names a memory of an endpoint, and allows to read or to write it. */
class Token {
  #bytes;

  constructor(value) {
    const view = bytes('token', value);
    if (view.byteLength !== native.tokenBytes) {
      throw makeError('INVALID_ARGUMENT', `a token has ${native.tokenBytes} bytes, got ${view.byteLength}`);
    }
    this.#bytes = new Uint8Array(view);
  }

  /** Returns the token that toBuffer() gave, here or in another process. */
  static from(value) {
    return value instanceof Token ? value : new Token(value);
  }

  /** Returns a copy of the bytes, which can be sent. */
  toBuffer() {
    return Buffer.from(this.#bytes);
  }

  /** The bytes of the memory. */
  get size() {
    return native.tokenSize(this.#bytes);
  }

  /** Does not show the bytes: they are a secret, which must not be in a log. */
  [Symbol.for('nodejs.util.inspect.custom')]() {
    return `Token { size: ${this.size} }`;
  }
}

module.exports = {Token};
