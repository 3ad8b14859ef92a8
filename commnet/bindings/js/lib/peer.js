'use strict';

const {invalid, options, signal, source, target, timeout, uint32, uint53} = require('./arguments');
const {makeError} = require('./errors');
const {Queue} = require('./queue');
const {Token} = require('./token');

/** Messages up to this size are copied, which is faster than to keep their memory where it is. */
const COPIED = 16384;

const CALL = ['queue', 'timeout', 'signal'];

/** Returns the number of the queue in the options of a call; undefined without one. */
function queueOf(given, operations) {
  if (given === undefined) return undefined;
  if (!(given instanceof Queue)) throw invalid('queue', 'a Queue', given);
  const number = Queue.numberOf(given, operations);
  if (number === undefined) throw makeError('INVALID_ARGUMENT', 'the queue belongs to another endpoint');
  return number;
}

/** Returns the bytes of a token. */
function tokenOf(given) {
  if (!(given instanceof Token)) throw invalid('token', 'a Token', given);
  return given.toBuffer();
}

/** Returns new memory for what a token names, from an offset on. */
function allocate(token, offset) {
  const size = Math.max(token.size - offset, 0);
  try {
    return Buffer.allocUnsafeSlow(size);
  } catch {
    throw makeError('OUT_OF_MEMORY', `there is no memory for the ${size} bytes of the token`);
  }
}

/** Another endpoint that an endpoint is connected to. */
class Peer {
  #native;
  #operations;
  #index;
  #name;

  constructor(native, operations, index) {
    this.#native = native;
    this.#operations = operations;
    this.#index = index;
    this.#name = native.peerName(index);
  }

  get name() {
    return this.#name;
  }

  /** The name of the transport. */
  get transport() {
    return this.#native.transport(this.#index);
  }

  get isConnected() {
    return this.#native.isConnected(this.#index);
  }

  /** Disconnects the peer: its operations end with CancelledError. */
  disconnect() {
    this.#native.disconnect(this.#index);
  }

  /** Sends bytes to a handler. Ends when they may be changed, not when they have arrived. */
  async send(data, given) {
    const chosen = options('send()', given, ['handler', 'channel', ...CALL]);
    const handler = uint32('handler', chosen.handler ?? 0);
    const channel = uint32('channel', chosen.channel ?? 0);
    const limit = timeout('timeout', chosen.timeout);
    const queue = queueOf(chosen.queue, this.#operations);
    const abort = signal('signal', chosen.signal);
    const bytes = source('data', data);
    const isCopied = bytes.byteLength <= COPIED;
    await this.#operations.run(
        () => this.#native.send(this.#index, limit, queue, bytes, handler, channel, isCopied), abort);
  }

  /** Reads from the memory that a token names, and returns `into`. */
  async read(token, into, given) {
    const {limit, queue, abort, offset} = this.#accessOptions('read()', given);
    const name = tokenOf(token);
    const result = into ?? allocate(token, offset);
    const bytes = target('into', result);
    await this.#operations.run(
        () => this.#native.read(this.#index, limit, queue, bytes, name, offset), abort);
    return result;
  }

  /** Writes to the memory that a token names. Ends when the bytes are there. */
  async write(token, data, given) {
    const {limit, queue, abort, offset} = this.#accessOptions('write()', given);
    const name = tokenOf(token);
    const bytes = source('data', data);
    await this.#operations.run(() => this.#native.write(this.#index, limit, queue, bytes, name, offset), abort);
  }

  #accessOptions(name, given) {
    const chosen = options(name, given, ['offset', ...CALL]);
    return {
      offset: uint53('offset', chosen.offset ?? 0),
      limit: timeout('timeout', chosen.timeout),
      queue: queueOf(chosen.queue, this.#operations),
      abort: signal('signal', chosen.signal),
    };
  }

  [Symbol.for('nodejs.util.inspect.custom')]() {
    return `Peer { name: '${this.name}', isConnected: ${this.isConnected} }`;
  }
}

module.exports = {Peer};
