// What communicator.cpp and its headers name of the CUDA runtime, for tests that need neither a GPU nor a toolkit.
#ifndef STAND_IN_CUDA_RUNTIME_API_H_
#define STAND_IN_CUDA_RUNTIME_API_H_

using cudaStream_t = struct CUstream_st*;
using cudaError_t = int;
inline int cudaSetDevice(int) { return 0; }

#endif  // STAND_IN_CUDA_RUNTIME_API_H_
