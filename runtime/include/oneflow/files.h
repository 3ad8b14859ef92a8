/* Saves tensors to files, and loads them: safetensors, and NumPy's .npy and .npz.
 *
 *     of_file_save("model.safetensors", nodes, count, NULL);
 *
 *     of_file file;
 *     of_file_open("model.safetensors", &file);
 *     of_file_find(file, "layer.weight", &position);
 *     of_file_read(file, &position, 1, &options, &tensor);
 *     of_file_release(file);                                 the tensor stays valid
 *
 * The format follows from the end of the path. A file is malformed (OF_INVALID_ARGUMENT), or the system cannot read or
 * write it (OF_FILE_ERROR); an element type that does not exist on both sides is an OF_DTYPE_ERROR.
 */
#ifndef ONEFLOW_FILES_H_
#define ONEFLOW_FILES_H_

#include <oneflow/oneflow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- nested data */

/* How deep dictionaries and lists may be nested. */
#define OF_MAX_NESTING 64

/* The kind of a node. */
typedef enum of_file_node_kind { OF_NODE_TENSOR = 0, OF_NODE_DICTIONARY = 1, OF_NODE_LIST = 2 } of_file_node_kind;

/* A node of nested data, which is an array of nodes: each is followed by its items, with all below them. The data
 * {"a": x, "b": [y]} is DICTIONARY(2), TENSOR x with key "a", LIST(1) with key "b", TENSOR y. */
typedef struct of_file_node {
  int32_t kind;    /* an of_file_node_kind */
  uint32_t count;  /* of a dictionary or a list: the number of its items */
  const char* key; /* of an item of a dictionary; NULL for others */
  union {
    of_tensor tensor; /* of a TENSOR that is saved */
    uint64_t entry;   /* of a TENSOR in a file: the position of its entry */
  } as;
} of_file_node;

/* A pair of strings that describes a file. */
typedef struct of_file_metadata {
  const char* key;
  const char* value;
} of_file_metadata;

/* ---------------------------------------------------------------- saving */

/* The options of of_file_save(). */
typedef struct of_save_options {
  uint32_t struct_size;
  bool compress;                    /* .npz: deflates the arrays */
  const of_file_metadata* metadata; /* not for .npy */
  uint64_t metadata_count;
} of_save_options;
/* Saves nested data of `count` nodes to a file, which appears complete or not at all, and replaces an existing one. The
 * tensors may be on any devices, and have any strides. Without options (NULL), the defaults (0) apply. */
OF_API of_status of_file_save(const char* path, const of_file_node* nodes, uint64_t count,
                              const of_save_options* options);

/* ---------------------------------------------------------------- loading */

/* A handle to a reference-counted file that is open for reading. Its functions are thread-safe. */
typedef struct of_file_object* of_file;

/* Opens a file and reads what it says of its tensors, but not their elements. */
OF_API of_status of_file_open(const char* path, of_file* result);
/* Adds a reference to a file and returns the file. NULL is allowed. */
OF_API of_file of_file_retain(of_file file);
/* Releases a reference to a file. NULL is allowed. */
OF_API void of_file_release(of_file file);

/* A tensor in a file. All pointers are valid as long as the file. */
typedef struct of_file_entry {
  uint32_t struct_size;
  of_dtype dtype; /* OF_DTYPE_NONE if no dtype corresponds to the type */
  const char* name;
  const char* type; /* the element type as the format spells it */
  int32_t rank;
  const int64_t* sizes;
  uint64_t bytes; /* the size of the elements in the file before compression */
} of_file_entry;
/* Returns the number of tensors. */
OF_API uint64_t of_file_count(of_file file);
/* Gets a tensor's properties by its position, 0 <= position < of_file_count(). */
OF_API of_status of_file_entry_at(of_file file, uint64_t position, of_file_entry* entry);
/* Looks up a tensor by its name. Fails with OF_INDEX_OUT_OF_RANGE if there is none. */
OF_API of_status of_file_find(of_file file, const char* name, uint64_t* position);
/* Gets the pairs of strings that describe the file, which are valid as long as the file. */
OF_API of_status of_file_get_metadata(of_file file, const of_file_metadata** metadata, uint64_t* count);
/* Gets nested data as it was saved: nodes that are valid as long as the file. With `flat`, or if the file does not say
 * how its tensors are nested, that is a dictionary of all tensors by their names. */
OF_API of_status of_file_get_nodes(of_file file, bool flat, const of_file_node** nodes, uint64_t* count);

/* The options of of_file_read(). */
typedef struct of_read_options {
  uint32_t struct_size;
  of_device device; /* of the new tensors */
  bool share;       /* whether tensors on the host share the memory of the file where its layout allows: it is read when
                       they are first used, and must not be truncated or overwritten in place, which can end the process,
                       though it may be replaced or removed. Otherwise they have memory of their own */
} of_read_options;
/* Reads `count` tensors by their positions. On failure nothing is stored. */
OF_API of_status of_file_read(of_file file, const uint64_t* positions, uint64_t count, const of_read_options* options,
                              of_tensor* results);

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_FILES_H_ */
