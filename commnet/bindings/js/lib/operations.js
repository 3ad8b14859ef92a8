'use strict';

const {makeError} = require('./errors');

/** The operations of an endpoint that are under way, and their promises. */
class Operations {
  #native;
  #pending = new Map();
  #changed;

  /** Takes what is called when the first operation begins, and when the last one has ended. */
  constructor(changed) {
    this.#changed = changed;
  }

  attach(native) {
    this.#native = native;
  }

  get size() {
    return this.#pending.size;
  }

  /** Waits for the operation that start() begins and whose number it returns. Returns the peer of a connection. */
  async run(start, signal) {
    if (signal?.aborted) throw cancelled(signal);
    const number = start();
    const abort = () => this.#native.cancel(number);
    signal?.addEventListener('abort', abort, {once: true});
    const end = await new Promise((resolve) => {
      this.#pending.set(number, resolve);
      if (this.#pending.size === 1) this.#changed();
    });
    signal?.removeEventListener('abort', abort);
    if (end.status === undefined) return end.peer;
    if (end.status === 'CANCELLED' && signal?.aborted) throw cancelled(signal);
    // The error is made here, so that its stack has those who wait.
    throw makeError(end.status, end.text);
  }

  end(number, status, text, peer) {
    const resolve = this.#pending.get(number);
    if (resolve === undefined) return;
    this.#pending.delete(number);
    if (this.#pending.size === 0) this.#changed();
    resolve({status, text, peer});
  }
}

function cancelled(signal) {
  return makeError('CANCELLED', 'the operation was cancelled by its signal', {cause: signal.reason});
}

module.exports = {Operations};
