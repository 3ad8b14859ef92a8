'use strict';

/**
 * The short path of calls: writes arguments of plain types to the frame, for the first overload of a function. It
 * either finds what the shared binder of the runtime would find, or leaves the call to that. It makes no error.
 */

const frame = require('./frame');
const dtypes = require('../tensor/dtypes');
const {isTensor, slotOf} = require('../tensor/tensor');

const {KIND} = frame;
/** The most items of a list of integers. */
const MOST_ITEMS = 64;

/** A parameter of an overload. */
class Parameter {
  /** Makes the parameter at a position. `taken` has a letter for each sort of values that are written. */
  constructor({name, taken, isRequired, isOptional}, index) {
    this.index = index;
    this.name = name;
    this.isRequired = isRequired;
    this.isOptional = isOptional;
    this.takesTensor = taken.includes('T');
    this.takesInteger = taken.includes('I');
    this.takesReal = taken.includes('R');
    this.takesNumber = taken.includes('F');
    this.takesBoolean = taken.includes('B');
    this.takesString = taken.includes('S');
    this.takesDtype = taken.includes('D');
    this.takesIntegers = taken.includes('L');
    this.takesTensors = taken.includes('M');
  }
}

/** A function or a method: its parameters, first the positional ones. */
class Form {
  constructor(parameters, most, starts) {
    this.parameters = parameters;
    /** The number of positional parameters. */
    this.most = most;
    /** Whether the tensors of a trailing list may be separate arguments. */
    this.takesItems = most > 0 && parameters[most - 1].takesTensors;
    this.places = new Map(parameters.map(({name}, place) => [name, place]));
    /** Where separate arguments begin to be the items of a list, for each overload. */
    this.starts = starts;
  }
}

/** The first overload of a function, as the addon describes it. */
class ShortCall {
  constructor({op, receiver, positionalCount, resultCount, parameters, starts, startsOfMethod}) {
    const own = parameters.map((each, index) => new Parameter(each, index));
    const others = own.filter(({index}) => index !== receiver);
    this.op = op;
    this.receiver = receiver;
    this.count = own.length;
    this.resultCount = resultCount;
    this.asFunction = new Form(own, positionalCount, starts);
    this.asMethod = new Form(others, positionalCount - (own.length - others.length), startsOfMethod);
  }

  formOf(receiver) {
    return receiver === undefined ? this.asFunction : this.asMethod;
  }

  /**
   * Writes a call to the frame, in one pass without intermediate arrays. Returns false for calls that it leaves to the
   * shared binder. Runs no code of programs. `args` are positional, or all arguments in the places that place() gives
   * them.
   */
  write(receiver, args, isOwned, arePlaced = false) {
    const {parameters, most, takesItems} = receiver === undefined ? this.asFunction : this.asMethod;
    if (args.length > most && !takesItems && !arePlaced) return false;
    frame.begin(this.op, this.count, this.resultCount, isOwned);
    if (receiver !== undefined) {
      const slot = slotOf(receiver);
      if (slot === 0 || this.receiver < 0) return false;
      frame.putPlain(this.receiver, KIND.tensor, slot);
    }
    for (let i = 0; i < args.length; i++) {
      const value = args[i];
      const parameter = parameters[i];
      if (typeof value === 'object') {
        if (!isTensor(value)) {
          if (!writeList(parameter, value, arePlaced)) return false;
        } else if (parameter.takesTensors && takesItems && !arePlaced) {
          if (!writeItems(parameter, args, i)) return false;
          break;
        } else {
          const slot = slotOf(value);
          if (slot === 0 || !parameter.takesTensor) return false;
          frame.putPlain(parameter.index, KIND.tensor, slot);
        }
      } else if (typeof value === 'number') {
        if (parameter.takesInteger && Number.isSafeInteger(value)) frame.putInteger(parameter.index, value);
        else if (parameter.takesNumber || (parameter.takesReal && !Number.isInteger(value))) {
          frame.putFloat(parameter.index, value);
        } else if (!parameter.takesIntegers || !writeIntegers(parameter, [value])) {
          return false;
        }
      } else if ((value === undefined && !arePlaced) || !writeWord(parameter, value)) {
        return false;
      }
    }
    for (let i = arePlaced ? args.length : Math.min(args.length, most); i < parameters.length; i++) {
      if (parameters[i].isRequired) return false;
      frame.putPlain(parameters[i].index, KIND.absent, 0);
    }
    for (let i = 0; i < this.resultCount; i++) frame.putPlain(this.count + i, KIND.absent, 0);
    return true;
  }

  /**
   * Returns an array with the arguments of a call in the places of their parameters, and copies of lists; undefined for
   * a call that is left to the shared binder. Runs code of programs: getters of lists.
   */
  place(receiver, positional, names, values) {
    const {parameters, most, places} = this.formOf(receiver);
    if (positional.length > most) return undefined;
    const placed = positional.map((value, i) => copyOf(parameters[i], value));
    for (let i = 0; i < names.length; i++) {
      const place = places.get(names[i]);
      if (place === undefined || placed[place] !== undefined) return undefined;
      while (placed.length < place) placed.push(undefined);
      placed[place] = copyOf(parameters[place], values[i]);
    }
    return placed;
  }
}

/** Returns a copy of a short list of integers or tensors; another value as it is. */
function copyOf(parameter, value) {
  const isList = (parameter.takesIntegers || parameter.takesTensors) && typeof value === 'object' &&
    dtypes.isSequence(value);
  return isList ? Array.from({length: Math.min(value.length, MOST_ITEMS + 1)}, (_, i) => value[i]) : value;
}

/** Writes a boolean, a string, the name of a dtype, or nothing. Returns false for other values. */
function writeWord(parameter, value) {
  if (typeof value === 'string') {
    if (parameter.takesString) return frame.putString(parameter.index, value);
    if (!parameter.takesDtype || !dtypes.isName(value)) return false;
    frame.putPlain(parameter.index, KIND.dtype, dtypes.codeOf(value));
  } else if (typeof value === 'boolean') {
    if (!parameter.takesBoolean) return false;
    frame.putPlain(parameter.index, KIND.bool, value ? 1 : 0);
  } else {
    if (value !== undefined || parameter.isRequired) return false;
    frame.putPlain(parameter.index, KIND.absent, 0);
  }
  return true;
}

/** Writes null, or a list that copyOf() has copied. Returns false for other values. */
function writeList(parameter, value, isCopied) {
  if (value === null) {
    if (parameter.isOptional) frame.putPlain(parameter.index, KIND.none, 0);
    return parameter.isOptional;
  }
  if (!isCopied || !dtypes.isArray(value) || value.length > MOST_ITEMS) return false;
  if (parameter.takesTensors) return writeItems(parameter, value, 0);
  return parameter.takesIntegers && writeIntegers(parameter, value);
}

/** Writes a list of integers. Returns false unless all are safe integers. */
function writeIntegers(parameter, items) {
  const list = frame.openList(parameter.index, KIND.intList, items.length);
  for (let i = 0; i < items.length; i++) {
    if (!Number.isSafeInteger(items[i])) return false;
    frame.putItem(list, i, items[i]);
  }
  return true;
}

/** Writes the arguments from position `from` on as a list of tensors. Returns false unless all are live tensors. */
function writeItems(parameter, args, from) {
  const list = frame.openList(parameter.index, KIND.tensorList, args.length - from);
  for (let i = from; i < args.length; i++) {
    const slot = isTensor(args[i]) ? slotOf(args[i]) : 0;
    if (slot === 0) return false;
    frame.putItem(list, i - from, slot);
  }
  return true;
}

module.exports = {ShortCall};
