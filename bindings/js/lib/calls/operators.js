'use strict';

/** The public functions and methods of the generated table of operators. */

const {functions} = require('../../generated/functions');
const {PublicFunction} = require('./call');

const operators = functions.map((record, number) => ({...record, callable: new PublicFunction(number, record)}));

/** Sets the name of a function, which stack traces and `util.inspect` show, and returns the function. */
const named = (name, fn) => Object.defineProperty(fn, 'name', {value: name, configurable: true});

/** Defines a function under a dotted name; creates the objects of its namespaces. */
function define(root, path, fn) {
  const parts = path.split('.');
  const leaf = parts.pop();
  let space = root;
  for (const part of parts) space = space[part] ??= {};
  space[leaf] = named(leaf, fn);
}

/** Returns an object with all public functions and their promise variants. Namespaces are nested objects. */
function functionsByName() {
  const root = {};
  for (const {publicName, asyncName, inPlaceName, isMethod, callable} of operators) {
    define(root, publicName, (...args) => callable.call(undefined, args));
    if (asyncName) define(root, asyncName, (...args) => callable.callAsync(undefined, args));
    if (inPlaceName && !isMethod) define(root, inPlaceName, (...args) => callable.callOnList(args));
  }
  return root;
}

/** Installs the methods on the prototype of Tensor. `check` throws if its first argument is not a tensor. */
function installMethods(prototype, check) {
  const install = (name, value) => {
    Object.defineProperty(prototype, name, {value: named(name, value), writable: true, configurable: true});
  };
  for (const {name, publicName, asyncName, inPlaceName, isMethod, callable} of operators) {
    if (!isMethod) continue;
    install(publicName, function (...args) {
      check(this, name);
      return callable.call(this, args);
    });
    if (asyncName) {
      install(asyncName, async function (...args) {
        check(this, name);
        return callable.callAsync(this, args);
      });
    }
    if (inPlaceName) {
      install(inPlaceName, function (...args) {
        check(this, inPlaceName);
        return callable.callInPlace(this, args);
      });
    }
  }
}

module.exports = {functionsByName, installMethods};
