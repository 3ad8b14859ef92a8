// The layouts of operands, as the host passes them to kernels. Read by three compilers: the host's, CUDA's, OpenCL's.
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_LAYOUT_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_LAYOUT_H_

// The most dimensions that one launch walks; the host loops over the others.
#define OF_GRID_RANK 12
// The most dimensions of a tensor: OF_MAX_RANK.
#define OF_SIZES_RANK 32

// The sizes of an iteration space, the fastest-varying dimension first. Division by a size is a multiplication:
// n / size == (high_word(n * multiplier) + n) >> shift for every n below 2^31 (Granlund and Montgomery).
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

// The bytes of an element that determine a work-item's share in kernels for any storage.
#define OF_ANY_BYTES 4

// The most elements of a block of the first two dimensions of a space, which a work-item loads at once: enough to be
// worth starting the work-item, few enough to stay in the first-level cache.
#define OF_BLOCK 1024
typedef struct of_block {
  uint32_t width, height;  // of a block
  uint32_t columns, rows;  // the number of blocks along each of the two dimensions
  uint32_t count;          // the number of all blocks
  uint32_t turns;          // the number of blocks that a work-item takes in sequence
} of_block;

// The input of a gather over the dimensions of the launch's space, followed by those that are constant in a launch.
typedef struct of_gather {
  int32_t rank;
  int32_t padding;
  int32_t ordinals[OF_GRID_RANK];  // the index among the dimensions that the caller named, or -1
  int32_t dims[OF_GRID_RANK];      // the number of the dimension in the caller's tensor, for error texts
  int64_t first[OF_GRID_RANK];     // the coordinate at which the launch begins
  int64_t sizes[OF_GRID_RANK];
  int64_t strides[OF_GRID_RANK];
} of_gather;

// A list argument of a gather, with an item for each named dimension.
typedef struct of_list {
  int64_t members[OF_GRID_RANK];
} of_list;

// The sizes of a whole tensor, the slowest-varying dimension first.
typedef struct of_sizes {
  int32_t rank;
  int32_t padding;
  int64_t dims[OF_SIZES_RANK];
} of_sizes;

// The dimensions of one role in a contraction (batch, rows, columns or depth), the fastest-varying first: sizes as in
// of_space, and the strides of each operand. There is at least one dimension.
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

// The first error of a stream, which kernels record and the host reads when it synchronises. `code` determines which of
// the other fields are set.
typedef struct of_report {
  int32_t claimed;  // whether a kernel has recorded an error
  int32_t code;     // an of_report_code
  uint64_t op;      // the address of the operator's name on the host
  int64_t index;
  int64_t size;
  int32_t dim;
  int32_t padding;
} of_report;

enum of_report_code { OF_REPORT_DIVISION_BY_ZERO = 1, OF_REPORT_OUT_OF_RANGE = 2 };

#endif  // ONEFLOW_DEVICES_GRID_KERNELS_LAYOUT_H_
