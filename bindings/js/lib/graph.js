'use strict';

/** Graphs: functions that are captured once, saved with their weights, and run without the code that made them. */

const util = require('node:util');
const native = require('./native');
const {makeError, traced} = require('./errors');
const {optionsOf} = require('./gradArguments');
const {liveSlot: liveObject} = require('./object');
const {Generator} = require('../generated/classes');
const {TENSOR, checkText, entriesOf, flagOf, nodesOf, pathOf, restore} = require('./nodes');
const {describe, isPlainObject, isTensor, liveSlot, wrapSlot} = require('./tensor');

/** The parts of a graph, as the C API numbers them. */
const [INPUT, OUTPUT, CONSTANT] = [0, 1, 2];

/** Returns the nodes that are items of the first node. */
function childrenOf(nodes) {
  const children = [];
  for (let at = 1; at < nodes.length;) {
    children.push(nodes[at]);
    for (let waiting = 1; waiting > 0; at++) waiting += nodes[at].count - 1;
  }
  return children;
}

/** The key that the constructor requires, so that only capture() and load() create graphs. */
const KEY = Symbol('graph');

/** A rule of the program: see rule(). */
class Rule {
  constructor(key, parts) {
    if (key !== KEY) throw makeError('TypeMismatch', 'Rule: rules are made by rule(...)');
    Object.assign(this, parts);
    Object.freeze(this);
  }
}

/** What passes have done to a graph. */
const Report = {
  toString() {
    return this.table;
  },
};

/** What a run of a graph takes. */
class Cost {
  #table;

  constructor(key, {table, ...fields}) {
    if (key !== KEY) throw makeError('TypeMismatch', 'Cost: costs are made by graph.cost(sizes)');
    this.#table = table;
    Object.assign(this, fields);
    Object.freeze(this);
  }

  toString() {
    return this.#table.trimEnd();
  }
}

const newCost = (fields) => new Cost(KEY, fields);

/** Returns the native handle of a graph; undefined for other values. */
let handleOf;

/** A program of calls of operators with its constants. It does not change. */
class Graph {
  #handle;
  #inputs;
  #outputs;
  #names;
  #report;

  static {
    handleOf = (value) => (value instanceof Graph ? value.#handle : undefined);
  }

  constructor(key, handle, report) {
    if (key !== KEY) throw makeError('TypeMismatch', 'Graph: graphs are made by capture(...) and load(path)');
    this.#handle = handle;
    this.#inputs = native.graphNodes(handle, INPUT);
    this.#outputs = native.graphNodes(handle, OUTPUT);
    this.#names = childrenOf(this.#inputs).map((node) => node.key);
    this.#report = report;
    Object.freeze(this);
  }

  get inputs() {
    return native.graphValues(this.#handle, INPUT);
  }

  get outputs() {
    return native.graphValues(this.#handle, OUTPUT).slice(0, this.#returned());
  }

  get states() {
    return native.graphValues(this.#handle, OUTPUT).slice(this.#returned());
  }

  get constants() {
    const values = native.graphValues(this.#handle, CONSTANT);
    return Object.fromEntries(values.map(({name}, i) => [name, wrapSlot(native.graphConstant(this.#handle, i))]));
  }

  get note() {
    return native.graphNote(this.#handle);
  }

  get sizes() {
    const sizes = native.graphSizes(this.#handle);
    return Object.fromEntries(sizes.map(({name, minimum, maximum, step}) => [
      name, {min: minimum, max: maximum > Number.MAX_SAFE_INTEGER ? Infinity : maximum, step},
    ]));
  }

  run(inputs, options) {
    const {states, args} = this.#arguments('run', inputs, options);
    return this.#results(states, native.runGraph(...args));
  }

  async runAsync(inputs, options) {
    const {states, args} = this.#arguments('runAsync', inputs, options);
    return this.#results(states, await traced(native.runGraphAsync(...args)));
  }

  warmUp(sizes) {
    native.warmUp(this.#handle, this.#sizeList('warmUp', sizes));
  }

  async warmUpAsync(sizes) {
    const list = this.#sizeList('warmUpAsync', sizes);
    await traced(native.warmUpAsync(this.#handle, list));
  }

  get memory() {
    return native.sessionInfo(this.#handle)[0];
  }

  get memoryLimit() {
    return native.sessionInfo(this.#handle)[1] || null;
  }

  set memoryLimit(limit) {
    if (limit !== null && !Number.isSafeInteger(limit)) {
      throw makeError('TypeMismatch', `memoryLimit: the limit must be integer or null, got ${describe(limit)}`);
    }
    if (limit !== null && limit <= 0) {
      throw makeError('InvalidArgument', `memoryLimit: the limit must be positive, got ${limit}`);
    }
    native.setRunLimit(this.#handle, limit ?? 0);
  }

  get report() {
    return this.#report;
  }

  optimize(options) {
    const {args, rules} = this.#optimizeArguments('optimize', options, ['rules']);
    return this.#optimized(native.optimizeGraph(...args(Graph.rulesOf('optimize', rules), false)));
  }

  async optimizeAsync(options) {
    const {args} = this.#optimizeArguments('optimizeAsync', options, []);
    return this.#optimized(await traced(native.optimizeGraphAsync(...args([], false))));
  }

  rewrite(rules, options) {
    const {args} = this.#optimizeArguments('rewrite', options, []);
    const list = Graph.rulesOf('rewrite', Array.isArray(rules) ? rules : [rules]);
    return this.#optimized(native.optimizeGraph(...args(list, true)));
  }

  save(path) {
    native.saveGraph(this.#handle, pathOf('save', path));
  }

  async saveAsync(path) {
    await traced(native.saveGraphAsync(this.#handle, pathOf('saveAsync', path)));
  }

  cost(sizes) {
    const entries = sizes === undefined ? [] : entriesOf(sizes);
    if (entries === null) {
      throw makeError('TypeMismatch', `cost: sizes must be Map or object, got ${describe(sizes)}`);
    }
    for (const [name, value] of entries) {
      checkText('cost', 'a size', name);
      if (!Number.isSafeInteger(value)) {
        throw makeError('TypeMismatch', `cost: ${name} must be integer, got ${describe(value)}`);
      }
    }
    const names = entries.map(([name]) => name);
    const values = entries.map(([, value]) => value);
    return newCost(native.graphCost(this.#handle, names, values));
  }

  picture() {
    return native.graphPicture(this.#handle);
  }

  toString() {
    return native.graphText(this.#handle);
  }

  [util.inspect.custom]() {
    const inputs = this.inputs.map(({name, dtype, shape}) => `${name}: ${dtype}[${shape.join(', ')}]`);
    const calls = native.graphCallCount(this.#handle);
    return `Graph { (${inputs.join(', ')}), ${calls} call${calls === 1 ? '' : 's'} }`;
  }

  /** Returns the named sizes in the order of the graph; an empty array for undefined. */
  #sizeList(method, sizes) {
    if (sizes === undefined) return [];
    const names = Object.keys(this.sizes);
    if (!isPlainObject(sizes)) {
      throw makeError('TypeMismatch', `${method}: sizes must be an object of integers, got ${describe(sizes)}`);
    }
    const given = Object.keys(sizes);
    if (given.length !== names.length || !names.every((name) => Object.hasOwn(sizes, name))) {
      const wanted = names.join(', ') || 'none';
      throw makeError('InvalidArgument', `${method}: the sizes must be ${wanted}, got ${given.join(', ')}`);
    }
    for (const name of names) {
      if (!Number.isSafeInteger(sizes[name])) {
        throw makeError('TypeMismatch', `${method}: ${name} must be integer, got ${describe(sizes[name])}`);
      }
    }
    return names.map((name) => sizes[name]);
  }

  #returned() {
    return this.#outputs.filter(({kind}) => kind === TENSOR).length;
  }

  /** Returns the arguments by their names: those of an object with just these names, of an array, or the only one. */
  #bind(method, inputs) {
    const names = this.#names;
    const isNamed = isPlainObject(inputs) &&
      names.length === Object.keys(inputs).length && names.every((name) => Object.hasOwn(inputs, name));
    if (isNamed) return new Map(names.map((name) => [name, inputs[name]]));
    const list = Array.isArray(inputs) ? inputs : [inputs];
    if (list.length !== names.length) {
      const wanted = `the graph takes ${names.length} inputs (${names.join(', ')})`;
      throw makeError('TypeMismatch', `${method}: ${wanted}, got ${list.length}`);
    }
    return new Map(names.map((name, i) => [name, list[i]]));
  }

  #optimized({handle, ...report}) {
    return new Graph(KEY, handle, Object.freeze(Object.assign(Object.create(Report), report)));
  }

  #optimizeArguments(method, options, others) {
    const given = optionsOf(method, options, ['level', 'inputs', 'without', 'measure', 'weights', ...others]);
    const {level = 2, inputs, without = [], measure, rules = [], weights} = given;
    if (!Number.isSafeInteger(level)) {
      throw makeError('TypeMismatch', `${method}: level must be integer, got ${describe(level)}`);
    }
    if (!Array.isArray(without)) {
      throw makeError('TypeMismatch', `${method}: without must be an array of strings, got ${describe(without)}`);
    }
    const names = without.map((name) => checkText(method, 'a name in without', name));
    const {slots, tensors} = inputs === undefined ? {slots: [], tensors: []} : this.#tensors(method, inputs);
    const measures = flagOf(method, 'measure', measure, true);
    const stored = weights === undefined || weights === null ? '' : checkText(method, 'weights', `${weights}`);
    return {
      rules,
      args: (list, onlyRules) => [this.#handle, level, names, measures, slots, list, onlyRules, stored, ...tensors],
    };
  }

  /** Returns the rules as native.optimizeGraph() takes them. */
  static rulesOf(method, rules) {
    if (!Array.isArray(rules)) {
      throw makeError('TypeMismatch', `${method}: rules must be an array, got ${describe(rules)}`);
    }
    return rules.map((each) => {
      if (!(each instanceof Rule)) {
        throw makeError('TypeMismatch', `${method}: an item of rules must be Rule, got ${describe(each)}`);
      }
      return {...each, left: each.left.#handle, right: (slots) => each.right(slots)};
    });
  }

  /** Returns the slots of the inputs, and the tensors. */
  #tensors(method, inputs) {
    const nodes = nodesOf(method, this.#bind(method, inputs), 'the inputs');
    const isAlike = nodes.kinds.length === this.#inputs.length && this.#inputs.every(({kind, count, key}, i) =>
      nodes.kinds[i] === kind && nodes.counts[i] === count && nodes.keys[i] === key);
    if (!isAlike) {
      throw makeError('TypeMismatch', `${method}: the inputs are nested in another way than at the capture`);
    }
    return {slots: nodes.slots.filter((_, i) => nodes.kinds[i] === TENSOR), tensors: nodes.tensors};
  }

  #arguments(method, inputs, options) {
    const {states, generator} = optionsOf(method, options, ['states', 'generator']);
    if (generator !== undefined && generator !== null && !(generator instanceof Generator)) {
      throw makeError('TypeMismatch', `${method}: generator must be Generator, got ${describe(generator)}`);
    }
    const {slots, tensors} = this.#tensors(method, inputs);
    const drawn = generator instanceof Generator ? liveObject(Generator, generator, method, 'generator') : 0;
    return {
      states: flagOf(method, 'states', states, false),
      args: [this.#handle, slots, drawn, ...tensors, generator],
    };
  }

  #results(states, slots) {
    const tensors = slots.map((slot) => wrapSlot(slot));
    const result = restore(this.#outputs.values(), tensors.values());
    if (!states) return result;
    const count = this.#returned();
    return {result, states: Object.fromEntries(this.states.map(({name}, i) => [name, tensors[count + i]]))};
  }
}

const newGraph = (handle) => new Graph(KEY, handle);

/** Gives the tensors of nested data with their joined names. */
function* namedTensors(data, prefix) {
  if (isTensor(data)) {
    yield [prefix, data];
    return;
  }
  const items = Array.isArray(data) ? [...data.entries()] : entriesOf(data);
  if (items === null) {
    const found = `must be Tensor, array, Map or object, got ${describe(data)}`;
    throw makeError('TypeMismatch', `capture: an item of weights ${found}`);
  }
  for (const [key, item] of items) yield* namedTensors(item, prefix === '' ? `${key}` : `${prefix}.${key}`);
}

const integerOrNull = (text) => (/^\d+$/.test(text) ? Number(text) : null);

/** Returns [number of an input, dimension, name of its size] for all dimensions that vary. */
function dimensionsOf(dynamic, names, tensors) {
  if (dynamic === undefined || dynamic === null) return [];
  const [only, ...others] = typeof dynamic === 'string' ? [dynamic] : Array.isArray(dynamic) ? dynamic : [];
  if (only !== undefined && others.length === 0) {
    return tensors.flatMap((tensor, i) => (tensor.shape.length === 0 ? [] : [[i, 0, only]]));
  }
  const entries = Array.isArray(dynamic) ? null : entriesOf(dynamic);
  if (entries === null) {
    const wanted = 'one name for the first dimension of all inputs, or an object of their dimensions';
    throw makeError('TypeMismatch', `capture: dynamic must be ${wanted}, got ${describe(dynamic)}`);
  }
  return entries.flatMap(([key, dims]) => {
    const number = names.includes(`${key}`) ? names.indexOf(`${key}`) : integerOrNull(`${key}`);
    if (number === null || number >= names.length) {
      throw makeError('InvalidArgument', `capture: dynamic has no input '${key}'; there are ${names.join(', ')}`);
    }
    const pairs = Array.isArray(dims) ? [...dims.entries()] : entriesOf(dims);
    if (pairs === null) {
      throw makeError('TypeMismatch', `capture: dynamic.${key} must be array or object, got ${describe(dims)}`);
    }
    return pairs.filter(([, size]) => size !== null && size !== undefined).map(([dim, size]) => [number, dim, size]);
  });
}

/** Returns the minimum, the maximum or -1, and the step of a size. `what` names it in error texts. */
function rangeOf(method, what, range) {
  const {min = 1, max = Infinity, step = 1} = optionsOf(method, range, ['min', 'max', 'step']);
  const isValid = Number.isSafeInteger(min) && Number.isSafeInteger(step) && step >= 1 &&
    (max === Infinity || Number.isSafeInteger(max)) && min >= 0 && max >= min;
  if (!isValid) throw makeError('TypeMismatch', `${method}: ${what} must have integers min <= max and step >= 1`);
  return [min, max === Infinity ? -1 : max, step];
}

/** Returns the numbers of all sizes, as rangeOf() gives them, in one array. */
function rangesOf(ranges, sizes) {
  const given = new Map(ranges === undefined || ranges === null ? [] : entriesOf(ranges) ?? [[undefined]]);
  if (given.has(undefined)) {
    throw makeError('TypeMismatch', `capture: ranges must be Map or object, got ${describe(ranges)}`);
  }
  for (const name of given.keys()) {
    if (!sizes.includes(name)) {
      throw makeError('InvalidArgument', `capture: ranges has '${name}', which no dimension has in dynamic`);
    }
  }
  return sizes.flatMap((size) => rangeOf('capture', `ranges.${size}`, given.get(size)));
}

/** Calls a function of tensors for each run that the capture needs. */
function record(running, layout, run) {
  for (let slots; (slots = native.beginRun(running)) !== null;) {
    try {
      const values = restore(layout.values(), slots.map((slot) => wrapSlot(slot)).values());
      const {kinds, counts, keys, slots: found, tensors} = nodesOf('capture', run(Object.values(values)), 'the result');
      native.endRun(running, kinds, counts, keys, found, ...tensors);
    } catch (error) {
      native.cancelRun(running);
      throw error;
    }
  }
}

function capture(fn, exampleInputs, options) {
  if (typeof fn !== 'function') {
    throw makeError('TypeMismatch', `capture: fn must be function, got ${describe(fn)}`);
  }
  const {dynamic, ranges, weights, names} = optionsOf('capture', options, ['dynamic', 'ranges', 'weights', 'names']);
  const args = Array.isArray(exampleInputs) ? exampleInputs : [exampleInputs];
  if (names !== undefined && !(Array.isArray(names) && names.length === args.length)) {
    throw makeError('TypeMismatch', `capture: names must be an array of ${args.length} strings`);
  }
  const examples = new Map(args.map((value, i) => [checkText('capture', 'a name', names?.[i] ?? `input${i}`), value]));
  const {kinds, counts, keys, slots, tensors} = nodesOf('capture', examples, 'exampleInputs');
  const inputNames = [...namedTensors(examples, '')].map(([name]) => name);
  const places = dimensionsOf(dynamic, inputNames, tensors);
  for (const [, , size] of places) checkText('capture', 'a size', size);
  const sizes = [...new Set(places.map(([, , size]) => size))];
  const numbers = places.flatMap(([number, dim, size]) => [number, Number(dim), sizes.indexOf(size)]);
  const running = native.startCapture(kinds, counts, keys, slots, sizes, rangesOf(ranges, sizes), numbers, ...tensors);
  if (weights !== undefined && weights !== null) {
    for (const [name, tensor] of namedTensors(weights, '')) {
      native.nameConstant(running, liveSlot(tensor, 'capture'), checkText('capture', 'a name', name), tensor);
    }
  }
  const layout = kinds.map((kind, i) => ({kind, count: counts[i], key: keys[i]}));
  record(running, layout, (values) => fn(...values));
  return newGraph(native.finishCapture(running));
}

/** Returns the arguments of the native function. */
function loadArguments(method, path, options) {
  const {verify, mmap} = optionsOf(method, options, ['verify', 'mmap']);
  return [pathOf(method, path), flagOf(method, 'verify', verify, false), flagOf(method, 'mmap', mmap, false)];
}

function load(path, options) {
  return newGraph(native.loadGraph(...loadArguments('load', path, options)));
}

async function loadAsync(path, options) {
  return newGraph(await traced(native.loadGraphAsync(...loadArguments('loadAsync', path, options))));
}

function rule(left, right, exampleInputs, options) {
  const {when, constants = [], names, name = 'rule', error = 1e-6} =
    optionsOf('rule', options, ['when', 'constants', 'names', 'name', 'error']);
  for (const [what, fn] of [['right', right], ['when', when ?? right]]) {
    if (typeof fn !== 'function') {
      throw makeError('TypeMismatch', `rule: ${what} must be function, got ${describe(fn)}`);
    }
  }
  if (typeof error !== 'number') throw makeError('TypeMismatch', `rule: error must be number, got ${describe(error)}`);
  if (!Array.isArray(constants)) {
    throw makeError('TypeMismatch', `rule: constants must be an array of strings, got ${describe(constants)}`);
  }
  return new Rule(KEY, {
    name: checkText('rule', 'the name', name),
    left: capture(left, exampleInputs, {names}),
    constants: constants.map((each) => checkText('rule', 'a constant', each)),
    error,
    right(slots) {
      const tensors = slots.map((slot) => wrapSlot(slot));
      if (when && !when(...tensors)) return 0;
      const result = right(...tensors);
      if (!isTensor(result)) throw makeError('TypeMismatch', `rule: right must return Tensor, got ${describe(result)}`);
      return liveSlot(result, 'rule');
    },
  });
}

const passes = () => native.graphPasses();

module.exports = {graph: {Graph, Cost, Rule, capture, load, loadAsync, passes, rule}, handleOf, newGraph, rangeOf};
