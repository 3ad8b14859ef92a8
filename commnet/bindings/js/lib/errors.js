'use strict';

/** The error classes: one for each status of the library. */

const native = require('./native');

/** The base class of all errors. `code` is the name of the status: 'PEER_LOST'. */
class CommnetError extends Error {}
Object.defineProperty(CommnetError.prototype, 'name', {value: 'CommnetError', configurable: true, writable: true});

/** Returns the name of the class for a status: 'PeerLostError' for 'PEER_LOST'. */
function classNameOf(status) {
  const words = status.split('_').map((word) => word[0] + word.slice(1).toLowerCase());
  if (words.at(-1) === 'Error') words.pop();
  return `${words.join('')}Error`;
}

function makeClass(code) {
  const name = classNameOf(code);
  const Class = {[name]: class extends CommnetError {}}[name];
  Object.defineProperty(Class.prototype, 'name', {value: name, configurable: true, writable: true});
  Object.defineProperty(Class.prototype, 'code', {value: code, configurable: true, writable: true});
  return Class;
}

const classes = Object.fromEntries(native.statuses.map((code) => [code, makeClass(code)]));

/** Makes the error of a status. */
function makeError(code, text, options) {
  return new (classes[code] ?? classes.INTERNAL_ERROR)(text, options);
}

native.setErrorFactory(makeError);

const errorClasses = {CommnetError};
for (const Class of Object.values(classes)) errorClasses[Class.prototype.name] = Class;

module.exports = {errorClasses, makeError};
