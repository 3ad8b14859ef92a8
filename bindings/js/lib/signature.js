'use strict';

/**
 * Binds the values of a call to the arguments of an operator, checks their types, and writes them to the frame. Error
 * texts are those that all front ends share.
 */

const frame = require('./frame');
const dtypes = require('./dtypes');
const native = require('./native');
const {makeError} = require('./errors');
const {isTensor, slotOf, describe, disposedError} = require('./tensor');
const {Real, toInteger} = require('./scalars');

const {KIND} = frame;

/** The value of an argument that was not given. */
const ABSENT = undefined;
const NO_KEYS = [];
/** What fit() returns for a value of the wrong type. */
const MISFIT = Symbol('misfit');

const BASE = {tensor: 0, operand: 1, number: 2, integer: 3, float: 4, bool: 5, string: 6, dtype: 7, device: 8};
const BASES = {
  'Tensor': BASE.tensor,
  'Tensor|Number': BASE.operand,
  'Number': BASE.number,
  'int': BASE.integer,
  'dim': BASE.integer,
  'size': BASE.integer,
  'float': BASE.float,
  'bool': BASE.bool,
  'str': BASE.string,
  'dtype': BASE.dtype,
  'device': BASE.device,
};

class Argument {
  /** `type` as in a signature: "Tensor?[]", "dim[]?". */
  constructor({name, type, expected, hasDefault = false, keywordOnly = false}, index) {
    const [, base, optionalMembers, list, optional] = /^([A-Za-z|]+)(\?(?=\[))?(\[\])?(\?)?$/.exec(type);
    this.index = index;
    this.name = name;
    this.expected = expected;
    this.hasDefault = hasDefault;
    this.keywordOnly = keywordOnly;
    this.base = BASES[base];
    this.isList = list !== undefined;
    this.optional = optional !== undefined;
    this.optionalMembers = optionalMembers !== undefined;
    const single = this.isList ? undefined : this.base;
    this.takesTensor = single === BASE.tensor || single === BASE.operand;
    this.takesReal = single === BASE.operand || single === BASE.number;
    this.takesInteger = this.takesReal || single === BASE.integer;
  }
}

// ---------------------------------------------------------------------------------------------------- types

const isNumber = (value) => typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' ||
  value instanceof Real;

/** A single value of a base type, made ready for the frame, or MISFIT. May run code of the user. */
function fitOne(base, value) {
  switch (base) {
    case BASE.tensor:
      return isTensor(value) ? value : MISFIT;
    case BASE.operand:
      return isTensor(value) || isNumber(value) ? value : MISFIT;
    case BASE.number:
      return isNumber(value) ? value : MISFIT;
    case BASE.integer:
      return toInteger(value) ?? MISFIT;
    case BASE.float:
      return typeof value === 'number' || typeof value === 'bigint' || value instanceof Real ? Number(value) : MISFIT;
    case BASE.bool:
      return typeof value === 'boolean' ? value : MISFIT;
    default:
      return typeof value === 'string' ? value : MISFIT;
  }
}

const isSequence = (value) => Array.isArray(value) || dtypes.arrayKind(value) !== undefined;

/** The value of an argument made ready for the frame, or MISFIT. Lists are copied: nobody can change them any more. */
function fit(argument, value) {
  if (value === null) return argument.optional ? null : MISFIT;
  if (!argument.isList) return fitOne(argument.base, value);
  if (!isSequence(value)) {
    const single = fitOne(argument.base, value);
    return single === MISFIT ? MISFIT : [single];
  }
  const members = [];
  for (let i = 0; i < value.length; i++) {
    const member = value[i];
    const fitted = member === null && argument.optionalMembers ? null : fitOne(argument.base, member);
    if (fitted === MISFIT) return MISFIT;
    members.push(fitted);
  }
  return members;
}

// ---------------------------------------------------------------------------------------------------- binding

/** Why an overload does not fit a call: how far it got, and the error that it gives when no other one fits. */
class Refusal {
  constructor(progress, text) {
    this.progress = progress;
    this.text = text;
  }

  toError() {
    return makeError('TypeMismatch', this.text);
  }
}

/** Number of insertions, deletions, exchanges and swaps of neighbours that lead from one word to another. */
function distance(a, b) {
  const rows = [Array.from({length: b.length + 1}, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
  }
  return rows[a.length][b.length];
}

/** "; did you mean dim?" where a name is near enough to be a slip. */
function suggestion(word, known) {
  const near = known
    .map((name) => ({name, steps: distance(word.toLowerCase(), name.toLowerCase())}))
    .filter(({name, steps}) => steps <= Math.max(1, Math.floor(Math.max(word.length, name.length) / 3)))
    .sort((a, b) => a.steps - b.steps);
  return near.length > 0 ? `; did you mean ${near[0].name}?` : '';
}

/** One operator as a function offers it. */
class Overload {
  /** `record` is an entry of the generated table. */
  constructor(record) {
    this.operator = record.operator;
    this.name = record.name;
    this.arguments = record.arguments.map((argument, index) => new Argument(argument, index));
    this.byName = new Map(this.arguments.map((argument) => [argument.name, argument]));
    this.positional = this.arguments.filter((argument) => !argument.keywordOnly);
    this.receiver = this.arguments.find((argument) => argument.name === 'input' && !argument.isList);
    /** Those that are left when a method has bound its receiver. */
    this.positionalOfMethod = this.positional.filter((argument) => argument !== this.receiver);
    this.resultNames = record.results;
    this.hasOut = record.out ?? false;
    this.needsNamed = this.arguments.some((argument) => argument.keywordOnly && !argument.hasDefault);
    this.number = -1;
  }

  /** The addon's number for the operator. */
  find() {
    if (this.number < 0) this.number = native.findOp(this.operator);
    if (this.number < 0) throw makeError('InternalError', `${this.name}: the runtime has no operator ${this.operator}`);
    return this.number;
  }

  /**
   * Writes the frequent call, positional tensors and numbers, to the frame in one pass, without lists in between.
   * Returns false for every other call, and for one that does not fit: the general way then says what is wrong.
   */
  writeDirect(receiver, args) {
    const positional = receiver === undefined ? this.positional : this.positionalOfMethod;
    if (args.length > positional.length) return false;
    const count = this.arguments.length;
    frame.begin(this.find(), count, this.resultNames.length);
    for (let i = 0; i < count + this.resultNames.length; i++) frame.putPlain(i, KIND.absent, 0);
    if (receiver !== undefined) {
      const slot = slotOf(receiver);
      if (slot === 0 || this.receiver === undefined) return false;
      frame.putPlain(this.receiver.index, KIND.tensor, slot);
    }
    for (let i = 0; i < args.length; i++) {
      const value = args[i];
      const argument = positional[i];
      if (typeof value === 'object') {
        if (!argument.takesTensor || !isTensor(value)) return false;
        const slot = slotOf(value);
        if (slot === 0) return false;
        frame.putPlain(argument.index, KIND.tensor, slot);
      } else if (typeof value === 'number') {
        if (argument.takesInteger && Number.isSafeInteger(value)) frame.putInteger(argument.index, value);
        else if (argument.takesReal) frame.putFloat(argument.index, value);
        else return false;
      } else {
        return false;
      }
    }
    for (let i = args.length; i < positional.length; i++) if (!positional[i].hasDefault) return false;
    return !this.needsNamed;
  }

  /**
   * The values of all arguments, in the order of the signature, or a Refusal. The first `count` of `args` are
   * positional, `options`, which may be null, are by name; `out` is not among them.
   */
  bind(receiver, args, count, options) {
    const values = [];
    for (let i = 0; i < this.arguments.length; i++) values.push(ABSENT);
    if (receiver !== undefined) {
      if (this.receiver === undefined) return new Refusal(0, `${this.name}: is not a method`);
      values[this.receiver.index] = receiver;
    }
    return this.bindPositional(receiver, args, count, values) ?? this.bindNamed(count, options, values) ?? values;
  }

  bindPositional(receiver, args, given, values) {
    const positional = receiver === undefined ? this.positional : this.positionalOfMethod;
    const last = positional.length - 1;
    const isSpread = given > positional.length && last >= 0 && positional[last].isList && !isSequence(args[last]);
    const count = isSpread ? positional.length : given;
    for (let i = 0; i < Math.min(count, positional.length); i++) {
      const value = isSpread && i === last ? args.slice(last, given) : args[i];
      if (value === undefined) continue;
      const argument = positional[i];
      const fitted = fit(argument, value);
      if (fitted === MISFIT) return this.misfit(argument, value, i);
      values[argument.index] = fitted;
    }
    if (count <= positional.length) return undefined;
    const bound = receiver === undefined ? 0 : 1;
    const most = positional.length + bound;
    const plural = most === 1 ? '' : 's';
    const text = `takes at most ${most} positional argument${plural}, got ${count + bound}`;
    return new Refusal(positional.length, `${this.name}: ${text}`);
  }

  bindNamed(progress, options, values) {
    for (const key of options === null ? NO_KEYS : Object.keys(options)) {
      const value = options[key];
      if (value === undefined || (key === 'out' && this.hasOut)) continue;
      const argument = this.byName.get(key);
      if (argument === undefined) {
        const known = this.arguments.map(({name}) => name);
        return new Refusal(progress, `${this.name}: unknown argument ${key}${suggestion(key, known)}`);
      }
      if (values[argument.index] !== ABSENT) return new Refusal(progress, `${this.name}: argument ${key} given twice`);
      const fitted = fit(argument, value);
      if (fitted === MISFIT) return this.misfit(argument, value, progress);
      values[argument.index] = fitted;
      progress++;
    }
    for (const argument of this.arguments) {
      if (values[argument.index] === ABSENT && !argument.hasDefault) {
        return new Refusal(progress, `${this.name}: missing argument ${argument.name}`);
      }
    }
    return undefined;
  }

  misfit(argument, value, progress) {
    return new Refusal(progress, `${this.name}: ${argument.name} must be ${argument.expected}, got ${describe(value)}`);
  }

  /** Writes bound values to the frame. Runs no code of the user. */
  write(values) {
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (value === ABSENT) frame.putPlain(i, KIND.absent, 0);
      else if (value === null) frame.putPlain(i, KIND.none, 0);
      else if (this.arguments[i].isList) this.writeList(i, value);
      else this.writeOne(i, value);
    }
  }

  writeOne(position, value) {
    const argument = this.arguments[position];
    switch (argument.base) {
      case BASE.tensor:
      case BASE.operand:
        if (isTensor(value)) frame.putPlain(position, KIND.tensor, this.slot(value, argument));
        else this.writeNumber(position, value);
        break;
      case BASE.number:
        this.writeNumber(position, value);
        break;
      case BASE.integer:
        frame.putInteger(position, value);
        break;
      case BASE.float:
        frame.putFloat(position, value);
        break;
      case BASE.bool:
        frame.putPlain(position, KIND.bool, value ? 1 : 0);
        break;
      case BASE.string:
        frame.putString(position, value);
        break;
      case BASE.dtype:
        frame.putPlain(position, KIND.dtype, dtypes.codeOf(value, this.name, argument.name));
        break;
      default:
        frame.putPlain(position, KIND.device, native.parseDevice(value));
    }
  }

  writeNumber(position, value) {
    if (typeof value === 'boolean') {
      frame.putPlain(position, KIND.bool, value ? 1 : 0);
    } else if (Number.isSafeInteger(value)) {
      frame.putInteger(position, value);
    } else if (typeof value === 'bigint') {
      if (toInteger(value) === undefined) {
        const {name} = this.arguments[position];
        throw makeError('InvalidArgument', `${this.name}: ${name} must fit into 64 bits, got ${value}`);
      }
      frame.putInteger(position, value);
    } else {
      frame.putFloat(position, Number(value));
    }
  }

  writeList(position, list) {
    const argument = this.arguments[position];
    if (argument.base === BASE.tensor) {
      const slots = list.map((tensor) => (tensor === null ? 0 : this.slot(tensor, argument)));
      frame.putList(position, KIND.tensorList, slots);
    } else {
      frame.putList(position, KIND.intList, list);
    }
  }

  slot(tensor, argument) {
    const slot = slotOf(tensor);
    if (slot === 0) throw disposedError(this.name, argument.name);
    return slot;
  }
}

module.exports = {Overload, Refusal, isSequence, suggestion};
