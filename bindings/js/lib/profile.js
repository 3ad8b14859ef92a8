'use strict';

/** profile(): records what the calls of operators in a function take. */

const fs = require('node:fs');
const util = require('node:util');
const native = require('./native');
const {makeError} = require('./errors');
const {describe} = require('./tensor');

/** The key that the constructor requires, so that only profile() creates profiles. */
const KEY = Symbol('profile');

/** What the calls of operators took while a function ran. */
class Profile {
  /** The profile of the runtime. */
  #handle;

  constructor(key, handle) {
    if (key !== KEY) throw makeError('TypeMismatch', 'Profile: profiles are made by profile(...)');
    this.#handle = handle;
  }

  get entries() {
    const entries = [];
    for (let entry; (entry = native.profileEntry(this.#handle, entries.length)) !== undefined;) {
      entries.push({...entry, device: native.deviceName(entry.device)});
    }
    return entries;
  }

  table() {
    return native.profileTable(this.#handle);
  }

  trace() {
    return native.profileTrace(this.#handle);
  }

  save(path) {
    fs.writeFileSync(path, this.trace());
  }

  toString() {
    return this.table();
  }

  [util.inspect.custom]() {
    return `Profile { ${this.entries.length} calls }`;
  }
}

/** Implements profile(body). */
function profile(body) {
  if (typeof body !== 'function') {
    throw makeError('TypeMismatch', `profile: body must be function, got ${describe(body)}`);
  }
  const handle = native.beginProfile();
  const recorded = new Profile(KEY, handle);
  const end = () => {
    native.endProfile(handle);
    return recorded;
  };
  const fail = (error) => {
    try {
      end();
    } catch {
      // The error of the body is more important than an error of the end.
    }
    throw error;
  };
  let result;
  try {
    result = body(recorded);
  } catch (error) {
    fail(error);
  }
  return typeof result?.then === 'function' ? Promise.resolve(result).then(end, fail) : end();
}

module.exports = {profile};
