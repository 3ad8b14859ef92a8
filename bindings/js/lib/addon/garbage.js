'use strict';

/**
 * The garbage collector of V8, which the addon calls when memory runs out, in the middle of a call: unreachable tensors
 * may hold enough.
 */

const v8 = require('node:v8');
const vm = require('node:vm');

const native = require('./native');

/**
 * Returns the function gc(). It exists in all contexts that are created while V8's option expose-gc is set, so that a
 * program need not start Node.js with it. All threads of the process share the option.
 */
function findCollector() {
  if (typeof globalThis.gc === 'function') return globalThis.gc;
  v8.setFlagsFromString('--expose-gc');
  const collector = vm.runInNewContext('gc');
  v8.setFlagsFromString('--no-expose-gc');
  return collector;
}

let collector = null;

/** Runs a full garbage collection. Must not use the frame, whose call may be running. */
function collectGarbage() {
  collector ??= native.callAlone(findCollector);
  collector();
}

native.setGarbageCollector(collectGarbage);

module.exports = {collectGarbage};
