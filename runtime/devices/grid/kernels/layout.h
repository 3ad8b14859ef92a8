// How operands lie in memory, as the host hands it to kernels. Read by three compilers: the host's, CUDA's, OpenCL's.
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_LAYOUT_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_LAYOUT_H_

// Dimensions that one launch walks; the host loops over those beyond.
#define OF_GRID_RANK 12

// The sizes of an iteration space, the fastest-varying dimension first. A quotient by a size is a product: of `n` and
// `multiplier`, its upper word, plus `n`, shifted (Granlund and Montgomery), for every n below 2^31.
typedef struct of_space {
  uint32_t count;
  int32_t rank;
  uint32_t sizes[OF_GRID_RANK];
  uint32_t multipliers[OF_GRID_RANK];
  uint32_t shifts[OF_GRID_RANK];
} of_space;

// The strides of one operand over a space, in elements.
typedef struct of_strides {
  int64_t dims[OF_GRID_RANK];
} of_strides;

// Where kernels leave the first error of a stream, for the host to find when it waits. Which fields have a meaning
// follows from the code.
typedef struct of_report {
  int32_t claimed;
  int32_t code;  // an of_report_code
  uint64_t op;   // the address of the operator's name on the host
  int64_t index;
  int64_t size;
  int32_t dim;
  int32_t padding;
} of_report;

enum of_report_code { OF_REPORT_DIVISION_BY_ZERO = 1, OF_REPORT_OUT_OF_RANGE = 2 };

#endif  // ONEFLOW_DEVICES_GRID_KERNELS_LAYOUT_H_
