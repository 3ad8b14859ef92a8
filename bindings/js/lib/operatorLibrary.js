'use strict';

/** Libraries of operators: the functions of `ops`. */

const native = require('./native');
const {words} = require('../generated/functions');
const {makeError, refuseNullByte, traced} = require('./errors');
const gradMode = require('./gradMode');
const {describe, isPlainObject} = require('./tensor');

/** The libraries that are loaded: an object with the functions of each, by its namespace. */
const ops = {};
/** The same objects, by the paths of the libraries. */
const loaded = new Map();

/** Calls a function of the addon with the names of arguments, then the arguments, those in the last object by name. */
function bound(call, own, inPlace, args) {
  gradMode.enter();
  const given = args.length > 0 && args.at(-1) === undefined ? args.slice(0, -1) : args; // undefined options
  if (!isPlainObject(given.at(-1))) return call(own, inPlace, [], ...given);
  const options = {...given.at(-1)}; // own properties only; each getter runs once
  return call(own, inPlace, Object.keys(options), ...given.slice(0, -1), ...Object.values(options));
}

/** Returns the functions of an entry of a library's table, by their names. */
function functionsOf({function: own, fullName, name, inPlaceName, promiseName}) {
  const functions = {[name]: (...args) => bound(native.callLibrary, own, false, args)};
  if (inPlaceName !== null) functions[inPlaceName] = (...args) => bound(native.callLibrary, own, true, args);
  if (promiseName === null) return functions;
  return {...functions, [promiseName]: async (...args) => {
    if (isPlainObject(args.at(-1)) && (args.at(-1).out ?? null) !== null) {
      throw makeError('TypeMismatch', `${fullName}: unknown argument out`);
    }
    return traced(bound(native.callLibraryAsync, own, false, args));
  }};
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
