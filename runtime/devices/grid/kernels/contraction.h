// Common parts of the kernels of contractions: offsets of elements, and conversions between elements and values.
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_CONTRACTION_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_CONTRACTION_H_

// Declares `target`: the offset, in elements, of element `index` of a role in one operand.
#define OF_LOCATE(target, role, operand, index)                                             \
  int64_t target = 0;                                                                       \
  {                                                                                         \
    uint32_t of_rest = (index);                                                             \
    int of_d = 0;                                                                           \
    for (; of_d < role.rank - 1; ++of_d) {                                                  \
      const uint32_t whole = of_divide(of_rest, role.multipliers[of_d], role.shifts[of_d]); \
      target += (int64_t)(of_rest - whole * role.sizes[of_d]) * role.operand[of_d];         \
      of_rest = whole;                                                                      \
    }                                                                                       \
    target += (int64_t)of_rest * role.operand[of_d];                                        \
  }

// OF_READ converts an element to a value, OF_WRITE a value to an element. OpenCL programs contain only the conversion
// for S, because PoCL compiles every path through a kernel with barriers, also paths that are never taken.
#if defined(__OPENCL_C_VERSION__)
#if S == OF_BOOL || S == OF_UINT8
#define OF_ELEMENT uint8_t
#elif S == OF_INT8
#define OF_ELEMENT int8_t
#elif S == OF_INT16
#define OF_ELEMENT int16_t
#elif S == OF_UINT16 || S == OF_FLOAT16 || S == OF_BFLOAT16
#define OF_ELEMENT uint16_t
#else
#define OF_ELEMENT T
#endif
#if S == OF_FLOAT16
#define OF_VALUE_OF(element) of_float_of_half(element)
#define OF_ELEMENT_OF(value) of_half_of_float(value)
#elif S == OF_BFLOAT16
#define OF_VALUE_OF(element) of_float_of_bfloat16(element)
#define OF_ELEMENT_OF(value) of_bfloat16_of_float(value)
#elif S == OF_BOOL
#define OF_VALUE_OF(element) (T)((element) != 0)
#define OF_ELEMENT_OF(value) (uint8_t)((value) != 0)
#else
#define OF_VALUE_OF(element) (T)(element)
#define OF_ELEMENT_OF(value) (OF_ELEMENT)(value)
#endif
#define OF_READ(data, i) OF_VALUE_OF(((OF_GLOBAL const OF_ELEMENT*)(data))[i])
#define OF_WRITE(data, i, value) ((OF_GLOBAL OF_ELEMENT*)(data))[i] = OF_ELEMENT_OF(value)
#else
#define OF_READ(data, i) of_load<T>(S, data, i)
#define OF_WRITE(data, i, value) of_store<T>(S, data, i, value)
#endif

// Stores a sum at an offset of C, or adds it if `accumulate`. C holds elements of S, or partial sums of T if `is_sums`.
OF_TEMPLATE(class T, int S)
OF_DEVICE void of_put_sum(OF_GLOBAL void* c, int64_t offset, T sum, int32_t is_sums, int32_t accumulate) {
  if (is_sums) {
    OF_GLOBAL T* sums = (OF_GLOBAL T*)c + offset;
    *sums = accumulate ? *sums + sum : sum;
  } else {
    OF_WRITE(c, offset, accumulate ? (T)(OF_READ(c, offset) + sum) : sum);
  }
}

#endif  // ONEFLOW_DEVICES_GRID_KERNELS_CONTRACTION_H_
