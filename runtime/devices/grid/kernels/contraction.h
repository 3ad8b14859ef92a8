// What the kernels of contractions share: where elements are, and what they hold.
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_CONTRACTION_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_CONTRACTION_H_

// Where element `index` of a role is in one operand, in elements: `target`.
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

// Elements of A and B as values, and values as elements of C. PoCL walks every path through a kernel with barriers,
// also those that are never taken: in OpenCL only the one for S is there.
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

// Stores a sum into C, which has elements of S, or of T where it is that of partial sums; adds to what is there.
OF_TEMPLATE(class T, int S)
OF_DEVICE void of_put_sum(OF_GLOBAL void* c, int64_t place, T sum, int32_t is_sums, int32_t accumulate) {
  if (is_sums) {
    OF_GLOBAL T* sums = (OF_GLOBAL T*)c + place;
    *sums = accumulate ? *sums + sum : sum;
  } else {
    OF_WRITE(c, place, accumulate ? (T)(OF_READ(c, place) + sum) : sum);
  }
}

#endif  // ONEFLOW_DEVICES_GRID_KERNELS_CONTRACTION_H_
