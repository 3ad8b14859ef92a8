'use strict';

/** Whether calls are recorded. The mode of an asynchronous function follows its awaits, and no other code sees it. */

const {AsyncLocalStorage} = require('node:async_hooks');
const {isProxy} = require('node:util').types;
const native = require('../addon/native');

/** The mode that the running code is in, as {recording}; undefined outside of all modes. */
const modes = new AsyncLocalStorage();
/** The number of asynchronous functions that run in a mode. While there are none, the thread's own mode is right. */
let waiting = 0;
/** Whether calls outside of all modes are recorded. */
let base = native.isGradEnabled();

/** Gives the thread the mode of the running code. Every call of an operator begins with it. */
function enter() {
  if (waiting > 0) native.setGradEnabled(modes.getStore()?.recording ?? base);
}

/** Returns whether a value is a promise of any kind. A Proxy is none, because its traps are user code. */
const isThenable = (value) => !isProxy(value) && typeof value?.then === 'function';

/** Calls a function in a mode. A promise that it returns keeps the mode for what runs until it settles. */
function run(recording, fn) {
  enter();
  const before = native.isGradEnabled();
  native.setGradEnabled(recording);
  try {
    const result = modes.run({recording}, fn);
    if (isThenable(result)) {
      const settle = () => {
        waiting -= 1;
        if (waiting === 0) native.setGradEnabled(base);
      };
      waiting += 1;
      result.then(settle, settle);
    }
    return result;
  } finally {
    native.setGradEnabled(before);
  }
}

/** Returns whether calls of the running code are recorded. */
function isEnabled() {
  enter();
  return native.isGradEnabled();
}

/** Switches recording on or off for the rest of the mode that the running code is in, or outside of all modes. */
function setEnabled(enabled) {
  const mode = modes.getStore();
  if (mode === undefined) base = enabled;
  else mode.recording = enabled;
  native.setGradEnabled(enabled);
}

module.exports = {enter, isThenable, run, isEnabled, setEnabled};
