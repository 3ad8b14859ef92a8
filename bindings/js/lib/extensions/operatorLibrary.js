'use strict';

/** Libraries of operators: the functions of `ops`. */

const native = require('../addon/native');
const {words} = require('../../generated/functions');
const {PublicFunction} = require('../calls/call');
const {makeError, refuseNullByte} = require('../errors');
const {describe} = require('../tensor/tensor');

/** The libraries that are loaded: an object with the functions of each, by its namespace. */
const ops = {};
/** The same objects, by the paths of the libraries. */
const loaded = new Map();

/** Returns the functions of an entry of a library's table, by their names. */
function functionsOf({number, name, inPlaceName, takesEquation, ownName, ownInPlaceName, ownAsyncName}) {
  const callable = new PublicFunction(number, {name, inPlaceName, takesEquation});
  const functions = {[ownName]: (...args) => callable.call(undefined, args)};
  if (ownInPlaceName !== null) functions[ownInPlaceName] = (...args) => callable.callOnList(args);
  if (ownAsyncName !== null) functions[ownAsyncName] = (...args) => callable.callAsync(undefined, args);
  return functions;
}

/** Adds the names that error texts of the runtime have to those that they are translated to. */
function addWords(text) {
  const names = text.split(' ');
  for (let i = 0; i + 1 < names.length; i += 2) words[names[i]] = names[i + 1];
}

/** Loads a library of operators, and returns the object with its functions, which is also a property of `ops`. */
function loadLibrary(path) {
  if (typeof path !== 'string') {
    throw makeError('TypeMismatch', `loadLibrary: path must be string, got ${describe(path)}`);
  }
  refuseNullByte('loadLibrary', 'path', path);
  const library = native.loadLibrary(path);
  if (!loaded.has(library.path)) {
    ops[library.nameSpace] = Object.freeze(Object.assign({}, ...library.functions.map(functionsOf)));
    addWords(library.words);
    loaded.set(library.path, ops[library.nameSpace]);
  }
  return loaded.get(library.path);
}

module.exports = {loadLibrary, ops};
