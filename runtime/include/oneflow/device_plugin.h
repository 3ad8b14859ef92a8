/* The interface between the runtime and a device plugin.
 *
 * A plugin is a shared library that implements a device type. It includes only this header and exports one function:
 *
 *     const of_device_table* oneflow_device_plugin(const of_host_table* host);
 *
 * The runtime calls it when it loads the plugin, and passes the functions that it provides to the plugin. The result is
 * a table of hooks that lives as long as the process; or NULL, after a call of host->fail(), if the plugin cannot be
 * used. The built-in CPU backend implements the same table. docs/guides/add-a-device.md is a tutorial; its example,
 * tests/accelerator, is a complete device in one file.
 *
 * Rules for all hooks:
 *  - Threads: hooks are called from any thread, and several hooks may run at the same time.
 *  - Errors: a hook that fails sets the error text with host->fail(), and returns a status other than OF_OK. The text
 *    does not begin with an operator's name, because the runtime puts it there. A hook must not throw exceptions or end
 *    the process.
 *  - Optional hooks: a hook marked (optional) may be NULL. Its comment says what the runtime does instead. Required are
 *    `count`, `get_info`, `allocate`, `deallocate`, the three copies to, from and within the device, and `fill`.
 *  - Devices: the index of an of_device that is passed to a hook is that of one of the plugin's own devices. Its type
 *    is the number that the runtime has assigned to the plugin. Pass it to the functions of of_host_table unchanged.
 *  - Units: sizes of memory are in bytes; strides, offsets and counts of tensors are in elements.
 */
#ifndef ONEFLOW_DEVICE_PLUGIN_H_
#define ONEFLOW_DEVICE_PLUGIN_H_

#include <oneflow/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It is incremented when the meaning of an existing hook changes. New hooks are appended
 * to the tables without a new version, and struct_size tells which hooks a table has: those that a shorter table lacks
 * count as NULL. Version 2 has kernels with a user pointer, and several streams per device. */
#define OF_DEVICE_API_VERSION 2
/* The lowest version of a plugin that the runtime accepts, up to its own version. */
#define OF_DEVICE_API_OLDEST 2

/* A queue of work of a device, which runs in the order of submission. Opaque to the runtime. */
typedef struct of_device_stream_object* of_device_stream;
/* A point in a stream, for which other streams can wait. Opaque to the runtime. */
typedef struct of_device_event_object* of_device_event;

/* The functions that the runtime provides to a plugin. They are thread-safe. A plugin must not hold a lock while it
 * calls one if its hooks acquire the same lock, because these functions may call `allocate` and `deallocate`. The table
 * lives as long as the process. */
typedef struct of_host_table {
  uint32_t struct_size; /* sizeof(of_host_table) of the runtime */
  uint32_t api_version; /* OF_DEVICE_API_VERSION of the runtime */
  /* Sets the calling thread's error text, which is copied, and returns `status`. */
  of_status (*fail)(of_status status, const char* text);
  /* Allocates scratch memory of a device from the runtime's cache: at least `bytes` bytes, 64-byte aligned, released
   * with release(). On failure the error text is already set; return the status. If the device has streams, a hook
   * calls both on the thread that called the hook, for work in the stream that it was given. */
  of_status (*allocate)(of_device device, uint64_t bytes, void** memory);
  /* Releases memory of allocate(), with the same `bytes`. Call it as soon as the work that uses the memory has been
   * submitted: the memory is reused at once, but only for work that is submitted to the same stream later. NULL is
   * allowed. */
  void (*release)(of_device device, void* memory, uint64_t bytes);
  /* Reports that a device is permanently lost, for example after a driver error that does not clear. From then on each
   * call that uses the device fails with a DeviceError that contains `text`, which is copied. The runtime calls no more
   * hooks for the device, not even deallocate() and free_host(). Other devices are not affected. */
  void (*lost)(of_device device, const char* text);
  /* Returns whether the work of the calling thread should end early, because its user wants to stop it: the hook then
   * returns OF_INTERRUPTED as soon as it can, and leaves its results in any state. Hooks that compute for long ask
   * between parts of their work, on the thread that called the hook, and without holding a lock: the function may run
   * code of the user. */
  bool (*interrupted)(void);
} of_host_table;

/* An operand or a result of a kernel. */
typedef struct of_kernel_tensor {
  void* data;             /* the address of the element at index 0, which is not the lowest address if a stride is
                             negative; NULL for a scalar operand */
  of_dtype dtype;         /* a real dtype, unless the kernel was found for a complex compute type */
  int32_t rank;           /* the number of dimensions, at most OF_MAX_RANK */
  const int64_t* sizes;   /* `rank` sizes */
  const int64_t* strides; /* `rank` strides in elements; 0 in broadcast dimensions */
  of_scalar scalar;       /* the value of a scalar operand: a number in place of a tensor, with data NULL and rank 0 */
} of_kernel_tensor;

/* The arguments of a kernel. Sizes and dtypes are checked, and the results are allocated. The struct and everything
 * that it points to is valid until the kernel returns. The memory of the tensors stays valid for all work that has been
 * submitted by then. Asynchronous work must therefore copy sizes, strides and scalars. */
typedef struct of_kernel_context {
  uint32_t struct_size;            /* sizeof(of_kernel_context) of the runtime */
  of_device device;                /* the device that the kernel runs on */
  of_device_stream stream;         /* the stream of the work; NULL without the hook create_stream */
  const of_host_table* host;       /* the functions of the runtime */
  void* user;                      /* the user pointer that find_kernel() returned with the kernel */
  const char* op;                  /* the name of the operator that the user called, for errors that asynchronous work
                                      finds; lives as long as the process */
  int32_t input_count;             /* the length of `inputs` */
  int32_t output_count;            /* the length of `outputs` */
  const of_kernel_tensor* inputs;  /* the tensor operands in the order of the signature. A list of tensors takes one
                                      entry per item; an absent optional tensor is a scalar operand of kind BOOL */
  const of_kernel_tensor* outputs; /* the results, which the kernel writes */
  const of_value* arguments;       /* all arguments in the order of the signature: defaults are filled in, dimensions
                                      are non-negative, and numbers are of kind BOOL, INT or FLOAT */
  int32_t argument_count;          /* the length of `arguments` */
  of_dtype compute;                /* the compute type, from the dtype rule of the operator's record: operands are
                                      converted to it, and results are rounded from it once */
  uint32_t reduced;                /* for reductions and scans: bit d is set if dimension d of inputs[0] is reduced or
                                      scanned */
  uint64_t seed;                   /* for random operators: the key of the Philox 4x32-10 generator */
  uint64_t offset;                 /* for random operators: the counter of the element with index 0. The numbers from
                                      `offset` on, one per element, are reserved for this call */
  const int64_t* whole_sizes;      /* for generators: the sizes of the tensor of which outputs[0] is a box. The index,
                                      the row and the column of an element, and its random number, are those within
                                      this tensor. NULL: outputs[0] is the whole tensor */
  const int64_t* origin;           /* the index in this tensor of the first element of the box; NULL with whole_sizes */
} of_kernel_context;

/* A kernel: computes all elements of the outputs, or submits the work to the stream.
 *
 * The meaning of the operands depends on the kind of the operator:
 *  - elementwise, generator: all operands have the rank and the sizes of outputs[0], with stride 0 in broadcast
 *    dimensions. Adjacent dimensions of an elementwise operator are merged where the strides of all operands allow it,
 *    and the last dimension is the fastest-varying one. The dimensions of a generator are not merged, because its
 *    expression depends on the row-major index of the element.
 *  - reduction: inputs[0] has the dimensions of the iteration space, and `reduced` marks the reduced ones. Adjacent
 *    dimensions that are both kept or both reduced are merged where the strides allow it. The kept dimensions may be
 *    permuted. The reduced dimensions keep their order, so that the row-major index of an element within them is that
 *    of the caller's tensor. The outputs have the same rank, with size 1 and stride 0 in reduced dimensions.
 *  - scan: like a reduction with exactly one marked dimension. The outputs have the sizes of the input.
 *  - gather: the operands are as the caller passed them.
 *  - native: six operators, whose operands are described below. (The runtime implements cat, stack, reshape and the
 *    like by copies, with the kernel of the operator `copy`.)
 *      nonzero      inputs {input}, outputs {int64 [count, rank]}, where `count` is the number of nonzero elements.
 *      sort, topk   inputs {input}, outputs {values, int64 indices}, with any strides. The dimension is in `arguments`.
 *      randperm     no inputs, outputs {[n]}. `n` random numbers are reserved from `offset` on.
 *      index        inputs {input, index...}, outputs {result}. The dimensions of `input` are reordered so that the
 *                   indexed ones come first. The indices, one per indexed dimension, have dtype int64 or int32 and
 *                   share one shape. The result has this shape, followed by the other dimensions of `input`. Negative
 *                   indices count from the end. `compute` is the dtype of `input`.
 *      index_put_   inputs {target, index..., values}, outputs {target}. Like `index`, with `values` in place of the
 *                   result. arguments[3] tells whether the values are added to the elements.
 *    An index outside its dimension is OF_INDEX_OUT_OF_RANGE "index 3 is out of range for dimension 0 of size 1". For
 *    index and index_put_, the text names a dimension of the caller's tensor: that of the k-th index is item k of the
 *    INT_LIST arguments[1].
 *
 * A kernel that does not support the dtypes or the layout of its operands returns OF_UNSUPPORTED before it has written
 * or submitted anything. The runtime then runs the call on the CPU, as if there were no kernel.
 *
 * Asynchronous work that finds bad data must continue without harm, and keep the first error of its stream for
 * synchronize(). The text of such an error begins with `op`: "index: index 3 is out of range ...". */
typedef of_status (*of_kernel)(const of_kernel_context* context);

/* A kernel with its user pointer, which find_kernel() fills in. */
typedef struct of_kernel_entry {
  uint32_t struct_size; /* sizeof(of_kernel_entry) of the runtime */
  of_kernel function;   /* NULL before the call */
  void* user;           /* passed to `function` in its context; NULL before the call */
} of_kernel_entry;

/* One dimension of a contraction, with its strides in A, B and C, in elements. A stride is 0 if the operand does not
 * have the dimension. */
typedef struct of_contraction_dim {
  int64_t size;
  int64_t stride_a, stride_b, stride_c;
} of_contraction_dim;

/* A contraction: C[batch, m, n] = alpha * sum_k A[batch, m, k] * B[batch, k, n] + bias[n] + beta * C[batch, m, n].
 *
 * Each of batch, m, n and k is a group of any number of dimensions, up to OF_MAX_RANK, and each dimension has any
 * stride in each operand. Transposed and permuted operands, and several contracted dimensions, therefore need no copy.
 * Without k dimensions, C is a batch of outer products. The struct and its arrays are valid until the hook returns. */
typedef struct of_contraction {
  uint32_t struct_size;      /* sizeof(of_contraction) of the runtime */
  of_device device;          /* as in of_kernel_context */
  of_device_stream stream;   /* as in of_kernel_context */
  const of_host_table* host; /* as in of_kernel_context */
  const char* op;            /* as in of_kernel_context */
  of_dtype dtype;            /* the dtype of A, B, C and the bias, a real one */
  of_dtype compute;          /* the dtype that products are accumulated in; sums are rounded to `dtype` once */
  int32_t batch_count, m_count, n_count, k_count; /* the number of dimensions in each group */
  const of_contraction_dim *batch, *m, *n, *k;    /* the dimensions of each group, in any order */
  const void* a;                                  /* the address of the element at index 0 */
  const void* b;                                  /* the address of the element at index 0 */
  void* c;                                        /* the address of the element at index 0 */
  double alpha;
  double beta;         /* 0: C is not read */
  const void* bias;    /* a vector over the n dimensions, of which the last one varies fastest; NULL: none */
  int64_t bias_stride; /* the stride of that vector, in elements */
  int32_t epilogue;    /* reserved for a function to apply to C; 0: none */
  /* Where the device may store a plan for this contraction, which it can reuse in calls that differ only in the
   * addresses a, b, c and bias. *prepared is NULL in the first of these calls and keeps its value between them. Only
   * one thread at a time uses it. The runtime passes it to discard_contraction() in the end. NULL: nothing can be
   * stored. */
  void** prepared;
  uint32_t constant_operands; /* bits for operands whose elements do not change either between the calls with
                                 the same `prepared`, so that the device may keep copies of them there */
} of_contraction;
/* Bits for operands of a contraction. */
enum { OF_CONSTANT_A = 1, OF_CONSTANT_B = 2 };

/* The properties of a device, which get_info() fills in. Unknown values are 0. */
typedef struct of_device_info {
  uint32_t struct_size;   /* sizeof(of_device_info) of the runtime; not to be changed */
  uint32_t compute_units; /* processor cores, multiprocessors or the like */
  char name[128];         /* the name of the hardware, terminated by a zero byte */
  uint64_t total_memory;  /* in bytes */
  uint64_t free_memory;   /* in bytes */
  /* What limits total_memory to less than the hardware has, for error texts: "the control group". NULL: nothing. A
   * plugin that may be loaded by an older runtime sets it only if struct_size has it. */
  const char* limited_by;
} of_device_info;

/* Hooks for devices whose kernels run on processors of the host, and are done when they return. Runs of captured graphs
 * then split chains of elementwise kernels into tiles, so that what one kernel writes is still in a cache when the next
 * one reads it. */
typedef struct of_graph_hooks {
  uint32_t struct_size; /* sizeof(of_graph_hooks) of the plugin */
  uint64_t tile_bytes;  /* about how many bytes of operands the cache of a processor holds */
  /* Calls task(context, i) once for each i with 0 <= i < count, on the calling thread and on others, and returns when
   * all calls have returned. The tasks call kernels. Returns OF_INTERRUPTED if tasks were left out because the calling
   * thread was interrupted. */
  of_status (*run_tasks)(int64_t count, void (*task)(void* context, int64_t index), void* context);
} of_graph_hooks;

/* Communication between devices of several processes, one device per process, which are the ranks of a communicator.
 * Opaque to the runtime. */
typedef struct of_device_communicator_object* of_device_communicator;

enum { OF_DEVICE_COMMUNICATOR_ID_SIZE = 128 };
/* What names a communicator to the processes that open it. One of them makes it, and sends it to the others. */
typedef struct of_device_communicator_id {
  uint8_t bytes[OF_DEVICE_COMMUNICATOR_ID_SIZE];
} of_device_communicator_id;

/* How the elements of all ranks are combined. */
typedef enum of_reduction {
  OF_REDUCTION_SUM = 0,
  OF_REDUCTION_PRODUCT = 1,
  OF_REDUCTION_MIN = 2,
  OF_REDUCTION_MAX = 3,
  OF_REDUCTION_MEAN = 4 /* the sum, divided by the number of ranks */
} of_reduction;

/* Hooks for devices that exchange memory with devices of other processes.
 *
 * The collectives submit work to a stream, the same one for all work of a communicator. All ranks submit the same
 * collectives in the same order; the runtime has compared what they call. Memory is contiguous, that of inputs and
 * outputs does not overlap, and not all counts are 0. One thread at a time calls the hooks of a communicator. None of
 * the hooks but close() waits for another process. */
typedef struct of_communicator_hooks {
  uint32_t struct_size; /* sizeof(of_communicator_hooks) of the plugin */
  /* Returns a text by which processes know that their devices can communicate: "nccl 2.21". Returns NULL, after a call
   * of host->fail(), if a library is missing. */
  const char* (*version)(void);
  /* Sets *identity: a number that no other device has, on this host or another one, and that a device has in all
   * processes. Two ranks that share a device cannot communicate by it. */
  of_status (*identify)(of_device device, uint64_t* identity);
  /* Returns whether the collectives support a reduction of elements of a dtype. The answer is the same in all processes
   * whose version() is the same. */
  bool (*can_reduce)(of_dtype dtype, of_reduction reduction);
  /* Makes the id of a new communicator. */
  of_status (*make_id)(of_device_communicator_id* id);
  /* Begins to open a communicator. poll() tells when that is done. On failure, there is nothing to close. */
  of_status (*open)(of_device device, const of_device_communicator_id* id, uint32_t rank, uint32_t size,
                    of_device_communicator* communicator);
  /* Sets *is_ready: whether the communicator is open, and all work of its collectives is in the stream. Returns an
   * error if the communicator has failed; then only abort() may be called. */
  of_status (*poll)(of_device_communicator communicator, bool* is_ready);
  /* Ends work that is under way, whose results are then undefined, so that the stream goes on. Closes the
   * communicator. */
  void (*abort)(of_device_communicator communicator);
  /* Closes a communicator whose work is done on this rank. Waits a second at most until others have got what was sent
   * to them. */
  void (*close)(of_device_communicator communicator);

  /* Writes the combined elements of all ranks to `output`: on rank `root`, or on all ranks if it is negative. The
   * output of the others is not written, and may be NULL. */
  of_status (*reduce)(of_device_communicator communicator, int32_t root, const void* input, void* output,
                      uint64_t count, of_dtype dtype, of_reduction reduction, of_device_stream stream);
  /* Likewise, of counts[r] elements for rank r, one part after the other in `input`. Each rank gets its part. */
  of_status (*reduce_scatter)(of_device_communicator communicator, const void* input, void* output,
                              const uint64_t* counts, of_dtype dtype, of_reduction reduction, of_device_stream stream);
  /* Writes the memory of all ranks to `output`, one after the other: bytes[r] bytes of rank r. */
  of_status (*all_gather)(of_device_communicator communicator, const void* input, void* output, const uint64_t* bytes,
                          of_device_stream stream);
  /* Copies the `input` of a rank to the `output` of all. The input of the others is NULL. */
  of_status (*broadcast)(of_device_communicator communicator, int32_t root, const void* input, void* output,
                         uint64_t bytes, of_device_stream stream);
  /* Sends sent_bytes[r] bytes at inputs[r] to each rank r, and receives received_bytes[r] bytes at outputs[r] from it.
   * The own rank is one of them. Where the number of bytes is 0, nothing is sent. */
  of_status (*exchange)(of_device_communicator communicator, const void* const* inputs, const uint64_t* sent_bytes,
                        void* const* outputs, const uint64_t* received_bytes, of_device_stream stream);
} of_communicator_hooks;

/* The table of hooks that a plugin provides. */
typedef struct of_device_table {
  uint32_t struct_size; /* sizeof(of_device_table) of the plugin */
  uint32_t api_version; /* OF_DEVICE_API_VERSION of the plugin */

  /* -- identity ---------------------------------------------------------------------------------------------- */
  /* The name of the device type, unique in the process: at most 32 lower-case letters, digits and underscores, the
   * first of which is a letter. */
  const char* name;
  /* Returns the number of devices, at most 1024. Returns 0 if the hardware or its driver is missing, and may then set
   * the reason with host->fail() ("no NVIDIA driver was found; install ..."), which is shown to users who name the
   * device. Called when the plugin is loaded, also on machines without the hardware, where it must not crash. */
  int32_t (*count)(void);
  /* Fills in `info`, all of which is zero before but struct_size. The type of `device` is -1 while the runtime probes
   * the plugin. */
  of_status (*get_info)(of_device device, of_device_info* info);
  /* Whether the host may dereference addresses of the device's memory. */
  bool host_accessible;

  /* -- memory ------------------------------------------------------------------------------------------------
   * The runtime caches memory, and implements limits and statistics. */
  /* Allocates `bytes` bytes, more than 0, of the device's memory, aligned to at least 64 bytes, and sets *memory.
   * Returns OF_OUT_OF_MEMORY if there is not enough: the runtime then frees its cached memory and tries again. Other
   * errors are reported to the caller. */
  of_status (*allocate)(of_device device, uint64_t bytes, void** memory);
  /* Frees memory of allocate(), with the same `bytes`. Submitted work may still use the memory: the hook waits for this
   * work, or frees the memory after it. */
  void (*deallocate)(of_device device, void* memory, uint64_t bytes);

  /* -- copies ------------------------------------------------------------------------------------------------
   * Each hook copies `bytes` bytes, more than 0, between memory that does not overlap, in the order of `stream`. It may
   * return before the copy is done: the runtime waits for the copy before the host's memory is used again. */
  /* Copies from the host's memory to the device's. */
  of_status (*copy_from_host)(of_device device, void* destination, const void* source, uint64_t bytes,
                              of_device_stream stream);
  /* Copies from the device's memory to the host's. */
  of_status (*copy_to_host)(of_device device, void* destination, const void* source, uint64_t bytes,
                            of_device_stream stream);
  /* Copies within the device's memory. If can_access() allows it, `source` may be memory of another device. */
  of_status (*copy_within)(of_device device, void* destination, const void* source, uint64_t bytes,
                           of_device_stream stream);
  /* Sets `bytes` bytes of the device's memory to `value`, in the order of `stream`. */
  of_status (*fill)(of_device device, void* destination, uint8_t value, uint64_t bytes, of_device_stream stream);

  /* -- streams -----------------------------------------------------------------------------------------------
   * (optional; create_stream requires synchronize) For asynchronous devices. Default: `stream` is NULL in all hooks,
   * and the work of each hook must be done when the hook returns. */
  /* Creates a stream of a device. The first one is the device's default stream, which is created when the device is
   * first used, and lives as long as the process. */
  of_status (*create_stream)(of_device device, of_device_stream* stream);
  /* (optional; requires events and query_stream) Destroys a stream, after synchronize(). Events that mark points in it
   * stay valid. Default: programs cannot create streams, so that the device has only its default stream. */
  void (*destroy_stream)(of_device device, of_device_stream stream);
  /* Waits for all work submitted to the stream, and returns its first error, with a complete text that begins with the
   * operator's name: the runtime puts nothing in front of it. The error is reported once; afterwards the stream accepts
   * more work. No other hook returns errors of earlier work. */
  of_status (*synchronize)(of_device device, of_device_stream stream);
  /* Sets *is_done: whether all work submitted to the stream is done. Required with destroy_stream. */
  of_status (*query_stream)(of_device device, of_device_stream stream, bool* is_done);

  /* -- events ------------------------------------------------------------------------------------------------
   * (optional as a group; they require create_stream) For streams to wait for each other. Default: the host waits for
   * the first stream before it submits work to the second one. */
  /* Creates an event, which marks no point yet. `is_timed` says whether elapsed_time() will be asked. */
  of_status (*create_event)(of_device device, bool is_timed, of_device_event* event);
  /* Destroys an event of create_event(). */
  void (*destroy_event)(of_device device, of_device_event event);
  /* Makes the event mark the current end of `stream`, a stream of `device`. An event may be recorded repeatedly; it
   * then marks the last point. */
  of_status (*record_event)(of_device device, of_device_event event, of_device_stream stream);
  /* Makes later work in `stream`, a stream of `device`, wait for the point that the event marks at the time of the
   * call, in a stream of any device of this type. Afterwards the event may be recorded again or destroyed at once. */
  of_status (*wait_event)(of_device device, of_device_event event, of_device_stream stream);
  /* Sets *is_done: whether the work before the point is done. True for an event that marks no point. */
  of_status (*query_event)(of_device device, of_device_event event, bool* is_done);
  /* Waits for the work before the point. Does not report its errors. */
  of_status (*synchronize_event)(of_device device, of_device_event event);
  /* (optional) Sets the time between two points, both reached, of events that are timed. Default: such events cannot be
   * created. */
  of_status (*elapsed_time)(of_device device, of_device_event start, of_device_event end, double* milliseconds);

  /* -- several devices of this type -------------------------------------------------------------------------- */
  /* (optional) Copies `bytes` bytes from one device to another, in the order of `stream`, a stream of the
   * destination. The runtime has ordered it after the work of the source. Default: copy_within() on the destination if
   * it can access the source, else copies through the host's memory. */
  of_status (*copy_peer)(of_device destination_device, void* destination, of_device source_device, const void* source,
                         uint64_t bytes, of_device_stream stream);
  /* (optional) Returns whether kernels and copies of `device` can read and write the memory of `peer`. Default: no. */
  bool (*can_access)(of_device device, of_device peer);

  /* -- page-locked host memory -------------------------------------------------------------------------------
   * (optional as a group) Host memory that the device copies from and to fastest, without the processor. The runtime
   * caches it, and uses it for pin_memory and for copies between devices. If the device has events, the host does not
   * wait for copies from and to this memory. Default: ordinary host memory. */
  /* Allocates page-locked memory; like allocate(). */
  of_status (*allocate_host)(of_device device, uint64_t bytes, void** memory);
  /* Frees memory of allocate_host(). No submitted work uses the memory any more. */
  void (*free_host)(of_device device, void* memory, uint64_t bytes);

  /* -- kernels ----------------------------------------------------------------------------------------------- */
  /* (optional) Fills in the kernel of an operator for `device`; returns OF_UNSUPPORTED if there is none.
   *
   * `name` is the operator's name, with its overload: "add", "max.dim". If the operator's record has one expression per
   * value of an attribute, the value is appended: "gelu:tanh". `kernel_id` identifies the operator's definition:
   * return OF_UNSUPPORTED unless it is that of the definition that the kernel was written for. `compute` is the compute
   * type. For a complex compute type, OF_UNSUPPORTED means that the runtime computes with real and imaginary parts.
   *
   * The runtime caches the answer, OF_UNSUPPORTED included, for the device. Another error makes the call of the
   * operator fail, and the next call asks again. Default: all operators run on the CPU, through copies. */
  of_status (*find_kernel)(of_device device, const char* name, uint64_t kernel_id, of_dtype compute,
                           of_kernel_entry* entry);
  /* (optional) Computes a contraction, or submits it to the stream. Returns OF_UNSUPPORTED, as a kernel does, for
   * contractions that it does not support. Default: contractions run on the CPU through copies, and outer products,
   * those without k dimensions, run as elementwise multiplications, which may be as fast. */
  of_status (*contract)(const of_contraction* contraction);
  /* Frees what contract() has stored at `prepared`. Required if contract() stores anything: without this hook,
   * `prepared` is NULL. */
  void (*discard_contraction)(void* prepared);

  /* -- options -----------------------------------------------------------------------------------------------
   * Options apply to all devices of this type. */
  /* (optional) Sets an option, such as "num_threads". Returns OF_UNSUPPORTED for an unknown name, and
   * OF_INVALID_ARGUMENT for a value out of range. */
  of_status (*set_option)(const char* name, int64_t value);
  /* (optional) Gets the value of an option. Returns OF_UNSUPPORTED for an unknown name. */
  of_status (*get_option)(const char* name, int64_t* value);

  /* -- graphs ------------------------------------------------------------------------------------------------ */
  /* (optional) See of_graph_hooks. Default: the kernels of a graph run one after the other. */
  const of_graph_hooks* graph;

  /* -- several processes ------------------------------------------------------------------------------------- */
  /* (optional; requires destroy_stream) See of_communicator_hooks. Default: collectives between processes go through
   * the host's memory. */
  const of_communicator_hooks* communicator;

  /* -- release ----------------------------------------------------------------------------------------------- */
  /* (optional) The version of the runtime that the plugin is released with, as of_version() returns it: a runtime of
   * another version rejects the plugin. Default: every runtime that accepts `api_version` accepts the plugin. */
  const char* runtime_version;
} of_device_table;

/* The type of the function oneflow_device_plugin() that a plugin exports. */
typedef const of_device_table* (*of_device_plugin_function)(const of_host_table* host);

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_DEVICE_PLUGIN_H_ */
