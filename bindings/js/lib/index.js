'use strict';

/** The entry point: the object that `require('oneflow-js')` returns. */

const util = require('node:util');
const native = require('./addon/native');
require('./addon/garbage');
const dtypes = require('./tensor/dtypes');
const {errorClasses, makeError} = require('./errors');
const devices = require('./devices');
const classes = require('../generated/classes');
const settings = require('./settings');
const gradients = require('./gradients/autograd');
const extension = require('./extensions/extension');
const operatorLibrary = require('./extensions/operatorLibrary');
const {gradcheck} = require('./gradients/gradcheck');
const {makeTensor} = require('./tensor/create');
const {allclose, equal, installComparisons} = require('./tensor/comparison');
const {installConversions} = require('./tensor/conversions');
const {at, set} = require('./tensor/indexing');
const {installElsewhere} = require('./tensor/elsewhere');
const {einsumPath, einsumExpression} = require('./calls/expression');
const {functionsByName, installMethods} = require('./calls/operators');
const {setPrintOptions, toText} = require('./tensor/printing');
require('./classes/additions');
const reading = require('./tensor/read');
const {Float} = require('./calls/scalars');
const {
  Tensor, tidy, keep, isTensor, isPlainObject, liveSlot, describe, wrongReceiver,
} = require('./tensor/tensor');

/** Checks the options of toArray() or item() and returns them as `{bigint}`. Throws TypeMismatch. */
function bigintOption(method, options = {}) {
  if (!isPlainObject(options)) {
    throw makeError('TypeMismatch', `${method}: options must be object, got ${describe(options)}`);
  }
  const {bigint: given, ...others} = options;
  const bigint = given ?? false;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw makeError('TypeMismatch', `${method}: unknown argument ${unknown}`);
  if (typeof bigint !== 'boolean') {
    throw makeError('TypeMismatch', `${method}: bigint must be boolean, got ${describe(bigint)}`);
  }
  return {bigint};
}

const methods = {
  at(...indices) {
    return at(this, indices);
  },

  set(...args) {
    if (args.length === 0) throw makeError('TypeMismatch', 'set: missing argument value');
    const value = args.pop();
    return set(this, args, value);
  },

  toArray(options) {
    liveSlot(this, 'toArray');
    return reading.toArray(this, bigintOption('toArray', options));
  },

  dataSync() {
    return reading.dataSync(this);
  },

  async data() {
    return reading.data(this);
  },

  item(options) {
    liveSlot(this, 'item');
    return reading.item(this, bigintOption('item', options));
  },

  equal(other) {
    liveSlot(this, 'equal');
    if (!isTensor(other)) throw makeError('TypeMismatch', `equal: other must be Tensor, got ${describe(other)}`);
    return native.equal(liveSlot(this, 'equal'), liveSlot(other, 'equal'), this, other);
  },

  toString() {
    return toText(this);
  },

  toJSON() {
    liveSlot(this, 'toJSON');
    return reading.toArray(this, {});
  },

  /**
   * Returns the only element for `Number(x)`, `+x` and `x < 3`, and toString() for `${x}`. Throws TypeMismatch for
   * `x + y` and `x == y`, for which JavaScript does not ask the tensors.
   */
  [Symbol.toPrimitive](hint) {
    if (hint === 'default') {
      throw makeError('TypeMismatch', 'operators: a Tensor has methods instead of + and ==: x.add(y), x.eq(y)');
    }
    if (hint === 'string') return this.toString();
    liveSlot(this, 'item');
    return Number(reading.item(this, {real: true}));
  },

  [util.inspect.custom]() {
    if (!isTensor(this)) return 'Tensor {}'; // an object with the prototype of Tensor, such as Tensor.prototype itself
    return this.isDisposed ? 'tensor(disposed)' : toText(this);
  },

  * [Symbol.iterator]() {
    liveSlot(this, 'iteration');
    const [length] = this.shape;
    if (length === undefined) {
      throw makeError('TypeMismatch', 'iteration: input must have dimensions, got a Tensor without');
    }
    for (let i = 0; i < length; i++) yield at(this, [i]);
  },

  [Symbol.dispose]() {
    this.dispose();
  },
};

for (const key of Reflect.ownKeys(methods)) {
  Object.defineProperty(Tensor.prototype, key, {value: methods[key], writable: true, configurable: true});
}
installMethods(Tensor.prototype, (value, method) => {
  if (!isTensor(value)) throw wrongReceiver(method, value);
});
installComparisons(Tensor.prototype);
installConversions(Tensor.prototype);

/** Adds what another module has to names; namespaces that both have get the names of both. */
function merged(names, added) {
  const both = Object.entries(added).filter(([name, found]) => typeof found === 'object' && name in names);
  return {...names, ...added, ...Object.fromEntries(both.map(([name, found]) => [name, {...names[name], ...found}]))};
}

const flow = {
  ...merged(functionsByName(), classes),
  ...Object.fromEntries(dtypes.names.map((name) => [name, name])),
  ...settings,
  ...devices.functions,
  ...gradients,
  gradcheck,
  ...errorClasses,
  pi: Math.PI,
  e: Math.E,
  inf: Infinity,
  nan: NaN,
  newaxis: null,
  Tensor,
  tensor: (...args) => {
    if (args.length === 0) throw makeError('TypeMismatch', 'tensor: missing argument data');
    return makeTensor(...args);
  },
  float: (value) => {
    if (typeof value === 'number' || typeof value === 'bigint') return new Float(value);
    throw makeError('TypeMismatch', `float: value must be number, got ${describe(value)}`);
  },
  einsumPath,
  einsumExpression,
  allclose,
  equal,
  isTensor,
  tidy,
  keep,
  setPrintOptions,
  ...extension,
  ...operatorLibrary,
};

installElsewhere(flow, Tensor.prototype);

module.exports = flow;
