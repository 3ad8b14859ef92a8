// The dialect in which kernels are written for OpenCL C and CUDA alike. The compute type T and the storage S are macros
// of the program in OpenCL C, and template parameters in CUDA. The other differences are hidden by the macros below.
//
// T is float, double, int32_t, int64_t or bool; in casts and contractions also uint32_t or uint64_t. S is the of_dtype
// in which operands of type T are stored, or OF_ANY where each launch passes the dtypes of its operands.
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_DIALECT_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_DIALECT_H_

#if defined(__OPENCL_C_VERSION__)

#pragma OPENCL FP_CONTRACT OFF
#if defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define OF_HAS_DOUBLE 1
#endif

typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;

#define OF_KERNEL(...) __kernel void
#define OF_TEMPLATE(...)
#define OF_DEVICE static inline
#define OF_GLOBAL __global
#define OF_LOCAL __local
#define OF_ARGUMENT const                // a struct that is a kernel parameter
#define OF_SHARED __local                // an array that the work-items of a group share
#define OF_OF(...)                       // template arguments
#define OF_IS_FLOATING(type) T_FLOATING  // used with T only
#define OF_IS_UNSIGNED(type) T_UNSIGNED
#define OF_IS_BOOL(type) T_BOOL

#define OF_UNROLL

#define OF_GROUP ((uint32_t)get_group_id(0))
#define OF_GROUPS ((uint32_t)get_num_groups(0))
#define OF_GROUP_Y ((uint32_t)get_group_id(1))
#define OF_GROUPS_Y ((uint32_t)get_num_groups(1))
#define OF_ITEM ((uint32_t)get_local_id(0))
#define OF_ITEMS ((uint32_t)get_local_size(0))
#define OF_PACKET ulong2  // 16 bytes
#define OF_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define OF_CLAIM(flag) (atomic_cmpxchg((volatile __global int*)(flag), 0, 1) == 0)
#define OF_HIGH_WORD(a, b) mul_hi((uint32_t)(a), (uint32_t)(b))
#define OF_HIGH_LONG(a, b) mul_hi((uint64_t)(a), (uint64_t)(b))
#if T_FLOATING
#define OF_MULTIPLY_ADD(a, b, c) fma(a, b, c)
#else
#define OF_MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif
#define OF_BITS_OF_FLOAT(x) as_uint(x)
#define OF_BITS_OF_DOUBLE(x) as_ulong(x)
#define OF_DOUBLE_OF_BITS(x) as_double(x)
#define OF_FLOAT_OF_BITS(x) as_float(x)
static inline float of_float_of_half(uint16_t bits) {
  const uint16_t word = bits;
  return vload_half(0, (const half*)&word);
}
#if OF_IS_PROCESSOR
// Rounds by integer arithmetic, which compilers for CPUs vectorise. Below the least normal half, adding 1/2 rounds the
// bits; otherwise the exponent is rebiased and the last bits are rounded to even. NaN and overflow are separate cases.
static inline uint16_t of_half_of_float(float x) {
  const uint32_t sign = as_uint(x) >> 16 & 0x8000, bits = as_uint(x) & 0x7fffffff;
  const uint32_t low = as_uint(as_float(bits) + 0.5f) - as_uint(0.5f);
  const uint32_t rounded = bits + 0xfff + (bits >> 13 & 1) - (112u << 23);
  const uint32_t finite = bits < 113u << 23 ? low : rounded >> 13;
  const uint32_t large = bits > 0x7f800000 ? 0x7e00 : 0x7c00;
  return (uint16_t)(sign | (bits >= 143u << 23 ? large : finite));
}
#else
static inline uint16_t of_half_of_float(float x) {
  uint16_t word;
  vstore_half_rte(x, 0, (half*)&word);
  return word;
}
#endif

// The type by which memory and kernel parameters represent a value: a byte for bool. T_STORED is defined with T.
#define OF_STORED(type) OF_STORED_##type
#define OF_STORED_T T_STORED
#define OF_STORED_bool uint8_t
#define OF_STORED_int64_t int64_t

// The host defines macros for the numbers of dtypes, and OF_IS_PROCESSOR: 1 where each work-item runs loops of its own
// (CPU devices), 0 where neighbouring work-items run in lockstep.

#else  // CUDA

#include <oneflow/types.h>

#include <cstdint>

#define OF_ANY OF_DTYPE_NONE
#define OF_IS_PROCESSOR 0
#define OF_HAS_DOUBLE 1
#define OF_KERNEL(...)   \
  template <__VA_ARGS__> \
  __global__ void __launch_bounds__(256)
#define OF_TEMPLATE(...) template <__VA_ARGS__>
#define OF_DEVICE __device__ __forceinline__
#define OF_GLOBAL
#define OF_LOCAL
#define OF_ARGUMENT const __grid_constant__  // read in place, not copied by each work-item
#define OF_SHARED __shared__
#define OF_OF(...) <__VA_ARGS__>
#define OF_IS_FLOATING(type) (type(0.5) != type(0) && !OF_IS_BOOL(type))
#define OF_IS_UNSIGNED(type) (type(-1) > type(0) && !OF_IS_BOOL(type))
#define OF_IS_BOOL(type) (type(2) == type(1))

#define OF_UNROLL _Pragma("unroll")

#define OF_GROUP blockIdx.x
#define OF_GROUPS gridDim.x
#define OF_GROUP_Y blockIdx.y
#define OF_GROUPS_Y gridDim.y
#define OF_ITEM threadIdx.x
#define OF_ITEMS blockDim.x
#define OF_PACKET ulonglong2
#define OF_BARRIER() __syncthreads()
#define OF_CLAIM(flag) (atomicCAS(flag, 0, 1) == 0)
#define OF_HIGH_WORD(a, b) __umulhi(a, b)
#define OF_HIGH_LONG(a, b) __umul64hi(a, b)
OF_DEVICE float of_multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
OF_DEVICE double of_multiply_add(double a, double b, double c) { return __fma_rn(a, b, c); }
OF_DEVICE uint32_t of_multiply_add(uint32_t a, uint32_t b, uint32_t c) { return a * b + c; }
OF_DEVICE uint64_t of_multiply_add(uint64_t a, uint64_t b, uint64_t c) { return a * b + c; }
#define OF_MULTIPLY_ADD(a, b, c) of_multiply_add(a, b, c)
#define OF_BITS_OF_FLOAT(x) __float_as_uint(x)
#define OF_BITS_OF_DOUBLE(x) (uint64_t) __double_as_longlong(x)
#define OF_DOUBLE_OF_BITS(x) __longlong_as_double((int64_t)(x))
#define OF_FLOAT_OF_BITS(x) __uint_as_float(x)
OF_DEVICE float of_float_of_half(uint16_t bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
OF_DEVICE uint16_t of_half_of_float(float x) {
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

// The type by which memory represents a value: a byte for bool.
template <class T>
struct of_stored {
  using Type = T;
};
template <>
struct of_stored<bool> {
  using Type = uint8_t;
};
#define OF_STORED(type) typename of_stored<type>::Type

#endif

// The dtype for which the kernel was compiled, or else the one that the launch passes.
#define OF_DTYPE(storage, dtype) ((storage) == OF_ANY ? (dtype) : (storage))
#define OF_LAST_INDEX ((int64_t)0x7fffffffffffffff)

#endif  // ONEFLOW_DEVICES_GRID_KERNELS_DIALECT_H_
