/* The device plugin table: what a backend gives the runtime. The table is the documentation;
 * docs/guides/add-a-device.md walks through tests/accelerator, a whole device in one file.
 *
 * A plugin is a shared library that includes this header only and exports one function,
 *
 *     const of_device_table* oneflow_device_plugin(const of_host_table* host);
 *
 * which returns a table that lives as long as the process, or NULL with host->fail() called. The built-in CPU backend
 * answers through the same table. Hooks are called from any thread, several at once. A hook marked (optional) may be
 * NULL; the text says what the runtime does instead. Failing hooks return a status and put a text with host->fail().
 *
 * An of_device that a hook gets has the index of one of the plugin's own devices, and the number that the runtime gave
 * to the plugin's type: there to be handed back to the functions of of_host_table.
 */
#ifndef ONEFLOW_DEVICE_PLUGIN_H_
#define ONEFLOW_DEVICE_PLUGIN_H_

#include <oneflow/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when the meaning of an existing hook changes. Hooks are only ever appended, which struct_size tells. */
#define OF_DEVICE_API_VERSION 1

/* Opaque to the runtime: whatever the device calls a queue of work and a point in it. */
typedef struct of_stream_object* of_stream;
typedef struct of_event_object* of_event;

/* What the runtime gives a plugin. Its functions may be called from any thread, but not with a lock held that a hook
 * takes: they may call allocate and deallocate. */
typedef struct of_host_table {
  uint32_t struct_size;
  uint32_t api_version;
  /* Sets the calling thread's error text and returns status. */
  of_status (*fail)(of_status status, const char* text);
  /* Scratch memory of the device, from the runtime's cache: at least 64-byte aligned. Released memory is given out
   * again at once, for work that is submitted later to the device's stream: release it when the work that uses it has
   * been submitted. A failure has its text set. */
  of_status (*allocate)(of_device device, uint64_t bytes, void** memory);
  void (*release)(of_device device, void* memory, uint64_t bytes);
  /* The device is gone for good (a sticky error of its driver, say): from now on every call on it is a DeviceError with
   * this text, and no hook is called for it any more, deallocate and free_host included. Other devices work on. */
  void (*lost)(of_device device, const char* text);
} of_host_table;

/* One operand of a kernel. */
typedef struct of_kernel_tensor {
  void* data;     /* the first element (not the lowest address, with negative strides); NULL for a scalar operand */
  of_dtype dtype; /* a real one: of complex tensors devices see the parts */
  int32_t rank;
  const int64_t* sizes;
  const int64_t* strides; /* in elements; 0 where broadcast */
  of_scalar scalar;       /* the value of an operand that is a number rather than a tensor (data is NULL, rank 0) */
} of_kernel_tensor;

/* Everything that a kernel sees. Sizes and dtypes were checked and results allocated before. What this points to ends
 * when the kernel returns, but for the memory of tensors, which is good for all work submitted by then. */
typedef struct of_kernel_context {
  uint32_t struct_size;
  of_device device;
  of_stream stream;
  const of_host_table* host;
  const char* op;      /* the name of the operator that was called, for errors that are found later; lives for ever */
  int32_t input_count; /* tensor operands in the order of the signature; lists are flattened; an absent optional
                          tensor is a scalar operand of kind BOOL */
  int32_t output_count;
  const of_kernel_tensor* inputs;
  const of_kernel_tensor* outputs;
  const of_value* arguments; /* all arguments in the order of the signature, defaults filled in, dims made
                                non-negative, numbers as BOOL, INT or FLOAT */
  int32_t argument_count;
  of_dtype compute; /* the type to compute in, from the record's dtype rule */
  uint32_t reduced; /* reduction, scan: bit d says that dimension d of inputs[0] is folded (scanned) */
  uint64_t seed;    /* random operators: the reserved part of the sequence, Philox 4x32-10 */
  uint64_t offset;
} of_kernel_context;

/* A kernel computes all elements of the outputs. What the operand shapes mean depends on the operator's kind:
 *  - elementwise, generator: all operands share the iteration space (outputs[0].rank and .sizes), broadcast by zero
 *    strides and already collapsed to the fewest dimensions, the fastest-varying last. A generator's outputs are not
 *    collapsed: its index is that of the logical tensor.
 *  - reduction: inputs[0] has rank and sizes of the iteration space, with neighbouring dimensions of one kind merged
 *    where their strides allow; `reduced` marks the folded ones. Kept dimensions may be permuted, folded ones keep
 *    their order, so that the position of an element in them is that of the logical tensor. The outputs have the same
 *    rank, with size 1 and stride 0 in folded dimensions.
 *  - scan: as reduction, with exactly one dimension marked, and outputs of the input's sizes.
 *  - gather: operands as the caller passed them.
 *  - native: six operators, each with operands of its own (cat, stack, reshape and the like are copies, which `copy`
 *    makes):
 *      nonzero      inputs {input}, outputs {int64 [count, rank]}: `count` is exact.
 *      sort, topk   inputs {input}, outputs {values, int64 indices}, of any strides; the dimension is in arguments.
 *      randperm     outputs {[n]}; n random numbers are reserved.
 *      index        inputs {input, index...}, outputs {result}: `input` has its n indexed dimensions first, the n
 *                   indices are int64 or int32 and share one shape, the result has that shape followed by the other
 *                   dimensions of `input`. Negative positions count from the end. compute is the type of `input`.
 *      index_put_   inputs {target, index..., values}, outputs {target}: as index, with values in the place of the
 *                   result. arguments[3] says whether to add.
 *    A position outside of its dimension is OF_INDEX_OUT_OF_RANGE "index 3 is out of range for dimension 0 of size 1";
 *    for index and index_put_ the dimension of the caller's tensor that operand k stands for is member k of the
 *    INT_LIST arguments[1].
 * A kernel that cannot do what it is asked for (a dtype, a layout) answers OF_UNSUPPORTED before it has done anything:
 * the call then goes over the host, as if there were no kernel.
 *
 * Texts that kernels leave begin without the operator's name, which the runtime puts in front. Asynchronous work that
 * finds bad data goes on without harm and leaves the first error for `synchronize`, whose text begins with `op`:
 * "index: index 3 is out of range ...".
 */
typedef of_status (*of_kernel)(const of_kernel_context* context);

/* C[batch, m, n] = alpha * sum_k A[batch, m, k] * B[batch, k, n] + beta * C. Every group of dimensions is a list with
 * one stride per operand, so that transposes, permutes and several contracted dimensions cost no copy. */
typedef struct of_contraction_dim {
  int64_t size;
  int64_t stride_a, stride_b, stride_c; /* in elements; 0 where the operand lacks the dimension */
} of_contraction_dim;

typedef struct of_contraction {
  uint32_t struct_size;
  of_device device;
  of_stream stream;
  const of_host_table* host;
  const char* op;   /* as in of_kernel_context */
  of_dtype dtype;   /* of A, B and C */
  of_dtype compute; /* what to accumulate in */
  int32_t batch_count, m_count, n_count, k_count;
  const of_contraction_dim *batch, *m, *n, *k;
  const void* a;
  const void* b;
  void* c;
  double alpha;
  double beta;      /* 0: C is not read */
  const void* bias; /* along n with bias_stride, added after alpha; NULL: none */
  int64_t bias_stride;
  int32_t epilogue; /* 0: none; others later */
  /* A place for what the device works out about this contraction, whatever its addresses (a, b, c, bias): NULL in the
   * first of many calls, used by one thread at a time, given to discard_contraction() in the end. NULL: there is none.
   */
  void** prepared;
} of_contraction;

typedef struct of_device_info {
  char name[128];
  uint64_t total_memory;
  uint64_t free_memory;
  uint32_t compute_units;
} of_device_info;

typedef struct of_device_table {
  uint32_t struct_size;
  uint32_t api_version; /* OF_DEVICE_API_VERSION */

  /* -- identity ---------------------------------------------------------------------------------------------- */
  const char* name; /* the device type: a short lower-case word, unique in the process */
  /* How many devices there are, at most 1024; 0 where the hardware or its driver is missing. It may then leave the
   * reason with host->fail ("no NVIDIA driver was found; install ..."), for whoever names this type. Must not crash. */
  int32_t (*count)(void);
  of_status (*get_info)(of_device device, of_device_info* info);
  /* Whether the host may dereference the device's memory. */
  bool host_accessible;

  /* -- raw memory: the runtime caches -------------------------------------------------------------------------- */
  /* At least 64-byte aligned. OF_OUT_OF_MEMORY when there is none: the runtime then gives back what it keeps, and asks
   * again. Other failures go to the caller. */
  of_status (*allocate)(of_device device, uint64_t bytes, void** memory);
  /* Work that was submitted before may still use the memory: the hook waits for it, or frees behind it. */
  void (*deallocate)(of_device device, void* memory, uint64_t bytes);

  /* -- copies: ordered within `stream`. Those from and to the host may return before they are done: the runtime waits
   *    for the stream before it touches the host's memory. ------------------------------------------------------- */
  of_status (*copy_from_host)(of_device device, void* destination, const void* source, uint64_t bytes,
                              of_stream stream);
  of_status (*copy_to_host)(of_device device, void* destination, const void* source, uint64_t bytes, of_stream stream);
  of_status (*copy_within)(of_device device, void* destination, const void* source, uint64_t bytes, of_stream stream);
  /* Sets bytes. */
  of_status (*fill)(of_device device, void* destination, uint8_t value, uint64_t bytes, of_stream stream);

  /* -- streams (optional as a group). Default: one stream, NULL, on which everything is done when the hook returns. --
   */
  /* Called once per device, when it is first used: all its work goes through one stream, which lives as long as the
   * process. */
  of_status (*create_stream)(of_device device, of_stream* stream);
  /* Waits, reports the first error that the work before this point left, and forgets it: the stream is good for more
   * work. The text is complete, operator's name included: the runtime puts nothing in front. No other hook reports
   * errors of earlier work. */
  of_status (*synchronize)(of_device device, of_stream stream);

  /* -- events (optional as a group, with streams): points in a stream, for order between devices of this type.
   *    Default: the host waits for one stream before it submits to the other. ------------------------------------ */
  of_status (*create_event)(of_device device, of_event* event);
  void (*destroy_event)(of_device device, of_event event);
  /* Marks the point where the stream of `device` is. An event may be recorded again; the last point counts. */
  of_status (*record_event)(of_device device, of_event event, of_stream stream);
  /* Later work in the stream of `device` waits for the point that `event` marks now, in a stream of any device of this
   * type. The event may be recorded again, or destroyed, as soon as this returns. */
  of_status (*wait_event)(of_device device, of_event event, of_stream stream);

  /* -- several devices of this type ------------------------------------------------------------------------------ */
  /* (optional) Copies from one device to another, ordered within `stream`, which is the destination's; the runtime
   * orders it with the source's stream by events. Default: copy_within on the destination where it can access the
   * source, else through the host. */
  of_status (*copy_peer)(of_device destination_device, void* destination, of_device source_device, const void* source,
                         uint64_t bytes, of_stream stream);
  /* (optional) Whether kernels and copies of `device` may read and write the memory of `peer`. Default: they may not.
   */
  bool (*can_access)(of_device device, of_device peer);

  /* -- page-locked host memory (optional as a group): what the device copies fastest, and without the processor.
   *    Default: ordinary host memory. The runtime caches it; OF_OUT_OF_MEMORY as for allocate. ------------------- */
  of_status (*allocate_host)(of_device device, uint64_t bytes, void** memory);
  void (*free_host)(of_device device, void* memory, uint64_t bytes);

  /* -- kernels --------------------------------------------------------------------------------------------------- */
  /* (optional) The kernel for an operator, or NULL. `name` is the operator's name, with the value of the attribute
   * that the record matches on appended where it does ("gelu", "gelu:tanh"). A plugin that was generated from another
   * definition (another schema_hash) must answer NULL. Called once per (operator, dtypes, device type); the answer is
   * kept. For a complex compute type NULL means that the runtime computes with the parts. Default: every operator runs
   * on the CPU through copies. */
  of_kernel (*find_kernel)(const char* name, uint64_t schema_hash, of_dtype compute);
  /* (optional) OF_UNSUPPORTED as from a kernel. Default: contractions run on the CPU through copies, and those without
   * k, products of all with all, by the elementwise kernel, which may well be as fast. */
  of_status (*contract)(const of_contraction* contraction);
  /* Needed where contract() leaves something at `prepared`. */
  void (*discard_contraction)(void* prepared);

  /* -- settings, for all devices of this type --------------------------------------------------------------------- */
  /* (optional) "num_threads" and the like; OF_UNSUPPORTED for names that the device does not know. */
  of_status (*set_option)(const char* name, int64_t value);
  of_status (*get_option)(const char* name, int64_t* value);
} of_device_table;

typedef const of_device_table* (*of_device_plugin_function)(const of_host_table* host);

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_DEVICE_PLUGIN_H_ */
