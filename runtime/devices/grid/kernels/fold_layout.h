// The distribution of folds over work-items: of a reduction by results and the elements of each result, of a scan by
// lines and chunks. Read by three compilers: the host's, CUDA's, OpenCL's.
//
// A work-item has several lanes, each of which is an element that it processes independently of the others. Work-items
// take elements of the dimension with the smallest stride in tiles. A tile has one element for each lane of each item
// that shares it. An item that does not share its tile has consecutive elements in its lanes, which one access may
// load. Otherwise neighbouring items have neighbouring elements, and the lanes of an item are as many elements apart as
// items share the tile.
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_FOLD_LAYOUT_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_FOLD_LAYOUT_H_

// Work-items of a group, where they share memory.
#define OF_FOLD_ITEMS 256
// Tiles that an item loads before it folds them, so that several loads are in flight.
#define OF_FOLD_STEPS 4
// Rounds of loads after which an item begins another state, so that rounding errors are those of blockwise sums.
#define OF_FOLD_ROUNDS 16
// Lanes of an item in OpenCL. On CPU devices, where a group has one item, a loop over the lanes is vectorised.
#define OF_LOCKSTEP_LANES 4
#define OF_PROCESSOR_LINE_LANES 64
#define OF_PROCESSOR_ROW_LANES 256

// A group of dimensions, the first of which is divided into tiles.
typedef struct of_tiles {
  of_space space;       // the tiles
  uint32_t size;        // elements of the first dimension
  uint32_t elements;    // elements of a tile
  uint32_t item_shift;  // 1 << item_shift items share a tile
  uint32_t items;       // items of a group that are spread over these dimensions; one or several tiles at a time
  uint32_t shift;       // 1 << shift == items
} of_tiles;

// A reduction, or a part of one. Several groups may share the elements of a result; the second group index counts these
// splits.
typedef struct of_fold {
  of_tiles kept;                            // the results
  of_tiles folded;                          // the elements of each result
  of_strides kept_strides, folded_strides;  // strides of the input
  of_strides positions;                     // strides of the position of an element among all folded elements
  int64_t first_position;                   // the position of the launch's first element
  int64_t count;                            // the number of all elements of a result
  uint32_t turns;                           // tiles of results that a group takes in sequence
  uint32_t split_length;                    // tiles of folded elements in a split
  uint32_t first_split;                     // the index of the launch's first split among those of all launches
  uint32_t results;                         // the number of results of this launch
  int32_t is_packed;                        // whether one access may load the lanes of an item
  int32_t padding;
} of_fold;

// The merge of the states of several splits.
typedef struct of_merge {
  of_tiles kept;  // the results, in tiles of one element
  int64_t count;  // the number of all elements of a result
  uint32_t splits;
  uint32_t turns;        // results that an item takes in sequence
  uint32_t kept_shift;   // 1 << kept_shift items of a group have a result each
  uint32_t split_items;  // items that share the splits of a result
  uint32_t padding;
} of_merge;

// A scan along lines, which are divided into chunks; the second group index counts chunks. Where there are several, a
// first launch folds each chunk to a state, and a second one starts each chunk from the states of the chunks before it.
typedef struct of_scan {
  of_tiles kept;                     // the lines
  of_strides kept_strides;           // strides of the input
  int64_t size, stride;              // of a line
  int64_t chunk;                     // elements of a chunk
  uint32_t lines;                    // the number of lines of this launch
  uint32_t turns;                    // tiles of lines that a group takes in sequence
  uint32_t items, shift;             // 1 << shift == items share a line
  int32_t only_folds;                // whether this is the first launch of two
  int32_t is_packed, packs_results;  // whether one access may load, or store, the lanes of an item
  int32_t padding;
} of_scan;

#endif  // ONEFLOW_DEVICES_GRID_KERNELS_FOLD_LAYOUT_H_
