'use strict';

const {options, signal, timeout} = require('./arguments');

/** Queues of the addon whose objects are garbage are released. */
const garbage = new FinalizationRegistry(({native, number}) => native.releaseQueue(number));

/** Operations that complete in the order in which they began. */
class Queue {
  #operations;
  #native;
  #number;

  constructor(native, operations) {
    this.#native = native;
    this.#operations = operations;
    this.#number = native.createQueue();
    garbage.register(this, {native, number: this.#number}, this);
  }

  /** Returns the number of a queue of an endpoint, for the addon. */
  static numberOf(queue, operations) {
    return queue.#operations === operations ? queue.#number : undefined;
  }

  /** Waits until all operations that are in the queue now have completed. */
  async mark(given) {
    const chosen = options('mark()', given, ['timeout', 'signal']);
    const limit = timeout('timeout', chosen.timeout);
    await this.#operations.run(() => this.#native.mark(this.#number, limit), signal('signal', chosen.signal));
  }

  /** Releases the queue; its operations go on. */
  release() {
    garbage.unregister(this);
    this.#native.releaseQueue(this.#number);
  }

  [Symbol.dispose]() {
    this.release();
  }
}

module.exports = {Queue};
