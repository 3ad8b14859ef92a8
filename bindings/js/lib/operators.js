'use strict';

/** The functions of the generated table, ready to be called. */

const {functions} = require('../generated/functions');
const {PublicFunction} = require('./call');

const operators = functions.map((record) => ({...record, callable: new PublicFunction(record)}));
const byName = new Map(operators.map((operator) => [operator.name, operator.callable]));

/** The operator of that name, for the hand-written parts. */
const cast = (tensor, dtype) => byName.get('cast').call(undefined, [tensor, dtype]);

/** Gives a function a name, as stack traces and `util.inspect` show it. */
const named = (name, fn) => Object.defineProperty(fn, 'name', {value: name, configurable: true});

/** All public functions by name, with the promise variants. */
function functionsByName() {
  const found = {};
  for (const {publicName, asyncName, callable} of operators) {
    found[publicName] = named(publicName, (...args) => callable.call(undefined, args));
    if (asyncName) found[asyncName] = named(asyncName, (...args) => callable.callAsync(undefined, args));
  }
  return found;
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

module.exports = {cast, functionsByName, installMethods};
