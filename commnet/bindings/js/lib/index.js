'use strict';

/** Messages between processes, and reads and writes of each other's memory. */

const {Endpoint} = require('./endpoint');
const {errorClasses} = require('./errors');
const {Memory} = require('./memory');
const {version} = require('./native');
const {Peer} = require('./peer');
const {Queue} = require('./queue');
const {Token} = require('./token');

module.exports = {
  Endpoint,
  Memory,
  Peer,
  Queue,
  Token,
  version,
  CommnetError: errorClasses.CommnetError,
  InvalidArgumentError: errorClasses.InvalidArgumentError,
  DeniedError: errorClasses.DeniedError,
  OutOfRangeError: errorClasses.OutOfRangeError,
  UnreachableError: errorClasses.UnreachableError,
  PeerLostError: errorClasses.PeerLostError,
  TimedOutError: errorClasses.TimedOutError,
  CancelledError: errorClasses.CancelledError,
  FullError: errorClasses.FullError,
  NoHandlerError: errorClasses.NoHandlerError,
  OutOfMemoryError: errorClasses.OutOfMemoryError,
  ClosedError: errorClasses.ClosedError,
  UnsupportedError: errorClasses.UnsupportedError,
  SystemError: errorClasses.SystemError,
  InternalError: errorClasses.InternalError,
};
