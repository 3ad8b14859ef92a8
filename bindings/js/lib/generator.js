'use strict';

/** Generators of random numbers, and the functions of the one that the process has. */

const util = require('node:util');
const native = require('./native');
const {makeError} = require('./errors');
const {describe, isPlainObject} = require('./tensor');

/** A value that cannot be cloned: structuredClone() and postMessage() fail on it, and quote its description. */
const UNCLONEABLE = Symbol('A oneflow Generator stays on its thread: send x.getState() instead; it');

const SMALLEST = -(2n ** 63n);
const LARGEST = 2n ** 64n - 1n;

/** Returns an integer of 64 bits, signed or unsigned, as an unsigned BigInt. Throws for other values. */
function word(method, name, value) {
  if (!Number.isSafeInteger(value) && typeof value !== 'bigint') {
    throw makeError('TypeMismatch', `${method}: ${name} must be integer, got ${describe(value)}`);
  }
  const integer = BigInt(value);
  if (integer < SMALLEST || integer > LARGEST) {
    throw makeError('InvalidArgument', `${method}: ${name} must be between -2**63 and 2**64 - 1, got ${value}`);
  }
  return BigInt.asUintN(64, integer);
}

/** Sets the state of the generator in a slot, which `owner` owns. */
function setState(method, slot, owner, state) {
  if (!isPlainObject(state)) {
    throw makeError('TypeMismatch', `${method}: state must be object, got ${describe(state)}`);
  }
  const {seed, offset} = state;
  native.setGeneratorState(slot, word(method, 'seed', seed), word(method, 'offset', offset), owner);
}

let isGenerator;
let slotOf;
let makeDefault;

/** A generator: a position in the sequence of a seed, which calls with the option `generator` move forward. */
class Generator {
  /** The slot of the generator in the addon; 0 once it is disposed of. */
  #slot;
  uncloneable = UNCLONEABLE;

  /** Creates a generator at the beginning of the sequence of a seed, by default that of new processes. */
  constructor(seed) {
    this.#slot = native.createGenerator(seed === undefined ? native.DEFAULT_SEED : word('Generator', 'seed', seed));
    native.own(this, this.#slot);
    Object.freeze(this);
  }

  static {
    isGenerator = (value) => typeof value === 'object' && value !== null && #slot in value;
    slotOf = (generator) => generator.#slot;
    makeDefault = () => {
      const generator = new Generator();
      native.release(generator.#slot);
      generator.#slot = native.defaultGenerator();
      return generator;
    };
  }

  /** Starts the sequence of an unpredictable seed, and returns the seed. */
  seed() {
    return native.seedGenerator(live(this, 'seed'), this);
  }

  /** Starts the sequence of a seed from its beginning. Returns the generator. */
  manualSeed(seed) {
    native.setGeneratorState(live(this, 'manualSeed'), word('manualSeed', 'seed', seed), 0n, this);
    return this;
  }

  /** Returns the seed of the current sequence. */
  initialSeed() {
    return native.generatorState(live(this, 'initialSeed'), this).seed;
  }

  /** Returns the state: the seed, and how many numbers were drawn. */
  getState() {
    return native.generatorState(live(this, 'getState'), this);
  }

  /** Restores a state that getState() returned. */
  setState(state) {
    setState('setState', live(this, 'setState'), this, state);
  }

  /** Returns an independent generator in the same state. */
  clone() {
    const {seed, offset} = native.generatorState(live(this, 'clone'), this);
    const copy = new Generator();
    native.setGeneratorState(copy.#slot, seed, offset, copy);
    return copy;
  }

  /** Whether dispose() was called. */
  get isDisposed() {
    return slotFor(this, 'isDisposed') === 0;
  }

  /** Releases the memory at once. Further calls do nothing. */
  dispose() {
    const slot = slotFor(this, 'dispose');
    if (this === defaultGenerator) {
      throw makeError('InvalidArgument', 'dispose: the default generator lives as long as the process');
    }
    native.release(slot);
    this.#slot = 0;
  }

  [Symbol.dispose]() {
    this.dispose();
  }

  toString() {
    if (slotFor(this, 'toString') === 0) return 'Generator(disposed)';
    const {seed, offset} = this.getState();
    return `Generator(seed ${seed}, offset ${offset})`;
  }

  [util.inspect.custom]() {
    return isGenerator(this) ? this.toString() : 'Generator {}'; // an object with only the prototype
  }
}

/** Returns the slot of the receiver of a method, 0 if it was disposed of. Throws TypeMismatch for other receivers. */
function slotFor(value, method) {
  if (isGenerator(value)) return slotOf(value);
  throw makeError('TypeMismatch', `${method}: the receiver must be a Generator, got ${describe(value)}`);
}

/** Returns the slot of a live generator. Throws InvalidArgument if it was disposed of. */
function live(value, method, argument = 'the receiver') {
  const slot = slotFor(value, method);
  if (slot !== 0) return slot;
  throw makeError('InvalidArgument', `${method}: ${argument} must be a live Generator, got a disposed one`);
}

/** The generator of the process, from which calls draw that are given no other. */
const defaultGenerator = makeDefault();

/** The public functions. */
const functions = {
  Generator,
  defaultGenerator,
  manualSeed: (seed) => defaultGenerator.manualSeed(seed),
  initialSeed: () => defaultGenerator.initialSeed(),
  getRandomState: () => defaultGenerator.getState(),
  setRandomState: (state) => setState('setRandomState', slotOf(defaultGenerator), defaultGenerator, state),
};

module.exports = {isGenerator, live, functions};
