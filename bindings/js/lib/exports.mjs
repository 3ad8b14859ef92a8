/** Named exports of the hand-written part, for `import {tensor} from 'oneflow-js'`. */

import flow from './index.js';

export const {
  OneFlowError, InvalidArgument, TypeMismatch, ShapeError, DTypeError, IndexOutOfRange, DeviceError, OutOfMemory,
  Unsupported, CommunicationError, InternalError, FileError,
  Tensor, tensor, float, allclose, equal, isTensor, tidy, keep, einsumPath, einsumExpression, setPrintOptions,
  pi, e, inf, nan, newaxis,
  bool, uint8, int8, int16, int32, int64, uint16, uint32, uint64, float16, bfloat16, float32, float64,
  complex64, complex128,
  loadLibrary, ops, version, include, library, getDefaultDtype, setDefaultDtype, promoteTypes,
  Device, device, devices, rejectedPlugins, getDefaultDevice, setDefaultDevice, loadDevice,
  memoryStats, fallbacks, getOption, setOption, getNumThreads, setNumThreads,
  noGrad, enableGrad, inferenceMode, isGradEnabled, setGradEnabled,
  grad, valueAndGrad, vjp, jacobian, hessian, checkpoint, gradcheck, autograd,
} = flow;
