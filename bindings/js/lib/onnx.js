'use strict';

/** ONNX models as graphs, and graphs as ONNX models. */

const {makeTensor} = require('./create');
const {makeError, traced} = require('./errors');
const {optionsOf} = require('./gradArguments');
const {handleOf, newGraph, rangeOf} = require('./graph');
const native = require('./native');
const {checkText, entriesOf, pathOf} = require('./nodes');
const {describe, isPlainObject, isTensor, liveSlot} = require('./tensor');

/** Returns the items of a Map or an object, whose keys are names. */
function namedItems(method, argument, items) {
  const entries = items === undefined || items === null ? [] : entriesOf(items);
  if (entries === null) {
    throw makeError('TypeMismatch', `${method}: ${argument} must be Map or object, got ${describe(items)}`);
  }
  for (const [name] of entries) checkText(method, `a key of ${argument}`, name);
  return entries;
}

/** Returns the minimum, the maximum or -1, and the step of a size. */
function boundsOf(method, name, size) {
  if (Number.isSafeInteger(size) && size > 0) return [size, size, 1];
  if (isPlainObject(size)) return rangeOf(method, `sizes.${name}`, size);
  const wanted = 'must be a positive integer, {min, max, step} or the name of a size';
  throw makeError('TypeMismatch', `${method}: sizes.${name} ${wanted}, got ${describe(size)}`);
}

/** Returns the arguments of the native function. */
function argumentsOf(method, path, options) {
  const {sizes, values} = optionsOf(method, options, ['sizes', 'values']);
  const [named, given] = [namedItems(method, 'sizes', sizes), namedItems(method, 'values', values)];
  const isName = ([, size]) => typeof size === 'string';
  const [equal, ranges] = [named.filter(isName), named.filter((item) => !isName(item))];
  for (const [name, size] of equal) checkText(method, `sizes.${name}`, size);
  const tensors = given.map(([, value]) => (isTensor(value) ? value : makeTensor(value)));
  return [
    pathOf(method, path),
    ranges.map(([name]) => name),
    ranges.flatMap(([name, size]) => boundsOf(method, name, size)),
    equal.flat(),
    given.map(([name]) => name),
    tensors.map((tensor) => liveSlot(tensor, method)),
    ...tensors,
  ];
}

/** Returns a graph that was loaded, and warns of its note. */
function loaded(handle) {
  const graph = newGraph(handle);
  if (graph.note) process.emitWarning(`load: ${graph.note}`, 'OneFlowWarning');
  return graph;
}

function load(path, options) {
  const args = argumentsOf('load', path, options);
  return loaded(native.loadOnnx(...args));
}

async function loadAsync(path, options) {
  const args = argumentsOf('loadAsync', path, options);
  return loaded(await traced(native.loadOnnxAsync(...args)));
}

/** Returns an option that is a positive integer, or 0 for its default. */
function positive(method, name, value) {
  if (value === undefined || value === null) return 0;
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw makeError('TypeMismatch', `${method}: ${name} must be a positive integer, got ${describe(value)}`);
}

/** Returns the arguments of the native function. */
function saveArguments(method, graph, path, options) {
  const handle = handleOf(graph);
  if (!handle) throw makeError('TypeMismatch', `${method}: graph must be Graph, got ${describe(graph)}`);
  const {opset, externalBytes} = optionsOf(method, options, ['opset', 'externalBytes']);
  const numbers = [positive(method, 'opset', opset), positive(method, 'externalBytes', externalBytes)];
  return [handle, pathOf(method, path), numbers];
}

function save(graph, path, options) {
  native.saveOnnx(...saveArguments('save', graph, path, options));
}

async function saveAsync(graph, path, options) {
  await traced(native.saveOnnxAsync(...saveArguments('saveAsync', graph, path, options)));
}

module.exports = {onnx: {load, loadAsync, save, saveAsync}};
