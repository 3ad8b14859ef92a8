'use strict';

/** Files of tensors: safetensors, and NumPy's .npy and .npz. */

const util = require('node:util');
const native = require('./native');
const {codeOrDefault} = require('./devices');
const {makeError, traced} = require('./errors');
const {optionsOf} = require('./gradArguments');
const {TENSOR, checkText, entriesOf, flagOf, nodesOf, pathOf, restore} = require('./nodes');
const {describe, wrapSlot} = require('./tensor');

/** Returns the arguments of native.saveFile() for save() and saveAsync(). */
function saveArguments(method, data, path, options) {
  const target = pathOf(method, path);
  const {kinds, counts, keys, slots, tensors} = nodesOf(method, data);
  const {metadata, compress} = optionsOf(method, options, ['metadata', 'compress']);
  const pairs = metadata === undefined || metadata === null ? [] : entriesOf(metadata);
  if (pairs === null) {
    throw makeError('TypeMismatch', `${method}: metadata must be Map or object, got ${describe(metadata)}`);
  }
  const texts = pairs.flatMap(([key, value]) => [
    checkText(method, 'a key of metadata', key), checkText(method, 'a value of metadata', value),
  ]);
  return [target, kinds, counts, keys, slots, texts, flagOf(method, 'compress', compress, false), tensors];
}

function save(data, path, options) {
  const args = saveArguments('save', data, path, options);
  native.saveFile(...args);
}

async function saveAsync(data, path, options) {
  const args = saveArguments('saveAsync', data, path, options);
  await traced(native.saveFileAsync(...args));
}

/** The key that the constructor requires, so that only openFile() creates files. */
const KEY = Symbol('file');

/** A file of tensors that is open for reading. */
class TensorFile {
  #handle;
  #entries = new Map();

  constructor(key, handle) {
    if (key !== KEY) throw makeError('TypeMismatch', 'TensorFile: files are opened by openFile(path)');
    this.#handle = handle;
    native.fileEntries(handle).forEach(({name, ...info}, position) => this.#entries.set(name, {info, position}));
  }

  get names() {
    return [...this.#entries.keys()];
  }

  get metadata() {
    return Object.fromEntries(native.fileMetadata(this.#open('metadata')));
  }

  get isClosed() {
    return this.#handle === null;
  }

  info(name) {
    const {info} = this.#entry('info', name);
    return {...info, shape: [...info.shape]};
  }

  read(name, options) {
    return wrapSlot(native.readFile(...this.#readArguments('read', name, options))[0]);
  }

  async readAsync(name, options) {
    const [slot] = await traced(native.readFileAsync(...this.#readArguments('readAsync', name, options)));
    return wrapSlot(slot);
  }

  load(options) {
    const [nodes, ...args] = this.#loadArguments('load', options);
    return TensorFile.#restore(nodes, native.readFile(...args));
  }

  async loadAsync(options) {
    const [nodes, ...args] = this.#loadArguments('loadAsync', options);
    return TensorFile.#restore(nodes, await traced(native.readFileAsync(...args)));
  }

  close() {
    if (this.#handle !== null) native.closeFile(this.#handle);
    this.#handle = null;
  }

  [Symbol.dispose]() {
    this.close();
  }

  [util.inspect.custom]() {
    return `TensorFile { ${this.#entries.size} tensors${this.isClosed ? ', closed' : ''} }`;
  }

  #open(method) {
    if (this.#handle === null) throw makeError('InvalidArgument', `${method}: the file is closed`);
    return this.#handle;
  }

  #entry(method, name) {
    this.#open(method);
    if (typeof name !== 'string') {
      throw makeError('TypeMismatch', `${method}: name must be string, got ${describe(name)}`);
    }
    const found = this.#entries.get(name);
    if (found !== undefined) return found;
    throw makeError('InvalidArgument', `${method}: there is no tensor ${JSON.stringify(name)}`);
  }

  #readArguments(method, name, options) {
    const {device, mmap} = optionsOf(method, options, ['device', 'mmap']);
    const {position} = this.#entry(method, name);
    return [this.#handle, [position], codeOrDefault(method, device), flagOf(method, 'mmap', mmap, false)];
  }

  #loadArguments(method, options) {
    const {device, mmap, flat} = optionsOf(method, options, ['device', 'mmap', 'flat']);
    const nodes = native.fileNodes(this.#open(method), flagOf(method, 'flat', flat, false));
    const positions = nodes.filter(({kind}) => kind === TENSOR).map(({entry}) => entry);
    return [nodes, this.#handle, positions, codeOrDefault(method, device), flagOf(method, 'mmap', mmap, false)];
  }

  static #restore(nodes, slots) {
    return restore(nodes.values(), slots.map((slot) => wrapSlot(slot)).values());
  }
}

const openFile = (path) => new TensorFile(KEY, native.openFile(pathOf('openFile', path)));

function load(path, options) {
  const file = new TensorFile(KEY, native.openFile(pathOf('load', path)));
  try {
    return file.load(options);
  } finally {
    file.close();
  }
}

async function loadAsync(path, options) {
  const file = new TensorFile(KEY, await traced(native.openFileAsync(pathOf('loadAsync', path))));
  try {
    return await file.loadAsync(options);
  } finally {
    file.close();
  }
}

module.exports = {TensorFile, load, loadAsync, openFile, save, saveAsync};
