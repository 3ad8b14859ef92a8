/* oneflow: the C API.
 *
 * Conventions, without exception:
 *  - A function that can fail returns an of_status. Anything but OF_OK leaves the results untouched and a text in
 *    of_last_error(), which belongs to the calling thread and stays valid until its next failing call.
 *  - An of_tensor that a function returns belongs to the caller: of_tensor_release() it. Arguments are borrowed.
 *  - Public structs that may grow begin with `struct_size`; set it to sizeof before the call.
 *  - Every function may be called from any thread. Two threads that write one tensor need a lock of their own.
 *  - Sizes and strides are counted in elements, row-major unless strides say otherwise, and strides may be negative.
 *
 * The operators themselves are in <oneflow/operators.h>: inline functions over of_call(), generated from the
 * operator definitions.
 */
#ifndef ONEFLOW_ONEFLOW_H_
#define ONEFLOW_ONEFLOW_H_

#include <oneflow/types.h>

#ifdef ONEFLOW_BUILD
#define OF_API __attribute__((visibility("default")))
#else
#define OF_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- library and errors */

/* "0.1.0" */
OF_API const char* of_version(void);
/* The text of this thread's last failure: "<operator>: <argument> must be ..., got ...". Never NULL. */
OF_API const char* of_last_error(void);
/* Whether that failure is one of earlier work of a device: its text then begins with the name of the operator that left
 * the work, which is not the one that was called. */
OF_API bool of_last_error_is_deferred(void);
/* "ShapeError" for OF_SHAPE_ERROR, and so on: the names that the front ends derive their classes from. */
OF_API const char* of_status_name(of_status status);
/* Records a failure as if the runtime had found it, for front ends that check something themselves; returns status. */
OF_API of_status of_fail(of_status status, const char* text);

/* ---------------------------------------------------------------- element types */

OF_API const char* of_dtype_name(of_dtype dtype); /* "float32" */
OF_API of_status of_dtype_parse(const char* name, of_dtype* dtype);
OF_API size_t of_dtype_size(of_dtype dtype);              /* bytes of one element */
OF_API of_dtype of_promote_types(of_dtype a, of_dtype b); /* OF_DTYPE_COUNT where the two have no common type */
OF_API of_dtype of_default_dtype(void);
OF_API of_status of_set_default_dtype(of_dtype dtype); /* a floating-point type */

/* ---------------------------------------------------------------- devices */

OF_API size_t of_device_count(void); /* over all device types */
OF_API of_device of_device_at(size_t position);
/* "name" or "name:index"; the text of a failure lists what is there. */
OF_API of_status of_device_parse(const char* name, of_device* device);
/* "cpu:0" into a buffer of at least 64 bytes; returns buffer. */
OF_API const char* of_device_name(of_device device, char* buffer);

typedef struct of_device_properties {
  uint32_t struct_size;
  uint32_t compute_units;
  char name[128];        /* what the maker calls it */
  uint64_t total_memory; /* bytes; 0 when unknown */
  uint64_t free_memory;
  /* What the device can do itself, words separated by spaces: kernels, contractions, asynchronous, peer_copies,
   * pinned_memory, host_accessible. Lives as long as the process. */
  const char* capabilities;
} of_device_properties;
OF_API of_status of_device_get_properties(of_device device, of_device_properties* properties);

/* Plugins that were found and give no devices: where they lie, and why. The texts live as long as the process. */
OF_API size_t of_rejected_plugin_count(void);
OF_API of_status of_rejected_plugin_at(size_t position, const char** path, const char** reason);

OF_API of_device of_default_device(void);
OF_API of_status of_set_default_device(of_device device);
/* Loads a plugin (see device_plugin.h) from a path. */
OF_API of_status of_load_device(const char* path);
/* Whether copies to and from the device may have to wait for it: a front end then lets go of its language's lock. */
OF_API bool of_device_waits(of_device device);
/* Waits until all work submitted to the device is done, and reports the first error of that work. */
OF_API of_status of_synchronize(of_device device);

/* ---------------------------------------------------------------- memory */

typedef struct of_memory_statistics {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t in_use; /* bytes held by live tensors */
  uint64_t peak_in_use;
  uint64_t cached;  /* bytes kept for reuse */
  uint64_t limit;   /* 0: none */
  uint64_t tensors; /* live tensor handles, on all devices */
} of_memory_statistics;
OF_API of_status of_get_memory_statistics(of_device device, of_memory_statistics* statistics);
OF_API of_status of_reset_peak_memory(of_device device);
OF_API of_status of_empty_cache(of_device device);
/* Refuses allocations beyond this many bytes in use; 0 takes the limit away. */
OF_API of_status of_set_memory_limit(of_device device, uint64_t bytes);
/* Called, with no lock held, when an allocation fails even after the cache was emptied: release tensors and return
 * true to have the allocation tried once more. One callback per process, NULL for none. */
typedef bool (*of_memory_pressure_callback)(void* context, uint64_t bytes_wanted);
OF_API void of_set_memory_pressure_callback(of_memory_pressure_callback callback, void* context);

/* ---------------------------------------------------------------- settings and random numbers */

/* "num_threads" (CPU kernels), "deterministic" (0 or 1: whether only kernels may run whose results repeat bit for bit,
 * as those of all devices here do), "fallback_is_error" (0 or 1), and those of device plugins. */
OF_API of_status of_set_option(const char* name, int64_t value);
OF_API of_status of_get_option(const char* name, int64_t* value);

OF_API void of_manual_seed(uint64_t seed);
OF_API uint64_t of_initial_seed(void);
/* The generator's whole state: the seed and how many numbers were drawn. Setting it replays them. */
OF_API void of_get_random_state(uint64_t* seed, uint64_t* offset);
OF_API void of_set_random_state(uint64_t seed, uint64_t offset);

/* ---------------------------------------------------------------- tensors */

typedef void (*of_deleter)(void* context);

typedef struct of_tensor_source {
  uint32_t struct_size;
  of_dtype dtype;
  of_device device; /* where the tensor goes */
  int32_t rank;
  const int64_t* sizes;
  const int64_t* strides; /* NULL: contiguous */
  void* data;             /* the first byte of the memory */
  uint64_t bytes;         /* how much memory there is: sizes, strides and offset must stay inside */
  int64_t offset;         /* elements from data to the tensor's first element */
  of_deleter deleter;     /* NULL: `data` is host memory, copied at once. Otherwise it is memory of `device`, which is
                             shared, and the deleter is called once, on any thread, when no tensor uses it any more */
  void* deleter_context;
  bool read_only; /* shared memory that must not be written: writes copy it first */
} of_tensor_source;
OF_API of_status of_tensor_create(const of_tensor_source* source, of_tensor* result);

typedef struct of_tensor_info {
  uint32_t struct_size;
  of_dtype dtype;
  of_device device;
  int32_t rank;
  const int64_t* sizes; /* valid as long as the handle */
  const int64_t* strides;
  int64_t offset; /* elements from the start of the storage */
  int64_t count;  /* number of elements */
  uint64_t storage_bytes;
  uint64_t version;    /* grows with each write to the storage */
  const void* storage; /* identity of the storage: equal for views of one memory */
  bool is_contiguous;
  bool is_view;
  bool is_foreign; /* the memory was not allocated by oneflow */
  bool is_pinned;  /* it is page-locked memory of the host, as pin_memory gives it */
} of_tensor_info;
OF_API of_status of_tensor_get_info(of_tensor tensor, of_tensor_info* info);
/* The same without copying: cheap accessors for hot paths. */
OF_API of_dtype of_tensor_dtype(of_tensor tensor);
OF_API int32_t of_tensor_rank(of_tensor tensor);
OF_API const int64_t* of_tensor_sizes(of_tensor tensor);
OF_API const int64_t* of_tensor_strides(of_tensor tensor);
OF_API int64_t of_tensor_count(of_tensor tensor);
/* How long work on the tensor may take, counted in elements: their number, or INT64_MAX where of_device_waits(). */
OF_API int64_t of_tensor_work(of_tensor tensor);
/* Bytes that releasing this handle's storage would free: what a garbage collector should be told of. */
OF_API uint64_t of_tensor_memory(of_tensor tensor);

OF_API of_tensor of_tensor_retain(of_tensor tensor); /* returns tensor */
OF_API void of_tensor_release(of_tensor tensor);     /* NULL is allowed */

/* The address of the first element, after waiting for pending work; only for memory that the host can read. */
OF_API of_status of_tensor_data(of_tensor tensor, const void** data);
/* The same for writing: un-shares copy-on-write memory, counts as a write, and from then on the memory counts as
 * visible to others (a lazy clone of it copies at once). */
OF_API of_status of_tensor_mutable_data(of_tensor tensor, void** data);
/* Copies all elements, row-major, to host memory of exactly count * size bytes. */
OF_API of_status of_tensor_read(of_tensor tensor, void* destination, uint64_t bytes);
/* The only element of a tensor with one element. */
OF_API of_status of_tensor_item(of_tensor tensor, of_scalar* item);
/* A tensor with the same values, in memory shared until either side is written. */
OF_API of_status of_tensor_lazy_clone(of_tensor tensor, of_tensor* result);
/* A contiguous copy on another (or the same) device. */
OF_API of_status of_tensor_to_device(of_tensor tensor, of_device device, of_tensor* result);
/* The only element as a complex number; that of a real tensor has no imaginary part. */
OF_API of_status of_tensor_complex_item(of_tensor tensor, double* real, double* imaginary);
/* Same shape, same dtype, all elements equal (NaN differs from itself). */
OF_API of_status of_tensor_equal(of_tensor a, of_tensor b, bool* equal);

/* How a tensor prints. The text is the nested brackets only; each front end puts its own words around it. */
typedef struct of_format_options {
  uint32_t struct_size;
  int32_t precision;  /* digits behind the point; default 4 */
  int32_t threshold;  /* elements above which the text is summarised; default 1000 */
  int32_t edge_items; /* elements shown at each end of a summarised dimension; default 3 */
  int32_t line_width; /* default 80 */
  int32_t indent;     /* columns that the front end's opening word takes */
} of_format_options;
/* The caller frees *text with of_free(). options may be NULL. */
OF_API of_status of_tensor_format(of_tensor tensor, const of_format_options* options, char** text);
OF_API void of_free(void* memory);

/* ---------------------------------------------------------------- indexing */

typedef enum of_index_kind {
  OF_INDEX_INT = 0,      /* picks one, removes the dimension */
  OF_INDEX_SLICE = 1,    /* start:stop:step, step may be negative */
  OF_INDEX_ELLIPSIS = 2, /* all dimensions not named; at most one */
  OF_INDEX_NEW = 3,      /* inserts a dimension of size 1 */
  OF_INDEX_TENSOR = 4,   /* a bool mask or integer positions */
  OF_INDEX_BOOL = 5      /* a 0-d mask */
} of_index_kind;

typedef struct of_index {
  of_index_kind kind;
  bool has_start, has_stop;  /* SLICE: absent ends mean "all the way" */
  int64_t start, stop, step; /* INT: start; SLICE: all three; BOOL: start is 0 or 1 */
  of_tensor tensor;          /* TENSOR */
} of_index;
/* NumPy's rules: basic parts give a view, any TENSOR or BOOL part gives a copy. */
OF_API of_status of_tensor_index(of_tensor tensor, const of_index* parts, size_t count, of_tensor* result);
/* tensor[parts] = value; value is a TENSOR, or a number (BOOL, INT, FLOAT), and broadcasts. */
OF_API of_status of_tensor_set_index(of_tensor tensor, const of_index* parts, size_t count, const of_value* value);

/* ---------------------------------------------------------------- operators */

/* An operator; valid for the life of the process. */
typedef const struct of_op_object* of_op;

/* "add", "max.dim": the record's name, with its overload. NULL when there is none. */
OF_API of_op of_op_find(const char* name);
OF_API size_t of_op_count(void);
OF_API of_op of_op_at(size_t position);

typedef struct of_argument_info {
  const char* name;
  const char* type;          /* as written in the signature: "Tensor", "dim[]?" */
  const char* default_value; /* as written; NULL: required */
  bool keyword_only;
} of_argument_info;

typedef struct of_op_info {
  uint32_t struct_size;
  int32_t argument_count;
  int32_t result_count;
  const char* name;
  const char* signature;
  const char* kind; /* "elementwise", "reduction", ... */
  const char* summary;
  const of_argument_info* arguments;
  uint64_t schema_hash;
} of_op_info;
OF_API of_status of_op_get_info(of_op op, of_op_info* info);

/* Calls an operator: the one way in, for every front end and every language.
 *
 * `args` are in the order of the signature; missing ones at the end and ABSENT ones take their defaults.
 * `results` has one value per result. ABSENT: the result is allocated and belongs to the caller (of_value_release()).
 * A TENSOR there is written to instead (the `out` form); it must have the exact shape and a dtype that the result can
 * be cast to. The in-place form is the same with results[0] being the tensor of the first argument; the handle stays
 * the caller's own in both. An operator that gives a list of tensors (`-> Tensor[]`) leaves a TENSOR_LIST, which
 * belongs to the caller as well; a TENSOR_LIST that is given is written to, member by member.
 */
OF_API of_status of_call(of_op op, const of_value* args, size_t arg_count, of_value* results, size_t result_count);
/* Releases the tensors that a result holds, and the list if it is one; sets it to ABSENT. */
OF_API void of_value_release(of_value* value);

/* Shapes and dtypes of the results without data: args hold tensors whose data is never read.
 * `results[i]` are tensors without memory; data-dependent sizes are OF_UNSUPPORTED. */
OF_API of_status of_infer(of_op op, const of_value* args, size_t arg_count, of_value* results, size_t result_count);

/* ---------------------------------------------------------------- contractions worked out beforehand */

/* An einsum equation for operands of given shapes: in which order they are multiplied, and what that costs. Reference
 * counted, never changed, good for any thread. */
typedef struct of_expression_object* of_expression;

typedef struct of_shape {
  int32_t rank;
  const int64_t* sizes;
} of_shape;

typedef struct of_expression_options {
  uint32_t struct_size;
  const char* optimize; /* "auto", "optimal", "greedy" or "none", as for einsum; NULL: "auto" */
  int64_t memory_limit; /* elements of the largest intermediate; 0: none */
  /* The order itself, in place of what `optimize` would find: pairs of positions among what is left, where each product
   * is put at the end. NULL: search. */
  const int64_t* path;
  size_t path_count; /* numbers, two for each product */
} of_expression_options;
/* `options` may be NULL. */
OF_API of_status of_expression_create(const char* equation, const of_shape* shapes, size_t count,
                                      const of_expression_options* options, of_expression* result);
OF_API of_expression of_expression_retain(of_expression expression); /* returns expression */
OF_API void of_expression_release(of_expression expression);         /* NULL is allowed */

typedef struct of_expression_info {
  uint32_t struct_size;
  int32_t rank;         /* of the result */
  const int64_t* sizes; /* all pointers: valid as long as the handle */
  const char* equation;
  size_t operand_count;
  const int64_t* path; /* as in the options */
  size_t path_count;
  double operations;           /* multiplications and additions of all products */
  double operations_at_once;   /* of one sum over the products of all operands */
  double largest_intermediate; /* elements, the result included */
  const char* report;          /* a table of the products to read, one in a line */
  size_t memory;               /* bytes that the expression takes, for whoever has to account for them */
} of_expression_info;
OF_API of_status of_expression_get_info(of_expression expression, of_expression_info* info);
/* Of an operand. */
OF_API of_status of_expression_get_shape(of_expression expression, size_t operand, of_shape* shape);

/* einsum of operands of exactly those shapes; `result` as for of_call(). */
OF_API of_status of_expression_call(of_expression expression, const of_tensor* operands, size_t count,
                                    of_value* result);

/* ---------------------------------------------------------------- dispatch layers */

/* The layers that a call passes through, outermost first. The kernel itself comes last. */
typedef enum of_layer {
  OF_LAYER_PROFILE = 0,
  OF_LAYER_AUTOGRAD = 1,
  OF_LAYER_CAPTURE = 2,
  OF_LAYER_SHARDING = 3,
  OF_LAYER_FALLBACK = 4,
  OF_LAYER_COUNT = 5
} of_layer;

/* Sees every call: goes on with of_layer_next(), or answers itself by filling the results. */
typedef struct of_layer_call of_layer_call;
typedef of_status (*of_layer_function)(void* context, of_layer_call* call, of_op op, const of_value* args,
                                       size_t arg_count, of_value* results, size_t result_count);
/* Installs a layer (NULL: removes it) for the whole process. */
OF_API of_status of_set_layer(of_layer layer, of_layer_function function, void* context);
OF_API of_status of_layer_next(of_layer_call* call, of_op op, const of_value* args, size_t arg_count, of_value* results,
                               size_t result_count);

/* Operators that ran elsewhere because their device lacks them. Counting makes the list that the calling thread reads
 * then: other threads may fall back, and reset, in the meantime. */
OF_API size_t of_fallback_count(void);
OF_API of_status of_fallback_at(size_t position, of_op* op, uint64_t* calls);
OF_API void of_reset_fallbacks(void);

/* ---------------------------------------------------------------- DLPack */

struct DLManagedTensor;
struct DLManagedTensorVersioned;
/* The tensor's memory as a DLPack capsule's content; the consumer calls its deleter. Negative strides, which not every
 * consumer reads, are copied away first. */
OF_API of_status of_tensor_to_dlpack(of_tensor tensor, struct DLManagedTensor** managed);
OF_API of_status of_tensor_to_dlpack_versioned(of_tensor tensor, struct DLManagedTensorVersioned** managed);
/* Takes ownership of `managed`, also when it fails. Memory that is marked as read-only is copied by the first write. */
OF_API of_status of_tensor_from_dlpack(struct DLManagedTensor* managed, of_tensor* result);
OF_API of_status of_tensor_from_dlpack_versioned(struct DLManagedTensorVersioned* managed, of_tensor* result);

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_ONEFLOW_H_ */
