'use strict';

/** Gradients: modes, backward passes, gradients of functions, hooks and functions with gradients of their own. */

const gradMode = require('./gradMode');
const {defaultGenerator} = require('../../generated/classes');
const {
  argumentNumbers, checkFunction, inputList, isList, listOf, optionsOf, positionsOf, returnedList, tensorList,
} = require('./gradArguments');
const native = require('../addon/native');
const {makeError} = require('../errors');
const {
  Tensor, describe, isPlainObject, isTensor, keep, liveSlot, slotOf, wrapSlot,
} = require('../tensor/tensor');
const {functionsByName} = require('../calls/operators');

const flow = functionsByName();

// ------------------------------------------------------------------------------------------------ modes

/** Calls a function in a mode. */
function inMode(method, recording, fn) {
  checkFunction(method, 'fn', fn);
  return gradMode.run(recording, fn);
}

const noGrad = (fn) => inMode('noGrad', false, fn);
const enableGrad = (fn) => inMode('enableGrad', true, fn);
const inferenceMode = (fn) => inMode('inferenceMode', false, fn);

/** Switches recording on or off. */
function setGradEnabled(enabled) {
  if (typeof enabled !== 'boolean') {
    throw makeError('TypeMismatch', `setGradEnabled: enabled must be boolean, got ${describe(enabled)}`);
  }
  gradMode.setEnabled(enabled);
}

// ------------------------------------------------------------------------------------------------ backward passes

const slots = (method, tensors) => tensors.map((each) => (each ? liveSlot(each, method) : 0));

/** Returns the gradients of outputs: those given, or one null per output. */
function gradsOf(method, name, grads, outputs) {
  const found = grads === undefined || grads === null
    ? outputs.map(() => null)
    : tensorList(method, name, grads, true);
  if (found.length !== outputs.length) {
    const counts = `for each of ${outputs.length} tensors, got ${found.length}`;
    throw makeError('InvalidArgument', `${method}: ${name} must have a gradient ${counts}`);
  }
  return found;
}

/**
 * Runs a backward pass. Returns the gradients of the inputs, null where there is none. Outputs may be constants where
 * `method` differentiates a function.
 */
function pass(method, outputs, grads, inputs, {retainGraph, createGraph = false, ofFunction = false} = {}) {
  gradMode.enter();
  const wanted = inputs && slots(method, inputs);
  const retains = retainGraph ?? createGraph;
  const [roots, given] = [slots(method, outputs), slots(method, grads)];
  const found = native.runBackward(
    roots, given, wanted, retains, createGraph, ofFunction ? method : null, outputs, grads, inputs);
  return found?.map((slot) => (slot === 0 ? null : wrapSlot(slot)));
}

function backward(tensors, options) {
  const {gradTensors, ...others} = optionsOf('backward', options, ['gradTensors', 'retainGraph', 'createGraph']);
  const outputs = tensorList('backward', 'tensors', tensors);
  pass('backward', outputs, gradsOf('backward', 'gradTensors', gradTensors, outputs), null, others);
}

function grad(outputs, inputs, options) {
  if (typeof outputs === 'function') {
    const both = withGradient('grad', outputs, inputs);
    return (...args) => both(...args)[1];
  }
  const {gradOutputs, allowUnused, ...others} =
    optionsOf('grad', options, ['gradOutputs', 'allowUnused', 'retainGraph', 'createGraph']);
  const tensors = tensorList('grad', 'outputs', outputs);
  const wanted = inputList('grad', inputs);
  const found = pass('grad', tensors, gradsOf('grad', 'gradOutputs', gradOutputs, tensors), wanted, others);
  const unused = found.indexOf(null);
  if (unused >= 0 && !allowUnused) {
    throw makeError(
      'InvalidArgument', `grad: outputs do not depend on input ${unused}; allowUnused: true gives null for it`);
  }
  return found;
}

// ------------------------------------------------------------------------------------------------ derivatives

/** Returns a tensor over the same memory with a gradient of its own; with `keepsHistory`, it depends on `value`. */
function variableOf(method, value, keepsHistory) {
  if (!isTensor(value)) {
    throw makeError('TypeMismatch', `${method}: a gradient needs a Tensor argument, got ${describe(value)}`);
  }
  return wrapSlot(native.independentVariable(liveSlot(value, method), keepsHistory, value));
}

/** Returns whether outputs depend on leaves that are not among the inputs. */
function dependsOnOthers(method, outputs, inputs) {
  return native.dependsOnOthers(slots(method, outputs), slots(method, inputs), outputs, inputs);
}

/** Returns the value of a function. Throws TypeMismatch unless it is a tensor. */
function valueOf(method, value) {
  if (isTensor(value)) return value;
  throw makeError('TypeMismatch', `${method}: fn must return Tensor, got ${describe(value)}`);
}

/** Returns the gradients of what a function returned, zeros where it does not depend on an input. */
function gradientsOf(method, outputs, grads, inputs, options) {
  const found = pass(method, outputs, grads, inputs, {...options, ofFunction: true});
  return found.map((each, i) => each ?? flow.zerosLike(inputs[i]));
}

const valueAndGrad = (fn, options) => withGradient('valueAndGrad', fn, options);

/** Returns a function that returns the value of `fn`, and its gradient for the arguments that an option names. */
function withGradient(method, fn, options) {
  checkFunction(method, 'fn', fn);
  const {argnums = 0} = optionsOf(method, options, ['argnums']);
  const numbers = argumentNumbers(method, argnums);
  return (...args) => {
    const positions = positionsOf(method, numbers, args.length);
    const isRecording = gradMode.isEnabled();
    return enableGrad(() => {
      const given = [...args];
      const variables = positions.map((position) => variableOf(method, args[position], isRecording));
      positions.forEach((position, i) => {
        given[position] = variables[i];
      });
      const value = valueOf(method, fn(...given));
      const records = isRecording && dependsOnOthers(method, [value], variables);
      const found = gradientsOf(method, [value], [null], variables, {createGraph: records});
      return [records ? value : value.detach(), isList(argnums) ? found : found[0]];
    });
  };
}

function vjp(fn, ...inputs) {
  checkFunction('vjp', 'fn', fn);
  const isRecording = gradMode.isEnabled();
  const variables = inputs.map((each) => variableOf('vjp', each, isRecording));
  const value = enableGrad(() => fn(...variables));
  const outputs = returnedList('vjp', 'fn', value);
  const records = isRecording && dependsOnOthers('vjp', outputs, variables);
  const pull = (gradient) => {
    const grads = gradsOf('vjp', 'gradient', gradient, outputs);
    const createGraph = gradMode.isEnabled() && (records || grads.some((each) => each?.requiresGrad));
    const found = gradientsOf('vjp', outputs, grads, variables, {retainGraph: true, createGraph});
    return found.length === 1 ? found[0] : found;
  };
  const results = records ? outputs : outputs.map((each) => each.detach());
  return [isList(value) ? results : results[0], pull];
}

function jacobian(fn, inputs, options) {
  checkFunction('jacobian', 'fn', fn);
  const {createGraph = false} = optionsOf('jacobian', options, ['createGraph']);
  const given = inputList('jacobian', inputs);
  const variables = given.map((each) => variableOf('jacobian', each, createGraph));
  return enableGrad(() => {
    const value = valueOf('jacobian', fn(...variables));
    const rows = variables.map(() => []);
    if (value.requiresGrad) {
      const flat = flow.reshape(value, [-1]);
      for (let i = 0; i < flat.shape[0]; i++) {
        const found = gradientsOf('jacobian', [flat.at(i)], [null], variables, {retainGraph: true, createGraph});
        found.forEach((each, k) => rows[k].push(each));
      }
    }
    const results = rows.map((row, k) => {
      const shape = [...value.shape, ...variables[k].shape];
      if (row.length > 0) return flow.reshape(flow.stack(row), shape);
      return flow.zeros(shape, {dtype: variables[k].dtype, device: variables[k].device});
    });
    return isTensor(inputs) ? results[0] : results;
  });
}

function hessian(fn, inputs, options) {
  checkFunction('hessian', 'fn', fn);
  const given = inputList('hessian', inputs);
  const first = (position) => (...args) => {
    const value = valueOf('hessian', fn(...args));
    if (value.size !== 1) {
      throw makeError('ShapeError', `hessian: fn must return one element, got shape [${value.shape.join(', ')}]`);
    }
    return gradientsOf('hessian', [value], [null], [args[position]], {createGraph: true})[0];
  };
  const rows = given.map((_, i) => jacobian(first(i), given, options));
  return isTensor(inputs) ? rows[0][0] : rows;
}

// ------------------------------------------------------------------------------------------------ hooks and functions

/** What forward() keeps for backward(). */
class Context {
  #saved = [];

  /** Keeps tensors, which must not be changed in place before backward() reads them. */
  saveForBackward(...tensors) {
    this.#saved = tensors.map((tensor) => {
      if (tensor === null || tensor === undefined) return {tensor: null};
      if (!isTensor(tensor)) {
        throw makeError('TypeMismatch', `saveForBackward: tensors must be Tensor or null, got ${describe(tensor)}`);
      }
      return {tensor: keep(tensor), version: tensor.version};
    });
  }

  /** The kept tensors. */
  get savedTensors() {
    for (const {tensor, version} of this.#saved) {
      if (tensor !== null && tensor.version !== version) {
        throw makeError('InvalidArgument',
          `savedTensors: a tensor of shape [${tensor.shape.join(', ')}] was changed in place: it is at version ` +
          `${tensor.version}, but was saved at version ${version}`);
      }
    }
    return this.#saved.map(({tensor}) => tensor);
  }
}

/** A function with a gradient of its own: subclasses define the static methods forward() and backward(). */
class DifferentiableFunction {
  static forward() {
    throw makeError('Unsupported', `${this.name}: a Function must define forward`);
  }

  static backward() {
    throw makeError('Unsupported', `${this.name}: a Function must define backward`);
  }

  /** Calls forward(), and records the call. */
  static apply(...args) {
    const context = new Context();
    const positions = args.flatMap((each, i) => (isTensor(each) ? [i] : []));
    context.needsInputGrad = args.map((each) => isTensor(each) && each.requiresGrad);
    const results = noGrad(() => this.forward(context, ...args));
    // A tensor that was there before, such as an argument, becomes another one, whose history is this call.
    const outputs = returnedList(this.name, 'forward', results).map((each) => (
      args.includes(each) || each.requiresGrad ? each.detach() : each));
    native.recordFunction(this.name, positions.map((i) => slotOf(args[i])), outputs.map(slotOf), (gradSlots) => {
      const found = this.backward(context, ...gradSlots.map((slot) => wrapSlot(slot)));
      const gradients = listOf(found);
      if (gradients.length !== args.length) {
        throw makeError('InvalidArgument', `${this.name}: backward must return a gradient or null for each of ` +
          `${args.length} arguments, got ${gradients.length}`);
      }
      return positions.map((i) => {
        const gradient = gradients[i] ?? null;
        if (gradient === null) return 0;
        if (!isTensor(gradient)) {
          const what = describe(gradient);
          throw makeError('TypeMismatch', `${this.name}: backward must return Tensor or null, got ${what}`);
        }
        return liveSlot(gradient, this.name);
      });
    }, args, outputs);
    return isList(results) ? outputs : outputs[0];
  }
}

/** Returns what fn() returns if it draws from a state of the default generator on, which keeps its own state. */
function withRandomState(state, fn) {
  const before = defaultGenerator.getState();
  defaultGenerator.setState(state);
  try {
    return fn();
  } finally {
    defaultGenerator.setState(before);
  }
}

/**
 * Returns fn(...args), of which nothing is kept for the backward pass: that calls fn again, which draws the same
 * numbers from the default generator.
 */
function checkpoint(fn, ...args) {
  checkFunction('checkpoint', 'fn', fn);
  let randomState;
  let count;
  class Checkpoint extends DifferentiableFunction {
    static name = 'checkpoint';

    static forward() {
      randomState = defaultGenerator.getState();
      const results = fn(...args);
      count = returnedList('checkpoint', 'fn', results).length;
      return results;
    }

    static backward(_, ...grads) {
      const isWanted = (each) => isTensor(each) && each.requiresGrad;
      const wanted = args.map(isWanted);
      const runAgain = (variableFor) => {
        const inputs = args.map((each, i) => (wanted[i] ? variableFor(each) : each));
        const results = withRandomState(randomState, () => enableGrad(() => fn(...inputs)));
        const outputs = returnedList('checkpoint', 'fn', results);
        if (outputs.length !== count) {
          const counts = `${count} tensors, and ${outputs.length} when it was called again`;
          throw makeError('InvalidArgument', `checkpoint: fn returned ${counts}`);
        }
        const isKept = outputs.map((output) => output.requiresGrad);
        return {inputs, outputs: outputs.filter((each, i) => isKept[i]), given: grads.filter((each, i) => isKept[i])};
      };
      const {inputs: leaves, outputs, given} = runAgain((each) => each.detach().setRequiresGrad());
      // The pass also adds to leaves that the function refers to without taking them as arguments.
      backward(outputs, {gradTensors: given});
      if (!gradMode.isEnabled()) return args.map((each, i) => (wanted[i] ? leaves[i].grad : null));
      // The pass is recorded: what it finds depends on the arguments.
      const recorded = runAgain((each) => variableOf('checkpoint', each, true));
      const variables = recorded.inputs.filter((each, i) => wanted[i]);
      const found = grad(
        recorded.outputs, variables, {gradOutputs: recorded.given, createGraph: true, allowUnused: true});
      return args.map((each, i) => (wanted[i] ? found.shift() : null));
    }
  }
  return Checkpoint.apply(...args);
}

/** Returns fn(), during which backward passes fail at the call whose gradient has a NaN; also of an async function. */
function detectAnomaly(fn) {
  checkFunction('detectAnomaly', 'fn', fn);
  const before = native.getOption('detect_anomaly');
  const restore = () => native.setOption('detect_anomaly', before);
  native.setOption('detect_anomaly', 1);
  let result;
  try {
    result = fn();
  } catch (error) {
    restore();
    throw error;
  }
  if (gradMode.isThenable(result)) return Promise.resolve(result).finally(restore);
  restore();
  return result;
}

// ------------------------------------------------------------------------------------------------ the tensor class

/** Returns the gradients and the options of a pass, for the arguments (gradient, options) or (options). */
function backwardArguments(method, tensor, [gradient, options]) {
  liveSlot(tensor, method);
  const isOptions = options === undefined && gradient !== undefined && isPlainObject(gradient);
  const {gradient: named, ...others} =
    optionsOf(method, isOptions ? gradient : options, ['gradient', 'retainGraph', 'createGraph']);
  return [gradsOf(method, 'gradient', isOptions ? named : gradient, [tensor]), others];
}

const accessors = {
  requiresGrad: {
    get() {
      return native.requiresGrad(liveSlot(this, 'requiresGrad'), this);
    },
    set(value) {
      this.setRequiresGrad(value);
    },
  },
  grad: {
    get() {
      const slot = native.grad(liveSlot(this, 'grad'), this);
      return slot === 0 ? null : wrapSlot(slot);
    },
    set(value) {
      if (value !== null && !isTensor(value)) {
        throw makeError('TypeMismatch', `grad: must be Tensor or null, got ${describe(value)}`);
      }
      native.setGrad(liveSlot(this, 'grad'), value === null ? 0 : liveSlot(value, 'grad'), this, value);
    },
  },
  isLeaf: {
    get() {
      return native.isLeaf(liveSlot(this, 'isLeaf'), this);
    },
  },
  gradFn: {
    get() {
      return native.gradFn(liveSlot(this, 'gradFn'), this) || null;
    },
  },
  retainsGrad: {
    get() {
      return native.retainsGrad(liveSlot(this, 'retainsGrad'), this);
    },
  },
};

const methods = {
  setRequiresGrad(value = true) {
    if (typeof value !== 'boolean') {
      throw makeError('TypeMismatch', `setRequiresGrad: value must be boolean, got ${describe(value)}`);
    }
    native.setRequiresGrad(liveSlot(this, 'setRequiresGrad'), value, this);
    return this;
  },

  retainGrad() {
    native.retainGrad(liveSlot(this, 'retainGrad'), this);
    return this;
  },

  detach() {
    return wrapSlot(native.detach(liveSlot(this, 'detach'), this));
  },

  backward(...args) {
    const [grads, options] = backwardArguments('backward', this, args);
    pass('backward', [this], grads, null, options);
  },

  async backwardAsync(...args) {
    const [grads, {retainGraph, createGraph = false}] = backwardArguments('backwardAsync', this, args);
    const [root] = slots('backwardAsync', [this]);
    const [gradient] = slots('backwardAsync', grads);
    await native.backwardAsync(root, gradient, retainGraph ?? createGraph, createGraph, this, grads);
  },
};

for (const [name, accessor] of Object.entries(accessors)) {
  Object.defineProperty(Tensor.prototype, name, {...accessor, configurable: true});
}
for (const [name, value] of Object.entries(methods)) {
  Object.defineProperty(Tensor.prototype, name, {value, writable: true, configurable: true});
}

module.exports = {
  noGrad,
  enableGrad,
  inferenceMode,
  isGradEnabled: () => gradMode.isEnabled(),
  setGradEnabled,
  grad,
  valueAndGrad,
  vjp,
  jacobian,
  hessian,
  checkpoint,
  autograd: {backward, detectAnomaly, Function: DifferentiableFunction},
};
