'use strict';

/** Hidden properties under the names of other libraries, whose use throws an error that says the name here. */

const {makeError} = require('./errors');
const {elsewhere} = require('../generated/functions');

const HERE = 'here it is called ';

/** Returns the function or namespace of a dotted name; undefined if there is none. */
const lookup = (owner, path) => path.split('.').reduce((found, part) => found?.[part], owner);

/**
 * Defines a property that is not enumerable, unless the object has one of this name. It is a function that throws, so
 * that to look for it is safe; with `throwsOnRead`, for what is no function here, to read it throws.
 */
function define(owner, name, text, throwsOnRead = false) {
  if (name in owner) return;
  const fail = () => {
    throw makeError('TypeMismatch', `${name}: ${text}`);
  };
  const property = throwsOnRead ? {get: fail, set: fail} : {value: fail, writable: true};
  Object.defineProperty(owner, name, {...property, configurable: true});
}

/** Returns a name in the case of Python and of PyTorch: manual_seed for manualSeed. */
const snake = (name) => name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Defines the names in snake case of the functions of an object. */
function defineSnakeCase(owner) {
  for (const name of Object.getOwnPropertyNames(owner)) {
    if (!/^[a-z]+[A-Z]/.test(name)) continue;
    const {get} = Object.getOwnPropertyDescriptor(owner, name);
    if (get !== undefined || typeof owner[name] === 'function') {
      define(owner, snake(name), `${HERE}${name}`, get !== undefined);
    }
  }
}

/** Defines the names of functions in the module and its namespaces, and those of methods on the prototype of Tensor. */
function installElsewhere(flow, prototype) {
  defineSnakeCase(flow);
  defineSnakeCase(prototype);
  for (const [name, text] of Object.entries(elsewhere.functions)) {
    const space = name.includes('.') ? lookup(flow, name.slice(0, name.lastIndexOf('.'))) : flow;
    const here = text.startsWith(HERE) ? lookup(flow, text.slice(HERE.length)) : flow.tensor;
    define(space, name.slice(name.lastIndexOf('.') + 1), text, typeof here !== 'function');
  }
  for (const [name, text] of Object.entries(elsewhere.methods)) {
    const here = Object.getOwnPropertyDescriptor(prototype, text.slice(HERE.length));
    define(prototype, name, text, here?.get !== undefined);
  }
}

module.exports = {installElsewhere};
