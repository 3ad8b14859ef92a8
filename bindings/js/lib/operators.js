'use strict';

/** The functions of the generated table, ready to be called. */

const {functions} = require('../generated/functions');
const {PublicFunction} = require('./call');

const operators = functions.map((record) => ({...record, callable: new PublicFunction(record)}));
const byName = new Map(operators.map((operator) => [operator.name, operator.callable]));

/** Operators that the hand-written parts use. */
const cast = (tensor, dtype) => byName.get('cast').call(undefined, [tensor, dtype]);
const castAsync = (tensor, dtype) => byName.get('cast').callAsync(undefined, [tensor, dtype]);
const toDevice = (tensor, device) => byName.get('toDevice').call(undefined, [tensor, device]);

/** Gives a function a name, as stack traces and `util.inspect` show it. */
const named = (name, fn) => Object.defineProperty(fn, 'name', {value: name, configurable: true});

/** Puts a function where its dotted name says. */
function place(root, path, fn) {
  const parts = path.split('.');
  const leaf = parts.pop();
  let space = root;
  for (const part of parts) space = space[part] ??= {};
  space[leaf] = named(leaf, fn);
}

/** All public functions by name, with the promise variants; namespaces are objects. */
function functionsByName() {
  const root = {};
  for (const {publicName, asyncName, inPlaceName, isMethod, callable} of operators) {
    place(root, publicName, (...args) => callable.call(undefined, args));
    if (asyncName) place(root, asyncName, (...args) => callable.callAsync(undefined, args));
    if (inPlaceName && !isMethod) place(root, inPlaceName, (...args) => callable.callOnList(args));
  }
  return root;
}

/** Installs methods; `check` throws for a receiver that is no tensor. */
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
        check(this, name);
        return callable.callInPlace(this, args);
      });
    }
  }
}

module.exports = {cast, castAsync, toDevice, functionsByName, installMethods};
