'use strict';

const {constants: {MAX_LENGTH}} = require('node:buffer');
const EventEmitter = require('node:events');
const native = require('./native');
const {bytes, callable, integer, invalid, options, signal, string, target, timeout, uint32, uint53} =
  require('./arguments');
const {makeError} = require('./errors');
const {Memory} = require('./memory');
const {Operations} = require('./operations');
const {Peer} = require('./peer');
const {Queue} = require('./queue');

/** Reads each option of an endpoint into what the addon takes. */
const OPTIONS = {
  name: (name, value) => string(name, value),
  secret: (name, value) => (typeof value === 'string' ? Buffer.from(value) : bytes(name, value)),
  transports: list,
  listen: list,
  busyPoll: uint32,
  peerTimeout: uint32,
  streams: uint32,
  receiveWindow: uint53,
  sendLimit: uint53,
  messageLimit: uint53,
  linger: uint32,
};

/** What stands for an option that is not given: the library has the defaults. */
const DEFAULTS = {name: '', secret: new Uint8Array(0), transports: '', listen: '', busyPoll: 0, peerTimeout: 0,
  streams: 0, receiveWindow: 0, sendLimit: 0, messageLimit: 0, linger: 0};

function list(name, value) {
  if (!Array.isArray(value)) return string(name, value);
  return value.map((item) => string(`an item of ${name}`, item)).join(',');
}

function readOptions(given) {
  const chosen = options('Endpoint', given, Object.keys(OPTIONS));
  const read = {...DEFAULTS};
  for (const [key, convert] of Object.entries(OPTIONS)) {
    if (chosen[key] !== undefined) read[key] = convert(key, chosen[key]);
  }
  if (chosen.name === '') throw invalid('name', 'a string of 1 to 255 bytes', '');
  return read;
}

/** Endpoints that are open when the process exits, so that their peers see them leave. */
const openEndpoints = new Set();
process.on('exit', () => {
  for (const endpoint of openEndpoints) endpoint.close();
});

/** What this process, or this worker thread, takes part with. Emits 'join' and 'leave'. */
class Endpoint extends EventEmitter {
  #native;
  #operations = new Operations(() => this.#updateRef());
  #handlers = new Map();
  #peers = new Map();
  #keepsAlive;
  #isRef = false;

  constructor(given) {
    super();
    this.#native = new native.Endpoint(readOptions(given), {
      done: (number, status, text, peer) => this.#operations.end(number, status, text, peer),
      message: (handler, channel, peer, data, id) => this.#receive(handler, channel, peer, data, id),
      peer: (peer, status, text) => this.#notePeer(peer, status, text),
    });
    this.#operations.attach(this.#native);
    openEndpoints.add(this);
    this.#watchListeners();
  }

  #watchListeners() {
    super.on('newListener', () => process.nextTick(() => this.#updateRef()));
    super.on('removeListener', () => this.#updateRef());
  }

  removeAllListeners(...names) {
    super.removeAllListeners(...names);
    if (this.listenerCount('newListener') === 0) this.#watchListeners();
    this.#updateRef();
    return this;
  }

  get name() {
    return this.#native.name();
  }

  /** What peers connect to: 'name@shared:...,unix:...,tcp://127.0.0.1:40123'. */
  get address() {
    return this.#native.address();
  }

  get isClosed() {
    return !openEndpoints.has(this);
  }

  /** Connects to an endpoint by its address. */
  async connect(address, given) {
    const chosen = options('connect()', given, ['timeout', 'signal']);
    const to = string('address', address);
    const limit = timeout('timeout', chosen.timeout);
    const index = await this.#operations.run(() => this.#native.connect(to, limit), signal('signal', chosen.signal));
    return this.#peerOf(index);
  }

  /**
   * Connects with all other endpoints of a job. Returns the peers by their rank; the own rank has undefined. Without
   * `size`, the environment says what the rank and the size are.
   */
  async join(given) {
    const chosen = options('join()', given, ['rank', 'size', 'meeting', 'timeout']);
    const rank = uint32('rank', chosen.rank ?? 0);
    const size = uint32('size', chosen.size ?? 0);
    if (chosen.rank !== undefined && size === 0) throw makeError('INVALID_ARGUMENT', 'join(): rank needs a size');
    const meeting = string('meeting', chosen.meeting ?? '');
    const limit = timeout('timeout', chosen.timeout);
    const indices = await this.#operations.run(() => this.#native.join(rank, size, meeting, limit));
    return indices.map((index) => (index < 0 ? undefined : this.#peerOf(index)));
  }

  /** Returns the connected peer of a name; undefined if there is none. */
  peer(name) {
    const index = this.#native.findPeer(string('name', name));
    return index < 0 ? undefined : this.#peerOf(index);
  }

  /** Sets the handler of messages for a number; undefined or null removes it. */
  onMessage(number, handler) {
    uint32('number', number);
    const isSet = handler !== undefined && handler !== null;
    if (isSet) callable('handler', handler);
    this.#native.setHandler(number, isSet);
    if (isSet) this.#handlers.set(number, handler);
    else this.#handlers.delete(number);
    this.#updateRef();
    return this;
  }

  /**
   * Registers memory, which peers can then read, or read and write. It is kept until it is released, or the endpoint
   * closed, and its ArrayBuffer cannot be transferred to other threads any more.
   */
  register(memory, given) {
    return Memory.register(this.#native, target('memory', memory), given);
  }

  /**
   * Allocates memory, of zeros, and registers it. Its Buffer `data` is empty once it is released. What is not released
   * before the endpoint is closed is freed as garbage.
   */
  allocate(size, given) {
    return Memory.allocate(this.#native, integer('size', size, 1, MAX_LENGTH), given);
  }

  /** Creates a queue. */
  queue() {
    return new Queue(this.#native, this.#operations);
  }

  /** Keeps the process alive until the endpoint is closed. */
  ref() {
    this.#keepsAlive = true;
    this.#updateRef();
    return this;
  }

  /** Lets the process end although there are handlers and listeners. Operations under way keep it alive still. */
  unref() {
    this.#keepsAlive = false;
    this.#updateRef();
    return this;
  }

  /**
   * Closes the endpoint: peers see it leave, and its operations end with CancelledError. Warns if messages could not be
   * sent within the time to linger.
   */
  close() {
    const ends = this.#native.close();
    openEndpoints.delete(this);
    for (const [number, status, text] of ends) this.#operations.end(number, status, text, -1);
    this.#handlers.clear();
    if (ends.unsent) process.emitWarning(ends.unsent, 'CommnetWarning');
  }

  [Symbol.dispose]() {
    this.close();
  }

  #peerOf(index) {
    let peer = this.#peers.get(index);
    if (peer === undefined) {
      if (this.isClosed) throw makeError('CLOSED', 'the endpoint is closed');
      peer = new Peer(this.#native, this.#operations, index);
      this.#peers.set(index, peer);
    }
    return peer;
  }

  /** Calls the handler of a message. Returns whether it goes on, in which case the message is released at its end. */
  #receive(number, channel, peer, data, id) {
    // A message that was an event already when its handler was removed is dropped.
    const handler = this.#handlers.get(number);
    const result = handler?.call(this, {data, peer: this.#peerOf(peer), channel, handler: number});
    if (!(result instanceof Promise)) return false;
    result.finally(() => this.#native.releaseMessage(id)); // a rejection stays unhandled
    return true;
  }

  #notePeer(index, status, text) {
    const peer = this.#peerOf(index);
    if (status === undefined) this.emit('join', peer);
    else this.emit('leave', peer, makeError(status, text));
  }

  /** Whether something is awaited, or there is somebody to tell, decides whether the process goes on. */
  #updateRef() {
    const hasListeners = this.#handlers.size + this.listenerCount('join') + this.listenerCount('leave') > 0;
    const isRef = this.#operations.size > 0 || (this.#keepsAlive ?? hasListeners);
    if (isRef === this.#isRef) return;
    this.#isRef = isRef;
    this.#native.setRef(isRef);
  }
}

module.exports = {Endpoint};
