/** Messages between processes, and reads and writes of each other's memory. */

import {EventEmitter} from 'node:events';

/** Memory that is sent, read or written. */
export type Bytes = NodeJS.ArrayBufferView | ArrayBuffer | SharedArrayBuffer;

export interface EndpointOptions {
  /** Unique in a job, at most 255 bytes. Default: host name, process and a number. */
  name?: string;
  /** What all endpoints of a job know, and nobody else. Default: none, which only connects endpoints without one. */
  secret?: Bytes | string;
  /** Names, best first: ['memory', 'shared', 'sockets']. Default: all that are available. */
  transports?: string | readonly string[];
  /**
   * Where peers can connect: 'tcp://0.0.0.0:7000', 'unix:/run/job/a', 'shared:a', several of them, or 'none'. Default: a
   * free port of 127.0.0.1, and a Unix socket without a file. Processes of the user on this machine can connect through
   * shared memory, unless it is 'none'.
   */
  listen?: string | readonly string[];
  /** For how many microseconds progress looks for work before it sleeps. Default: some, while that spares sleeps. */
  busyPoll?: number;
  /** The milliseconds after which a silent peer is lost. Default: 10,000. */
  peerTimeout?: number;
  /** Connections per peer over TCP, for large reads and writes. Default: 2, at most 16. */
  streams?: number;
  /** Bytes of messages from each peer that wait to be handled. Default: 8 MiB. */
  receiveWindow?: number | bigint;
  /** Bytes of messages to each peer that wait; beyond it, send() fails with FullError. Default: 64 MiB. */
  sendLimit?: number | bigint;
  /** The most bytes of a message that is received. Default: 1 GiB. */
  messageLimit?: number | bigint;
  /** How many milliseconds close() waits until messages are on their way. Default: 1,000. */
  linger?: number;
}

export interface WaitOptions {
  /** The milliseconds after which the operation fails with TimedOutError. Default: only the peer's timeout counts. */
  timeout?: number | undefined;
  /** Cancels the operation, which then fails with CancelledError. Its `cause` is the reason of the signal. */
  signal?: AbortSignal | undefined;
}

export interface CallOptions extends WaitOptions {
  /** Makes operations complete in the order in which they began. */
  queue?: Queue | undefined;
}

export interface SendOptions extends CallOptions {
  /** The number of the handler of the peer. Default: 0. */
  handler?: number | undefined;
  /** Messages of one channel arrive in their order. Default: 0. */
  channel?: number | undefined;
}

export interface AccessOptions extends CallOptions {
  /** Where in the peer's memory the access begins, in bytes. Default: 0. */
  offset?: number | bigint | undefined;
}

export interface JobOptions {
  /** The number of this endpoint. Default: from the environment of mpirun or Slurm, or COMMNET_RANK. */
  rank?: number | undefined;
  /** How many endpoints there are. Default: from the environment, or COMMNET_SIZE. */
  size?: number | undefined;
  /**
   * 'file:/a/folder' that all processes share and that is empty before, or 'tcp://host:port', where the endpoint of
   * rank 0 opens a rendezvous service. Default: COMMNET_MEETING.
   */
  meeting?: string | undefined;
  /** Milliseconds. Default: 60,000. */
  timeout?: number | undefined;
}

export interface Rights {
  read?: boolean | undefined;
  write?: boolean | undefined;
}

export interface Message {
  /** A copy of the bytes, which belongs to the receiver. */
  readonly data: Buffer;
  readonly peer: Peer;
  readonly channel: number;
  readonly handler: number;
}

export interface EndpointEvents {
  /** A peer has connected, whoever began. */
  join: [peer: Peer];
  /** A peer has left or was lost. The error says why. */
  leave: [peer: Peer, why: CommnetError];
}

/** What this process, or this worker thread, takes part with. */
export class Endpoint extends EventEmitter<EndpointEvents> {
  /** Creates an endpoint. Throws a CommnetError. */
  constructor(options?: EndpointOptions);
  readonly name: string;
  /** What peers connect to: 'name@shared:...,unix:...,tcp://127.0.0.1:40123'. */
  readonly address: string;
  readonly isClosed: boolean;
  /** Connects to an endpoint by its address. Two endpoints have one connection, whoever connects first. */
  connect(address: string, options?: WaitOptions): Promise<Peer>;
  /** Connects with all other endpoints of a job. Returns the peers by their rank; the own rank has undefined. */
  join(options?: JobOptions): Promise<(Peer | undefined)[]>;
  /** Returns the connected peer of a name; undefined if there is none. */
  peer(name: string): Peer | undefined;
  /**
   * Sets the handler of messages for a number; null removes it. Messages without a handler wait for one. What a handler
   * throws is an uncaught exception. A message whose handler returns a promise counts for the window of its peer until
   * the promise is settled, so that a slow asynchronous handler slows down its senders.
   */
  onMessage(number: number, handler: ((this: Endpoint, message: Message) => void | Promise<void>) | null | undefined): this;
  /**
   * Registers memory, which peers can then read, or read and write while JavaScript runs. It is kept until it is
   * released, or the endpoint closed, and its ArrayBuffer cannot be transferred any more. Default: peers may read only.
   */
  register(memory: Bytes, rights?: Rights): Memory;
  /**
   * Allocates memory, of zeros, and registers it. Peers of the same host and user read and write it without a system
   * call. Its bytes are `data`, whose ArrayBuffer cannot be transferred. It is freed by release(); what is not released
   * before the endpoint is closed is freed as garbage. Default: peers may read only.
   */
  allocate(size: number | bigint, rights?: Rights): Memory;
  /** Creates a queue. */
  queue(): Queue;
  /** Keeps the process alive until the endpoint is closed. By default, handlers, listeners and operations do. */
  ref(): this;
  /** Lets the process end although there are handlers and listeners. */
  unref(): this;
  /**
   * Closes the endpoint: peers see it leave, and its operations fail with CancelledError. Waits at most a second for
   * what was sent to leave this process.
   */
  close(): void;
  [Symbol.dispose](): void;
}

/** Another endpoint that an endpoint is connected to. */
export class Peer {
  private constructor();
  readonly name: string;
  /** The name of the transport that connects the peer: 'shared'. */
  readonly transport: string;
  readonly isConnected: boolean;
  /** Disconnects the peer: operations end with CancelledError here, with PeerLostError there. */
  disconnect(): void;
  /**
   * Sends bytes to a handler. Ends when they may be changed: once they are on their way, not when they have arrived.
   * Must not be changed, resized or transferred before.
   */
  send(data: Bytes, options?: SendOptions): Promise<void>;
  /** Reads all that a token names, from `offset` on, into a new Buffer. */
  read(token: Token, into?: undefined, options?: AccessOptions): Promise<Buffer>;
  /** Reads as many bytes as `into` has, and returns it. Its content is undefined before the end, and after an error. */
  read<T extends Bytes>(token: Token, into: T, options?: AccessOptions): Promise<T>;
  /** Writes to the memory that a token names. Ends when the bytes are there. */
  write(token: Token, data: Bytes, options?: AccessOptions): Promise<void>;
}

/** Memory that peers may read, or read and write. */
export class Memory {
  private constructor();
  /** How many bytes it has. */
  readonly size: number;
  /** The bytes, which peers access. Those of allocate() are gone once they are released: the Buffer is empty then. */
  readonly data: Buffer;
  /** Returns a token with the rights of the memory, or with a part of them. */
  token(rights?: Rights): Token;
  /**
   * Ends the registration: all tokens become invalid, and no peer accesses the memory any more. Frees memory of
   * allocate(): throws an InvalidArgumentError while operations or other registrations use it.
   */
  release(): void;
  [Symbol.dispose](): void;
}

/** What names a memory, and allows to read or to write it. Tokens can be sent, and cannot be guessed. */
export class Token {
  private constructor();
  /** Returns the token that toBuffer() gave, here or in another process. */
  static from(bytes: Bytes | Token): Token;
  /** Returns the 64 bytes. */
  toBuffer(): Buffer;
  /** The bytes of the memory. */
  readonly size: number;
}

/** Operations that complete in the order in which they began, also if they belong to different peers. */
export class Queue {
  private constructor();
  /** Waits until all operations that are in the queue now have completed. */
  mark(options?: WaitOptions): Promise<void>;
  /** Releases the queue; its operations go on. */
  release(): void;
  [Symbol.dispose](): void;
}

/** The base class of all errors. */
export class CommnetError extends Error {
  /** The name of the status: 'PEER_LOST'. */
  readonly code: string;
}
/** An argument has the wrong type, or is outside its range. */
export class InvalidArgumentError extends CommnetError {}
/** A wrong secret, an unknown token, or one without the right. */
export class DeniedError extends CommnetError {}
/** A read or a write outside the registered memory. */
export class OutOfRangeError extends CommnetError {}
/** Nobody answers at an address. */
export class UnreachableError extends CommnetError {}
/** The peer has closed, died, or been silent for too long. */
export class PeerLostError extends CommnetError {}
/** The operation took longer than its timeout. */
export class TimedOutError extends CommnetError {}
/** The operation was cancelled by its signal, or the endpoint or the peer was closed. */
export class CancelledError extends CommnetError {}
/** The peer receives too slowly: `sendLimit` bytes wait already. */
export class FullError extends CommnetError {}
/** The peer has no handler of that number. */
export class NoHandlerError extends CommnetError {}
export class OutOfMemoryError extends CommnetError {}
/** The object was closed before. */
export class ClosedError extends CommnetError {}
/** No transport that both sides have, or a library that is not installed. */
export class UnsupportedError extends CommnetError {}
/** The operating system refused a call. */
export class SystemError extends CommnetError {}
/** A fault of the library. */
export class InternalError extends CommnetError {}

/** The version of the library. */
export const version: string;
