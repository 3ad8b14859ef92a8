/* The C API of oneflow.
 *
 * Conventions:
 *  - Errors: a function that returns an of_status stores its results through pointers. If it fails, the results are
 *    unchanged, and of_last_error() returns the text of the error. Pointers must not be NULL unless a comment says so.
 *  - Ownership: an of_tensor that a function stores or returns belongs to the caller, who releases it with
 *    of_tensor_release(). Arguments are borrowed for the duration of the call.
 *  - Structs that begin with `struct_size` may grow in later versions. The caller sets the field to sizeof(struct)
 *    before the call. Fields that an older caller does not have count as zero.
 *  - Threads: all functions are thread-safe. Threads that write to the same tensor must synchronize.
 *  - Units: sizes, strides and offsets are in elements. Strides may be negative. Memory is in bytes.
 *  - Strings are UTF-8, terminated by a zero byte.
 *
 * The operators are in <oneflow/operators.h>: inline functions over of_call(), generated from the operator definitions.
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

/* Returns the version of the library, such as "1.2.3". */
OF_API const char* of_version(void);
/* Returns the path of the file from which the library was loaded. The string lives as long as the process. */
OF_API const char* of_library_path(void);
/* Returns the text of the calling thread's last failure: "<operator>: <argument> must be ..., got ...". Never NULL. It
 * is valid until the thread's next failing call; calls that succeed do not change it. */
OF_API const char* of_last_error(void);
/* Returns whether the calling thread's last failure is a deferred error of asynchronous work. Its text then begins with
 * the name of the operator that submitted the work, and not with that of the function that failed. */
OF_API bool of_last_error_is_deferred(void);
/* Returns the name of a status, "ShapeError" for OF_SHAPE_ERROR, from which the front ends derive the names of their
 * error classes. Returns "UnknownError" for an invalid number. */
OF_API const char* of_status_name(of_status status);
/* Sets the calling thread's error text, for front ends that check arguments themselves. Returns `status`. */
OF_API of_status of_fail(of_status status, const char* text);

/* ---------------------------------------------------------------- element types */

/* Returns the name of a dtype, such as "float32"; "unknown" for an invalid number. */
OF_API const char* of_dtype_name(of_dtype dtype);
/* Looks up a dtype by its name. Fails with OF_DTYPE_ERROR for an unknown name. */
OF_API of_status of_dtype_parse(const char* name, of_dtype* dtype);
/* Returns the name of the method by which front ends convert to a dtype, as in PyTorch: "float" for float32. Returns
 * NULL if there is none. */
OF_API const char* of_dtype_method(of_dtype dtype);
/* Returns the size of one element in bytes; 0 for an invalid number. */
OF_API size_t of_dtype_size(of_dtype dtype);
/* Returns the dtype that two dtypes are promoted to; OF_DTYPE_NONE if they have no common dtype. */
OF_API of_dtype of_promote_types(of_dtype a, of_dtype b);
/* Returns the dtype of new floating-point tensors without an explicit dtype, in all threads. It is float32 at first. */
OF_API of_dtype of_default_dtype(void);
/* Sets the default dtype of the process, which must be a floating-point type. */
OF_API of_status of_set_default_dtype(of_dtype dtype);

/* ---------------------------------------------------------------- devices */

/* Returns the number of devices of all types. Discovers device plugins first. */
OF_API size_t of_device_count(void);
/* Returns a device by its position, 0 <= position < of_device_count(); {-1, -1} for another position. */
OF_API of_device of_device_at(size_t position);
/* Looks up a device by its name, "cpu" or "cpu:1". Fails with OF_DEVICE_ERROR and a list of all devices. */
OF_API of_status of_device_parse(const char* name, of_device* device);
/* Writes the name of a device, such as "cpu:0", into a buffer of at least 64 bytes, and returns the buffer. */
OF_API const char* of_device_name(of_device device, char* buffer);

/* The properties of a device. */
typedef struct of_device_properties {
  uint32_t struct_size;
  uint32_t compute_units; /* processor cores, multiprocessors or the like */
  char name[128];         /* the name of the hardware */
  uint64_t total_memory;  /* in bytes; 0 if unknown */
  uint64_t free_memory;   /* in bytes */
  /* What the device implements itself, separated by spaces: kernels, contractions, asynchronous, peer_copies,
   * streams, pinned_memory, host_accessible. The string lives as long as the process. */
  const char* capabilities;
  /* What is to be known about the device's plugin, for example that it could not be probed in a process of its own
   * before it was loaded. Empty for most devices. The string lives as long as the process. */
  const char* notes;
} of_device_properties;
/* Gets the properties of a device. */
OF_API of_status of_device_get_properties(of_device device, of_device_properties* properties);

/* Returns the number of plugins that were discovered but provide no devices. */
OF_API size_t of_rejected_plugin_count(void);
/* Gets the path of such a plugin, and the reason why it was rejected. Both strings live as long as the process. */
OF_API of_status of_rejected_plugin_at(size_t position, const char** path, const char** reason);

/* Returns the device of the calling thread's new tensors without an explicit device: that of the thread (see
 * of_thread_state), else that of the process, which is the first device at first. */
OF_API of_device of_default_device(void);
/* Sets the default device of the process. */
OF_API of_status of_set_default_device(of_device device);
/* Loads a device plugin (see device_plugin.h) from the path of a shared library. */
OF_API of_status of_load_device(const char* path);
/* Adds a plugin, or a folder with plugins, to those that are searched for devices, for packages with a plugin that are
 * not installed next to the library. A plugin that cannot be used is rejected like any other that was found. A path
 * that is there already is ignored. Fails with OF_DEVICE_ERROR if the search is over: it takes place when a device
 * other than the first is asked for. */
OF_API of_status of_add_device_path(const char* path);
/* Returns whether copies between the host and the device may block, so that a front end should release its language's
 * lock meanwhile. */
OF_API bool of_device_waits(of_device device);
/* Waits until all work submitted to all streams of the device is done, and returns the first error of that work. */
OF_API of_status of_synchronize(of_device device);

/* ---------------------------------------------------------------- streams and events */

/* A device works on the operations of one stream one after another, and may work on several streams at the same time.
 * Each thread has a current stream per device, to which all its work goes: the default stream, unless it chooses
 * another. The program orders work on different streams that shares tensors, by events; without that, the elements that
 * the work reads are undefined. Memory is always safe: a tensor may be released as soon as its work was submitted.
 *
 * A device that works synchronously, like the CPU, has only its default stream, whose work is always done: there,
 * functions that create streams and events fail with OF_UNSUPPORTED. A stream or an event that was destroyed, or never
 * existed, is an OF_INVALID_ARGUMENT. */

/* Creates a stream of a device. The caller destroys it with of_stream_destroy(). */
OF_API of_status of_stream_create(of_device device, of_stream* stream);
/* Destroys a stream, once its work is done. The status is that of the work: the stream is destroyed even on failure.
 * A default stream cannot be destroyed. Threads whose current stream it is must choose another one. */
OF_API of_status of_stream_destroy(of_stream stream);
/* Waits until all work submitted to the stream is done, and returns the first error of that work. */
OF_API of_status of_stream_synchronize(of_stream stream);
/* Gets whether all work submitted to the stream is done. Does not report its errors. */
OF_API of_status of_stream_query(of_stream stream, bool* is_done);
/* Makes work that is submitted to the stream later wait for the point that the event marks, in any stream of a device
 * of the same type. Does nothing for an event that was not recorded. The host does not wait. */
OF_API of_status of_stream_wait_event(of_stream stream, of_event event);
/* Gets the device of a stream. */
OF_API of_status of_stream_get_device(of_stream stream, of_device* device);
/* Gets the calling thread's current stream of a device. */
OF_API of_status of_stream_current(of_device device, of_stream* stream);
/* Sets the calling thread's current stream of a device; {0} is the default stream. A thread can choose streams of up to
 * OF_MAX_CHOSEN_STREAMS devices at the same time. */
OF_API of_status of_stream_set_current(of_device device, of_stream stream);
#define OF_MAX_CHOSEN_STREAMS 16

/* Creates an event, which marks no point yet, for streams of a device. With `is_timed`, of_event_elapsed() can be used.
 * The caller destroys it with of_event_destroy(). */
OF_API of_status of_event_create(of_device device, bool is_timed, of_event* event);
/* Destroys an event. What waits for the point that it marks still does. */
OF_API of_status of_event_destroy(of_event event);
/* Makes the event mark the current end of a stream of its device. An event may be recorded repeatedly. */
OF_API of_status of_event_record(of_event event, of_stream stream);
/* Gets whether the work before the point is done; true for an event that was not recorded. */
OF_API of_status of_event_query(of_event event, bool* is_done);
/* Waits for the work before the point. Does not report its errors, which of_stream_synchronize() does. */
OF_API of_status of_event_synchronize(of_event event);
/* Gets the time between the points of two timed events of one device, whose work must be done. */
OF_API of_status of_event_elapsed(of_event start, of_event end, double* milliseconds);

/* ---------------------------------------------------------------- memory */

/* The state of the memory of a device. All fields but the last are in bytes. */
typedef struct of_memory_statistics {
  uint32_t struct_size;
  uint32_t reserved;    /* unused */
  uint64_t in_use;      /* allocated for live tensors, and for scratch memory of kernels */
  uint64_t peak_in_use; /* the maximum of in_use since of_reset_peak_memory(), or since the start of the process */
  uint64_t cached;      /* unused, and kept for reuse */
  uint64_t limit;       /* of in_use; 0: none */
  uint64_t tensors;     /* the number of live tensors, on all devices */
} of_memory_statistics;
/* Gets the state of the memory of a device. */
OF_API of_status of_get_memory_statistics(of_device device, of_memory_statistics* statistics);
/* Sets the peak to the memory that is in use. */
OF_API of_status of_reset_peak_memory(of_device device);
/* Returns unused cached memory to the device. */
OF_API of_status of_empty_cache(of_device device);
/* Makes allocations fail with OF_OUT_OF_MEMORY that would exceed `bytes` bytes in use. 0 removes the limit. */
OF_API of_status of_set_memory_limit(of_device device, uint64_t bytes);
/* A callback that releases tensors when an allocation of `bytes_wanted` bytes has failed, although the cache was
 * emptied. It returns whether it has released memory; the allocation is then tried once more. It is called without any
 * lock, in the middle of a call, on the thread that allocates, which may be one of the runtime: there it must not wait
 * without a limit for a thread that makes calls. */
typedef bool (*of_memory_pressure_callback)(void* context, uint64_t bytes_wanted);
/* Sets the callback of the process, which replaces the previous one; NULL removes it. `context` is passed to it. */
OF_API void of_set_memory_pressure_callback(of_memory_pressure_callback callback, void* context);

/* ---------------------------------------------------------------- settings and random numbers */

/* Sets an option of the process:
 *  - "num_threads": the number of threads for CPU kernels.
 *  - "fallback_is_error": 1 makes an operator fail that would run on the CPU because its device does not implement it.
 *  - "detect_anomaly": 1 makes a backward pass fail at the first call whose gradient has a NaN, and name the call.
 *  - "deterministic": 1 allows only kernels whose results are bitwise reproducible. It has no effect so far, because
 *    this is so for all kernels of the devices in this project.
 *  - The options of device plugins.
 * Fails with OF_INVALID_ARGUMENT for an unknown name, or a value out of range. */
OF_API of_status of_set_option(const char* name, int64_t value);
/* Gets the value of an option. */
OF_API of_status of_get_option(const char* name, int64_t* value);

/* The seed of a generator that is not given another one. */
#define OF_DEFAULT_SEED UINT64_C(67280421310721)

/* Creates a generator: a position in the sequence of random numbers of a seed (Philox 4x32-10), from which each call of
 * a random operator draws the next numbers. The caller releases it with of_generator_release(). */
OF_API of_status of_generator_create(uint64_t seed, of_generator* result);
/* Adds a reference to a generator and returns the generator. NULL is allowed. */
OF_API of_generator of_generator_retain(of_generator generator);
/* Releases a reference to a generator. NULL is allowed. */
OF_API void of_generator_release(of_generator generator);
/* Starts the sequence of a seed from its beginning. */
OF_API of_status of_generator_manual_seed(of_generator generator, uint64_t seed);
/* Starts the sequence of an unpredictable seed, and gets the seed. */
OF_API of_status of_generator_seed(of_generator generator, uint64_t* seed);
/* Gets the seed of the current sequence. */
OF_API of_status of_generator_initial_seed(of_generator generator, uint64_t* seed);
/* Gets the position: the seed, and how many numbers were drawn. */
OF_API of_status of_generator_get_state(of_generator generator, uint64_t* seed, uint64_t* offset);
/* Sets the position, so that the numbers from `offset` on are drawn next. */
OF_API of_status of_generator_set_state(of_generator generator, uint64_t seed, uint64_t offset);
/* Returns the generator of the process, which lives as long as the process, and from which calls draw that are given no
 * generator, on threads that have none of their own (see of_thread_state). It starts with OF_DEFAULT_SEED. */
OF_API of_generator of_default_generator(void);

/* ---------------------------------------------------------------- tensors */

/* A function that releases memory which a tensor has shared with its owner. */
typedef void (*of_deleter)(void* context);

/* The memory that a tensor is made of; see of_tensor_create(). */
typedef struct of_tensor_source {
  uint32_t struct_size;
  of_dtype dtype;
  of_device device; /* the device of the new tensor */
  int32_t rank;     /* the number of dimensions, at most OF_MAX_RANK */
  const int64_t* sizes;
  const int64_t* strides; /* NULL: contiguous, row-major */
  void* data;             /* the lowest address of the memory; NULL is allowed for a tensor without elements */
  uint64_t bytes;         /* the size of the memory, inside which all elements must be */
  int64_t offset;         /* from `data` to the element at index 0, in elements */
  of_deleter deleter;     /* NULL: `data` is host memory, which is copied before the call returns. Otherwise `data` is
                             memory of `device`, aligned to the size of an element, which the tensor shares. The deleter
                             is called once, on any thread, when no tensor uses the memory any more */
  void* deleter_context;  /* the argument of the deleter */
  bool read_only;         /* the shared memory must not be written: a write to the tensor copies it first */
} of_tensor_source;
/* Creates a tensor that copies or shares memory. If the call fails, the deleter is not called, and the memory stays the
 * caller's. */
OF_API of_status of_tensor_create(const of_tensor_source* source, of_tensor* result);

/* A function that computes a tensor; see of_tensor_defer(). */
typedef of_status (*of_make)(void* context, of_tensor* result);
/* Creates a contiguous tensor whose elements are computed when they are first read or written. make(context, result)
 * then stores a tensor of this shape, dtype and device, which the runtime releases. It runs once, on the thread that
 * needs the elements, with the state (see of_thread_state) of the thread that called this function; others wait for it.
 * If it fails, its error is that of the reader, and the next read calls it again. It must not need the elements of the
 * new tensor. destroy(context), unless it is NULL, is called once, on any thread: after make() has succeeded, or when
 * the tensor is freed before. If the call fails, destroy is not called. */
OF_API of_status of_tensor_defer(int32_t rank, const int64_t* sizes, of_dtype dtype, of_device device, of_make make,
                                 of_deleter destroy, void* context, of_tensor* result);

/* The properties of a tensor. All pointers are valid as long as the tensor. */
typedef struct of_tensor_info {
  uint32_t struct_size;
  of_dtype dtype;
  of_device device;
  int32_t rank; /* the number of dimensions */
  const int64_t* sizes;
  const int64_t* strides; /* in elements */
  int64_t offset;         /* from the start of the storage to the element at index 0, in elements */
  int64_t count;          /* the number of elements */
  uint64_t storage_bytes; /* the size of the storage in bytes */
  uint64_t version;       /* increases with each write to the storage */
  const void* storage;    /* identifies the storage: equal for all views of the same memory */
  bool is_contiguous;     /* whether the elements are row-major without gaps */
  bool is_view;           /* whether the tensor is a view of another tensor's storage */
  bool is_foreign;        /* whether the memory is shared with its owner, see of_tensor_source.deleter */
  bool is_pinned;         /* whether the memory is page-locked host memory, as from pin_memory */
} of_tensor_info;
/* Gets the properties of a tensor. */
OF_API of_status of_tensor_get_info(of_tensor tensor, of_tensor_info* info);
/* Returns the dtype; OF_DTYPE_NONE for NULL. */
OF_API of_dtype of_tensor_dtype(of_tensor tensor);
/* Returns the number of dimensions; 0 for NULL. */
OF_API int32_t of_tensor_rank(of_tensor tensor);
/* Returns the sizes, which are valid as long as the tensor; NULL for NULL. */
OF_API const int64_t* of_tensor_sizes(of_tensor tensor);
/* Returns the strides in elements, which are valid as long as the tensor; NULL for NULL. */
OF_API const int64_t* of_tensor_strides(of_tensor tensor);
/* Returns the number of elements; 0 for NULL. */
OF_API int64_t of_tensor_count(of_tensor tensor);
/* Returns an estimate of how long work on the tensor takes, by which a front end decides whether to release its
 * language's lock: the number of elements; INT64_MAX if it may wait for a device, as of_device_waits() says. */
OF_API int64_t of_tensor_work(of_tensor tensor);
/* Returns the bytes that are freed with the tensor's storage, of which a garbage collector should be informed: the size
 * of the storage; 0 for views and foreign memory. */
OF_API uint64_t of_tensor_memory(of_tensor tensor);

/* Adds a reference to a tensor and returns the tensor. NULL is allowed. */
OF_API of_tensor of_tensor_retain(of_tensor tensor);
/* Releases a reference to a tensor. NULL is allowed. */
OF_API void of_tensor_release(of_tensor tensor);

/* Waits for pending work, and gets the address of the element at index 0. The memory stays valid as long as the tensor;
 * a write through the C API may go to other memory. Fails with OF_DEVICE_ERROR if the host cannot access the memory. */
OF_API of_status of_tensor_data(of_tensor tensor, const void** data);
/* Like of_tensor_data(), for writing. Copies memory first that is shared with a lazy clone or read-only, and counts as
 * a write. Later lazy clones of the tensor copy the memory at once, because it may be written at any time. */
OF_API of_status of_tensor_mutable_data(of_tensor tensor, void** data);
/* Waits for pending work, and copies all elements in row-major order to host memory. `bytes` must be the number of
 * elements times the size of an element. */
OF_API of_status of_tensor_read(of_tensor tensor, void* destination, uint64_t bytes);
/* Gets the only element of a real tensor with one element. */
OF_API of_status of_tensor_item(of_tensor tensor, of_scalar* item);
/* Creates a tensor with the same values. Both share memory until either is written. Memory that others may write,
 * foreign memory or that of of_tensor_mutable_data(), is copied at once. */
OF_API of_status of_tensor_lazy_clone(of_tensor tensor, of_tensor* result);
/* Creates a contiguous copy on a device, which may be the tensor's own. */
OF_API of_status of_tensor_to_device(of_tensor tensor, of_device device, of_tensor* result);
/* Gets the only element of a tensor as a complex number. The imaginary part is 0 for a real tensor. */
OF_API of_status of_tensor_complex_item(of_tensor tensor, double* real, double* imaginary);
/* Compares two tensors: they are equal if shape, dtype and all elements are. NaN differs from NaN. */
OF_API of_status of_tensor_equal(of_tensor a, of_tensor b, bool* equal);

/* The options of of_tensor_format(). */
typedef struct of_format_options {
  uint32_t struct_size;
  int32_t precision;  /* digits after the decimal point; default 4 */
  int32_t threshold;  /* the number of elements above which the middle is omitted; default 1000 */
  int32_t edge_items; /* items shown at each end of a dimension whose middle is omitted; default 3 */
  int32_t line_width; /* columns; default 80 */
  int32_t indent;     /* columns of the string that the front end prints before the brackets; default 0 */
} of_format_options;
/* Formats the elements of a tensor in nested brackets, as "[[1., 2.], [3., 4.]]". The caller frees *text with
 * of_free(). Without options (NULL), the defaults apply. */
OF_API of_status of_tensor_format(of_tensor tensor, const of_format_options* options, char** text);
/* Frees a string that of_tensor_format() has allocated. NULL is allowed. */
OF_API void of_free(void* memory);

/* ---------------------------------------------------------------- indexing */

/* The kind of a part of an index expression. */
typedef enum of_index_kind {
  OF_INDEX_INT = 0,      /* selects one index, and removes the dimension */
  OF_INDEX_SLICE = 1,    /* start:stop:step; the step may be negative */
  OF_INDEX_ELLIPSIS = 2, /* stands for all dimensions that the other parts do not use; at most one */
  OF_INDEX_NEW = 3,      /* inserts a dimension of size 1 */
  OF_INDEX_TENSOR = 4,   /* a bool mask, or a tensor of integer indices */
  OF_INDEX_BOOL = 5      /* a 0-d mask */
} of_index_kind;

/* A part of an index expression. Negative integers count from the end of the dimension. */
typedef struct of_index {
  of_index_kind kind;
  bool has_start, has_stop;  /* SLICE: whether the bound is given; without it, the slice extends to the end */
  int64_t start, stop, step; /* INT: the index is `start`; SLICE: all three; BOOL: `start` is 0 or 1 */
  of_tensor tensor;          /* TENSOR */
} of_index;
/* Computes tensor[parts] by NumPy's rules. The result is a view, unless a part is of kind TENSOR or BOOL: then it is a
 * copy. */
OF_API of_status of_tensor_index(of_tensor tensor, const of_index* parts, size_t count, of_tensor* result);
/* Assigns tensor[parts] = value, where the value is of kind TENSOR, BOOL, INT or FLOAT, and is broadcast. */
OF_API of_status of_tensor_set_index(of_tensor tensor, const of_index* parts, size_t count, const of_value* value);

/* ---------------------------------------------------------------- operators */

/* A handle to an operator, which is valid as long as the process. */
typedef const struct of_op_object* of_op;

/* Looks up an operator by its name with the overload: "add", "max.dim". Returns NULL if there is none. */
OF_API of_op of_op_find(const char* name);
/* Returns the number of operators. */
OF_API size_t of_op_count(void);
/* Returns an operator by its position, 0 <= position < of_op_count(); NULL for another position. */
OF_API of_op of_op_at(size_t position);

/* An argument of an operator. */
typedef struct of_argument_info {
  const char* name;
  const char* type;          /* as in the signature: "Tensor", "dim[]?" */
  const char* default_value; /* as in the signature; NULL for a required argument */
  bool keyword_only;
} of_argument_info;

/* The properties of an operator. All strings and arrays live as long as the process. */
typedef struct of_op_info {
  uint32_t struct_size;
  int32_t argument_count;
  int32_t result_count;
  const char* name;                  /* with the overload: "max.dim" */
  const char* signature;             /* "max.dim(Tensor input, dim dim, ...) -> ..." */
  const char* kind;                  /* "elementwise", "reduction", ... */
  const char* summary;               /* one sentence */
  const of_argument_info* arguments; /* in the order of the signature */
  uint64_t signature_id;             /* identifies the name and the signature */
  uint64_t kernel_id;                /* identifies the signature and what the kernels compute */
  /* For each result, the position of the argument whose memory it may share, as results of views do; -1 for one with
   * memory of its own. The items of a list share that of the argument, or of its items if that is a list, too. */
  const int32_t* result_aliases;
} of_op_info;
/* Gets the properties of an operator. */
OF_API of_status of_op_get_info(of_op op, of_op_info* info);

/* Calls an operator. All front ends and the typed functions use this function.
 *
 * `args` are in the order of the signature. Arguments that are ABSENT, or missing at the end, have their defaults.
 *
 * `results` has one value per result of the operator:
 *  - ABSENT: the result is allocated and belongs to the caller, who releases it with of_value_release().
 *  - TENSOR: the result is written to this tensor (the `out` form), which must have the shape of the result and a dtype
 *    that can hold it. If the tensor is also the first argument, this is the in-place form. The caller keeps the
 *    handle.
 *
 * An operator with the result type Tensor[] stores a TENSOR_LIST, which belongs to the caller. If results[0] already is
 * a TENSOR_LIST, the results are written to its items.
 */
OF_API of_status of_call(of_op op, const of_value* args, size_t arg_count, of_value* results, size_t result_count);
/* Releases a result that of_call() has allocated, a tensor or a list with its tensors, and makes the value ABSENT. */
OF_API void of_value_release(of_value* value);

/* A part of a tensor: a range of indices in each dimension. */
typedef struct of_box {
  uint32_t struct_size;
  int32_t rank;               /* the number of dimensions */
  const int64_t* whole_sizes; /* of the tensor that it is a part of */
  const int64_t* origin;      /* the index of the first element of the part in each dimension */
  const int64_t* sizes;       /* of the part, which must be within the tensor */
} of_box;
/* Calls an operator of kind `generator`, but computes only a part of its result: the elements, also the random ones,
 * that the whole would have there. `args` are those of the whole; but an operator with a tensor argument, whose sizes
 * its result has, is called with a tensor of the sizes of the part. A random operator draws all numbers of the whole
 * from its generator. Fails with OF_UNSUPPORTED for operators of other kinds. */
OF_API of_status of_call_box(of_op op, const of_value* args, size_t arg_count, const of_box* box, of_value* results,
                             size_t result_count);

/* Computes the shapes and dtypes of the results of an operator. The data of the tensors in `args` is not read. The
 * results are tensors without memory. Fails with OF_UNSUPPORTED if the shape of a result depends on data. */
OF_API of_status of_infer(of_op op, const of_value* args, size_t arg_count, of_value* results, size_t result_count);

/* ---------------------------------------------------------------- einsum expressions */

/* A handle to an einsum equation that is planned for operands of given shapes: the order of the products, and their
 * cost. Reference-counted, immutable and thread-safe. */
typedef struct of_expression_object* of_expression;

/* A shape: `rank` sizes. */
typedef struct of_shape {
  int32_t rank;
  const int64_t* sizes;
} of_shape;

/* The options of of_expression_create(). */
typedef struct of_expression_options {
  uint32_t struct_size;
  const char* optimize; /* "auto", "optimal", "greedy" or "none", as for einsum; NULL: "auto" */
  int64_t memory_limit; /* the maximum number of elements of an intermediate result; 0: no limit */
  /* The order of the products, as pairs of positions in the list of the remaining operands. Each product removes its
   * two operands from the list, and is appended to it. NULL: the order is found as `optimize` says. */
  const int64_t* path;
  size_t path_count; /* the length of `path`: two numbers per product */
} of_expression_options;
/* Plans an equation for `count` operands of the given shapes. `options` may be NULL. The caller releases the result
 * with of_expression_release(). */
OF_API of_status of_expression_create(const char* equation, const of_shape* shapes, size_t count,
                                      const of_expression_options* options, of_expression* result);
/* Adds a reference to an expression and returns the expression. NULL is allowed. */
OF_API of_expression of_expression_retain(of_expression expression);
/* Releases a reference to an expression. NULL is allowed. */
OF_API void of_expression_release(of_expression expression);

/* The properties of an expression. All pointers are valid as long as the expression. */
typedef struct of_expression_info {
  uint32_t struct_size;
  int32_t rank;         /* of the result */
  const int64_t* sizes; /* of the result */
  const char* equation;
  size_t operand_count;
  const int64_t* path; /* the order of the products, as in of_expression_options */
  size_t path_count;
  double operations;           /* the number of multiplications and additions in all products */
  double operations_at_once;   /* their number in a single sum over the products of all operands */
  double largest_intermediate; /* the number of elements of the largest intermediate or final result */
  const char* report;          /* a table for users, with a line per product */
  size_t memory;               /* the bytes that the expression takes, for memory accounting */
} of_expression_info;
/* Gets the properties of an expression. */
OF_API of_status of_expression_get_info(of_expression expression, of_expression_info* info);
/* Gets the shape of an operand. Its sizes are valid as long as the expression. */
OF_API of_status of_expression_get_shape(of_expression expression, size_t operand, of_shape* shape);

/* Evaluates an expression for operands of exactly the planned shapes. `result` is like a result of of_call(). */
OF_API of_status of_expression_call(of_expression expression, const of_tensor* operands, size_t count,
                                    of_value* result);

/* ---------------------------------------------------------------- layers */

/* A layer sees calls of operators before kernels do: it may record, change or answer them. A call enters the layer with
 * the lowest number first. The numbers between these are free for the layers of other programs. */
typedef int32_t of_layer;
enum {
  OF_LAYER_PROFILE = 4,
  OF_LAYER_AUTOGRAD = 8,
  OF_LAYER_CAPTURE = 12,
  OF_LAYER_SHARDING = 16,
  OF_LAYER_FALLBACK = 20,
  OF_LAYER_LIMIT = 32 /* layers have numbers below this one */
};

/* Which calls enter a layer. */
typedef enum of_layer_scope {
  OF_LAYER_ALL_CALLS = 0, /* all calls of the process */
  OF_LAYER_ON_REQUEST = 1 /* those of threads that ask for the layer, and those with a tensor that carries its data */
} of_layer_scope;

/* The state of a call within a layer, which is valid until the function of the layer returns. */
typedef struct of_layer_call of_layer_call;

/* Where the results of a call go. */
typedef enum of_call_form {
  OF_FORM_NEW = 0,     /* to new tensors, or to a view */
  OF_FORM_OUT = 1,     /* at least one to a tensor of the caller */
  OF_FORM_IN_PLACE = 2 /* at least one to an operand */
} of_call_form;

/* A call within a layer. */
typedef struct of_layer_call_info {
  uint32_t struct_size;
  of_call_form form;
  of_op op;
  const char* caller;   /* the operator that the user called, whose body may make this call */
  const of_value* args; /* checked, with defaults: dims are not negative, dtypes and devices are not names */
  size_t arg_count;
  of_value* results; /* like those of of_call() */
  size_t result_count;
  of_tensor donated; /* an operand that is not used after the call, so that a result may take its memory; or NULL */
  bool infer;        /* only shapes and dtypes are computed: see of_infer() */
  const of_box* box; /* the part of the result that is computed, see of_call_box(); NULL: all of it */
} of_layer_call_info;

/* Whether the calls that the body of an operator makes enter the layer that passes the operator on. */
typedef enum of_layer_body { OF_BODY_HIDDEN = 0, OF_BODY_SEEN = 1 } of_layer_body;

/* The function of a layer. It runs on the thread of the call, before the devices of the tensors are compared. It passes
 * the call on with of_layer_next() or of_layer_forward(), or stores all results itself. The status that it returns is
 * that of the call. Operators that it calls enter only layers with higher numbers. */
typedef of_status (*of_layer_function)(void* context, of_layer_call* call);

/* Installs a layer. Fails if there is one of this number. */
OF_API of_status of_layer_install(of_layer layer, of_layer_scope scope, of_layer_function function, void* context);
/* Removes a layer, if there is one, and waits for the calls within it. The caller must hold no lock that its function
 * takes. Fails within a call of the layer itself. */
OF_API of_status of_layer_remove(of_layer layer);

/* Gets the call that a layer received. */
OF_API of_status of_layer_get_call(const of_layer_call* call, of_layer_call_info* info);
/* Passes the call on to the layers with higher numbers, and then to the operator. A call can succeed only once. */
OF_API of_status of_layer_next(of_layer_call* call, of_layer_body body);
/* Passes a call with the same results on, of another operator or with other arguments. */
OF_API of_status of_layer_forward(of_layer_call* call, of_layer_body body, of_op op, const of_value* args,
                                  size_t arg_count);

/* Keeps data of a layer with a tensor, whose calls enter the layer from then on. destroy(data) is called once, when the
 * tensor is freed, on any thread; it may release other tensors, however long the chain. Fails, and leaves the data to
 * the caller, if the tensor has data of this layer. */
OF_API of_status of_tensor_set_extension(of_tensor tensor, of_layer layer, void* data, of_deleter destroy);
/* Returns the data of a layer, or NULL. */
OF_API void* of_tensor_get_extension(of_tensor tensor, of_layer layer);

/* What the calls of a thread start from. Code that hands work to another thread copies it there. */
typedef struct of_thread_state {
  uint32_t struct_size;
  uint32_t
      asked_layers;     /* a bit for each layer that all calls of the thread enter, if it is installed; none at first */
  uint32_t open_layers; /* a bit for each layer that they may enter at all; all at first */
  bool has_device;      /* whether the thread has a default device of its own; false at first */
  of_device device;     /* that device */
  /* The generator of random operators that are given none; NULL, as at first: that of the process. The thread keeps a
   * reference until its next of_thread_set_state(). */
  of_generator generator;
  of_stream streams[OF_MAX_CHOSEN_STREAMS]; /* the current streams that the thread has chosen; {0} in unused places */
} of_thread_state;
/* Gets the state of the calling thread. */
OF_API of_status of_thread_get_state(of_thread_state* state);
/* Sets the state of the calling thread. Fails with OF_DEVICE_ERROR if the device does not exist or is lost. */
OF_API of_status of_thread_set_state(const of_thread_state* state);

/* Makes a list of the operators that ran on the CPU because their device does not implement them, and returns its
 * length. The list belongs to the calling thread and does not change until its next call. */
OF_API size_t of_fallback_count(void);
/* Gets an operator from that list, and the number of its calls that ran on the CPU. */
OF_API of_status of_fallback_at(size_t position, of_op* op, uint64_t* calls);
/* Resets the numbers of calls in the process to 0. */
OF_API void of_reset_fallbacks(void);

/* ---------------------------------------------------------------- DLPack */

struct DLManagedTensor;
struct DLManagedTensorVersioned;
/* Exports a tensor's memory as an unversioned DLPack struct, which keeps the tensor alive until the consumer calls its
 * deleter. A tensor with negative strides, which not all consumers support, is copied first. Fails with OF_UNSUPPORTED
 * if the host cannot access the memory. */
OF_API of_status of_tensor_to_dlpack(of_tensor tensor, struct DLManagedTensor** managed);
/* Exports a tensor's memory as a DLPack 1.0 struct, like of_tensor_to_dlpack(). */
OF_API of_status of_tensor_to_dlpack_versioned(of_tensor tensor, struct DLManagedTensorVersioned** managed);
/* Creates a tensor over the memory of an unversioned DLPack struct. Takes ownership of `managed`, even on failure.
 * Elements that are not aligned are copied. */
OF_API of_status of_tensor_from_dlpack(struct DLManagedTensor* managed, of_tensor* result);
/* Creates a tensor over the memory of a DLPack 1.0 struct, like of_tensor_from_dlpack(). The first write to read-only
 * memory copies it. */
OF_API of_status of_tensor_from_dlpack_versioned(struct DLManagedTensorVersioned* managed, of_tensor* result);

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_ONEFLOW_H_ */
