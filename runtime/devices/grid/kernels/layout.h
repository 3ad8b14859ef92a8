// How operands lie in memory, as the host hands it to kernels. Read by three compilers: the host's, CUDA's, OpenCL's.
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_LAYOUT_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_LAYOUT_H_

// Dimensions that one launch walks; the host loops over those beyond.
#define OF_GRID_RANK 12
// Dimensions that tensors have at most: OF_MAX_RANK.
#define OF_SIZES_RANK 32

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

// What elements count for where a work-item's share goes by their bytes and a launch names the dtypes.
#define OF_ANY_BYTES 4

// The most elements that a work-item has at once where it has a block of the first two dimensions of a space: enough to
// be worth its start, few enough to stay in the first-level cache.
#define OF_BLOCK 1024
typedef struct of_block {
  uint32_t width, height;
  uint32_t columns, rows;  // blocks along either dimension
  uint32_t count;          // of all blocks
  uint32_t turns;          // blocks that a work-item takes, one after the other
} of_block;

// The input of a gather over the dimensions of its space, and behind them those that are the same for a whole launch.
typedef struct of_gather {
  int32_t rank;
  int32_t padding;
  int32_t ordinals[OF_GRID_RANK];  // which of the dimensions that the caller named; -1: none of them
  int32_t dims[OF_GRID_RANK];      // what the caller calls it
  int64_t first[OF_GRID_RANK];     // the coordinate that the launch begins at
  int64_t sizes[OF_GRID_RANK];
  int64_t strides[OF_GRID_RANK];
} of_gather;

// A list among the arguments of a gather: a member for each named dimension.
typedef struct of_list {
  int64_t members[OF_GRID_RANK];
} of_list;

// The sizes of a whole tensor, the slowest dimension first.
typedef struct of_sizes {
  int32_t rank;
  int32_t padding;
  int64_t dims[OF_SIZES_RANK];
} of_sizes;

// The dimensions of one role in a contraction (batch, rows, columns or depth), the fastest-varying first: sizes as in a
// space, and the strides of each operand. There is at least one dimension.
#define OF_CONTRACT_RANK 5
typedef struct of_contract_dims {
  uint32_t count;
  int32_t rank;
  uint32_t sizes[OF_CONTRACT_RANK];
  uint32_t multipliers[OF_CONTRACT_RANK];
  uint32_t shifts[OF_CONTRACT_RANK];
  int64_t a[OF_CONTRACT_RANK];
  int64_t b[OF_CONTRACT_RANK];
  int64_t c[OF_CONTRACT_RANK];
} of_contract_dims;

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
