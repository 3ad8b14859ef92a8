'use strict';

/** Messages between processes, and reads and writes of each other's memory. */

const {Endpoint} = require('./endpoint');
const {Memory} = require('./memory');
const {version} = require('./native');
const {Peer} = require('./peer');
const {Queue} = require('./queue');
const {Token} = require('./token');
const {
  CommnetError, InvalidArgumentError, DeniedError, OutOfRangeError, UnreachableError, PeerLostError, TimedOutError,
  CancelledError, FullError, NoHandlerError, OutOfMemoryError, ClosedError, UnsupportedError, SystemError,
  InternalError,
} = require('./errors').errorClasses;

// One name after the other, which is how Node.js finds out what `import {Endpoint} from 'commnet'` can name.
module.exports = {
  Endpoint, Memory, Peer, Queue, Token, version,
  CommnetError, InvalidArgumentError, DeniedError, OutOfRangeError, UnreachableError, PeerLostError, TimedOutError,
  CancelledError, FullError, NoHandlerError, OutOfMemoryError, ClosedError, UnsupportedError, SystemError,
  InternalError,
};
