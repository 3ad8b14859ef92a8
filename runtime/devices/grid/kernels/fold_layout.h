// How folds are cut into work: a reduction into results and the elements of each, a scan into lines and chunks. Read by
// three compilers: the host's, CUDA's, OpenCL's.
//
// Work-items take elements of the nearest dimension in tiles. A tile has one element for each lane of each item that
// shares it: lane j of item x has element x * item_step + j * lane_step. Where an item is alone with its tile, its
// lanes are neighbours, which one access may load; otherwise neighbouring items have neighbouring elements.
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_FOLD_LAYOUT_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_FOLD_LAYOUT_H_

// Work-items of a group, where they share memory.
#define OF_FOLD_ITEMS 256
// Tiles that an item loads before it folds them, so that several accesses are under way at a time.
#define OF_FOLD_STEPS 4
// Rounds of loads after which an item begins another state, so that errors grow like those of sums in blocks.
#define OF_FOLD_ROUNDS 16
// Lanes of an item in OpenCL. On processors, where an item is a group, they are the loop that compilers make vectors
// of.
#define OF_LOCKSTEP_LANES 4
#define OF_PROCESSOR_LINE_LANES 64
#define OF_PROCESSOR_ROW_LANES 256

// Some dimensions, one of which has tiles: the first.
typedef struct of_tiles {
  of_space space;       // of tiles
  uint32_t size;        // elements of the first dimension
  uint32_t elements;    // of a tile
  uint32_t item_shift;  // 1 << item_shift items share a tile
  uint32_t items;       // of a group that work on these dimensions: those of a tile, and those of several
  uint32_t shift;       // 1 << shift == items
} of_tiles;

typedef struct of_fold {
  of_tiles kept;                            // the results
  of_tiles folded;                          // the elements of each
  of_strides kept_strides, folded_strides;  // of the input
  of_strides positions;                     // of elements within all that is folded
  int64_t first_position;
  int64_t count;          // of all elements that go into a result
  uint32_t turns;         // that a group takes, one after the other
  uint32_t split_length;  // tiles that one of several groups folds, which the second index of a group counts
  uint32_t first_split;   // among the states of all launches
  uint32_t results;       // of this launch
  int32_t is_packed;      // whether the lanes of an item may be loaded at once
  int32_t padding;
} of_fold;

// How states of splits are merged.
typedef struct of_merge {
  of_tiles kept;  // of one element each
  int64_t count;
  uint32_t splits;
  uint32_t turns;
  uint32_t kept_shift;   // 1 << kept_shift items of a group have a result each
  uint32_t split_items;  // that share the splits of a result
  uint32_t padding;
} of_merge;

// A scan along lines, which are cut into chunks. A first launch folds each chunk to a state; in a second one each chunk
// begins with what the states before it give.
typedef struct of_scan {
  of_tiles kept;                     // the lines
  of_strides kept_strides;           // of the input
  int64_t size, stride;              // of a line
  int64_t chunk;                     // elements, which the second index of a group counts
  uint32_t lines;                    // of this launch
  uint32_t turns;                    // that a group takes
  uint32_t items, shift;             // 1 << shift == items share a line
  int32_t only_folds;                // whether this is the first launch of two
  int32_t is_packed, packs_results;  // whether the lanes of an item may be loaded, or stored, at once
  int32_t padding;
} of_scan;

#endif  // ONEFLOW_DEVICES_GRID_KERNELS_FOLD_LAYOUT_H_
