'use strict';

/**
 * Properties under the names of other libraries, whose use throws an error that says the name here. They are hidden:
 * prototypes have them, so that no object lists them as its own.
 */

const {makeError} = require('../errors');
const {elsewhere} = require('../../generated/functions');

const HERE = 'here it is called ';

/** Returns the function or namespace of a dotted name; undefined if there is none. */
const lookup = (owner, path) => path.split('.').reduce((found, part) => found?.[part], owner);

/** Gives an object one more prototype, the nearest one, and returns that. */
function insertPrototype(object) {
  const inserted = Object.create(Object.getPrototypeOf(object));
  Object.setPrototypeOf(object, inserted);
  return inserted;
}

/**
 * Defines a hidden property of an object, on its prototype, unless the object has one of this name. It is a function
 * that throws, so that to look for it is safe; with `throwsOnRead`, for what is no function here, to read it throws.
 */
function define(object, name, text, throwsOnRead = false) {
  if (name in object) return;
  const fail = () => {
    throw makeError('TypeMismatch', `${name}: ${text}`);
  };
  const property = throwsOnRead ? {get: fail, set: fail} : {value: fail, writable: true};
  Object.defineProperty(Object.getPrototypeOf(object), name, {...property, configurable: true});
}

/** Returns a name in the case of Python and of PyTorch: manual_seed for manualSeed. */
const snake = (name) => name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Defines the names in snake case of the functions of an object. */
function defineSnakeCase(object) {
  for (const name of Object.getOwnPropertyNames(object)) {
    if (!/^[a-z]+[A-Z]/.test(name) || name.endsWith('Async')) continue;
    const {get} = Object.getOwnPropertyDescriptor(object, name);
    if (get !== undefined || typeof object[name] === 'function') {
      define(object, snake(name), `${HERE}${name}`, get !== undefined);
    }
  }
}

/** Defines the names of functions in the module and its namespaces, and those of methods of tensors. */
function installElsewhere(flow, prototype) {
  const entries = Object.entries(elsewhere.functions).map(([path, text]) => {
    const [, space, name] = /^(?:(.*)\.)?(.*)$/.exec(path);
    return {owner: space === undefined ? flow : lookup(flow, space), name, text};
  });
  for (const owner of new Set([flow, prototype, ...entries.map((each) => each.owner)])) {
    insertPrototype(owner);
    defineSnakeCase(owner);
  }
  for (const {owner, name, text} of entries) {
    const throwsOnRead = text.startsWith(HERE) && typeof lookup(flow, text.slice(HERE.length)) !== 'function';
    define(owner, name, text, throwsOnRead);
  }
  for (const [name, text] of Object.entries(elsewhere.methods)) {
    const here = Object.getOwnPropertyDescriptor(prototype, text.slice(HERE.length));
    define(prototype, name, text, here?.get !== undefined);
  }
}

module.exports = {installElsewhere};
