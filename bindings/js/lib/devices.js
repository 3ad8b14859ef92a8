'use strict';

/** Devices: their names, properties and memory. */

const util = require('node:util');
const native = require('./addon/native');
const {words} = require('../generated/functions');
const {makeError, refuseNullByte, rewording} = require('./errors');
const {describe} = require('./tensor/tensor');

/** The addon's number of the host device, as native.parseDevice('cpu:0') returns it: the memory of arrays is there. */
const HOST = 0;

let isDevice;

/** A device and its properties, which are queried on each access. It is accepted wherever the name of a device is. */
class Device {
  #code;

  /** Looks up a device by its name ('far' means 'far:0'), or copies another Device. Throws DeviceError. */
  constructor(name) {
    this.#code = codeOf('device', 'name', name);
    this.name = native.deviceName(this.#code);
    Object.freeze(this);
  }

  static {
    isDevice = (value) => typeof value === 'object' && value !== null && #code in value;
  }

  get type() {
    return this.name.slice(0, this.name.indexOf(':'));
  }

  get index() {
    return Number(this.name.slice(this.name.indexOf(':') + 1));
  }

  get hardware() {
    return native.deviceProperties(this.#code).name;
  }

  get totalMemory() {
    return native.deviceProperties(this.#code).totalMemory;
  }

  get freeMemory() {
    return native.deviceProperties(this.#code).freeMemory;
  }

  get computeUnits() {
    return native.deviceProperties(this.#code).computeUnits;
  }

  get capabilities() {
    const list = native.deviceProperties(this.#code).capabilities.split(' ').filter((word) => word !== '');
    return list.map((word) => word.replace(/_[a-z]/g, ([, letter]) => letter.toUpperCase()));
  }

  get notes() {
    return native.deviceProperties(this.#code).notes;
  }

  toString() {
    return this.name;
  }

  toJSON() {
    return this.name;
  }

  [util.inspect.custom]() {
    return `device('${this.name}')`;
  }
}

/** Returns the name of a device that is given by name or as a Device; undefined for other values. */
function nameOf(value) {
  if (typeof value === 'string') return value;
  return isDevice(value) ? value.name : undefined;
}

/** Returns the addon's number of a device that is given by name or as a Device. Throws TypeMismatch or DeviceError. */
function codeOf(method, argument, value) {
  const name = nameOf(value);
  if (name === undefined) {
    throw makeError('TypeMismatch', `${method}: ${argument} must be device, got ${describe(value)}`);
  }
  refuseNullByte(method, argument, name);
  return rewording(() => native.parseDevice(name), (text) => `${method}: ${text}`);
}

/** Returns the addon's number of an optional device argument, whose default is the default device. */
const codeOrDefault = (method, value) => codeOf(method, 'device', value ?? native.defaultDevice());

/** The public functions. */
const functions = {
  Device,
  device: (...args) => {
    if (args.length === 0) throw makeError('TypeMismatch', 'device: missing argument name');
    return new Device(args[0]);
  },
  devices: () => native.devices().map((name) => new Device(name)),
  rejectedPlugins: () => Object.fromEntries(native.rejectedPlugins()),
  getDefaultDevice: () => native.defaultDevice(),
  setDefaultDevice: (device) => native.setDefaultDevice(codeOf('setDefaultDevice', 'device', device)),
  loadDevice: (path) => {
    if (typeof path !== 'string') {
      throw makeError('TypeMismatch', `loadDevice: path must be string, got ${describe(path)}`);
    }
    refuseNullByte('loadDevice', 'path', path);
    return native.loadDevice(path);
  },
  memoryStats: (device) => ({tensors: native.live(), ...native.memory(codeOrDefault('memoryStats', device))}),
  fallbacks: () => Object.fromEntries(native.fallbacks().map(([name, calls]) => [words[name] ?? name, calls])),
};

module.exports = {HOST, isDevice, nameOf, codeOf, codeOrDefault, functions};
