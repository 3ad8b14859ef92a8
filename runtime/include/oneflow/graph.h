/* Graphs: programs that are captured once, with the tensors that they use, and run again and again (session.h).
 *
 *     of_capture capture;
 *     of_capture_create(inputs, input_count, &options, &capture);
 *     for (bool goes_on; of_capture_begin(capture, tensors, &goes_on) == OF_OK && goes_on;) {
 *       ... the program computes outputs from `tensors` ...
 *       of_capture_end(capture, outputs, output_count);
 *     }
 *     of_capture_finish(capture, &graph);
 *     of_capture_release(capture);
 *     of_graph_save(graph, "model.flow");
 *
 * While a program is captured, its calls are recorded, and compute nothing but shapes and dtypes. A program whose sizes
 * vary runs several times with different ones: what does not vary with them is the graph, and integers that do must
 * follow from sizes. A program that takes another path for other sizes cannot be captured.
 */
#ifndef ONEFLOW_GRAPH_H_
#define ONEFLOW_GRAPH_H_

#include <oneflow/files.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- capture */

/* A handle to a capture, whose runs must all be on one thread. */
typedef struct of_capture_object* of_capture;

/* A handle to a reference-counted graph, which does not change. Its functions are thread-safe. */
typedef struct of_graph_object* of_graph;

/* A size of the inputs that varies from run to run. */
typedef struct of_named_size {
  const char* name;         /* a word of letters, digits and _ */
  int64_t minimum, maximum; /* inclusive; the example must be within, `step` steps apart from the minimum */
  int64_t step;
} of_named_size;

/* A dimension of an input that has a named size. */
typedef struct of_named_dimension {
  uint64_t input; /* the number of the tensor among those of the inputs */
  int32_t dim;
  int32_t size; /* the number of the named size */
} of_named_dimension;

/* The options of of_capture_create(). */
typedef struct of_capture_options {
  uint32_t struct_size;
  const of_named_size* sizes;
  uint64_t size_count;
  const of_named_dimension* dimensions;
  uint64_t dimension_count;
  const char* note; /* what users should know of the graph's sizes: see of_graph_info. NULL: nothing */
} of_capture_options;
/* Starts the capture of a program with example inputs, which are nested data of `count` nodes. Their elements are not
 * read. Without options (NULL), all sizes are fixed. */
OF_API of_status of_capture_create(const of_file_node* inputs, uint64_t count, const of_capture_options* options,
                                   of_capture* result);
/* Releases a capture. NULL is allowed. */
OF_API void of_capture_release(of_capture capture);
/* Names a tensor that the program uses, a weight for example. Others are named `constant`, with a number. */
OF_API of_status of_capture_name(of_capture capture, of_tensor tensor, const char* name);
/* Starts a run on the calling thread, and stores a tensor for each one of the inputs, in their order. If no further run
 * is needed, `has_begun` is false, and nothing is stored. */
OF_API of_status of_capture_begin(of_capture capture, of_tensor* inputs, bool* has_begun);
/* Pauses the recording of a run, or continues it. While it is paused, calls whose operands have elements compute, and
 * what they return are constants of the graph. */
OF_API of_status of_capture_pause(of_capture capture, bool paused);
/* Limits what calls of a run may allocate from now on, in bytes, until its end, or until the limit is UINT64_MAX: a
 * call above it fails with OF_OUT_OF_MEMORY. Stores what they have allocated since the last limit, if not NULL. */
OF_API of_status of_capture_limit(of_capture capture, uint64_t bytes, uint64_t* allocated);
/* Ends a run with what the program has returned: nested data of `count` nodes. */
OF_API of_status of_capture_end(of_capture capture, const of_file_node* outputs, uint64_t count);
/* Ends a run whose program has failed. */
OF_API of_status of_capture_cancel(of_capture capture);

/* What the calls of a thread are recorded in while a program is captured. */
typedef struct of_recording_object* of_recording;
/* Returns the recording of the calling thread, borrowed from its capture; NULL if there is none. */
OF_API of_recording of_recording_current(void);
/* Makes the calls of this thread part of a recording, of which of_recording_current() has returned the handle on this
 * thread, and whose capture exists; NULL: of none. It is for languages in which several programs take turns on a
 * thread, as fibers do: each has its own recording, and the front end sets it when another one continues. */
OF_API void of_recording_set_current(of_recording recording);
/* Makes the graph of the runs. Tensors to which the program writes, of its inputs or others, are copied at the
 * beginning of each run of the graph, and are outputs of it, after those that the program has returned. */
OF_API of_status of_capture_finish(of_capture capture, of_graph* result);

/* ---------------------------------------------------------------- graphs */

/* Adds a reference to a graph and returns the graph. NULL is allowed. */
OF_API of_graph of_graph_retain(of_graph graph);
/* Releases a reference to a graph. NULL is allowed. */
OF_API void of_graph_release(of_graph graph);

/* The properties of a graph. All pointers are valid as long as the graph. */
typedef struct of_graph_info {
  uint32_t struct_size;
  bool draws_numbers;   /* whether it has random operators */
  bool has_collectives; /* whether its calls wait for other processes */
  uint64_t input_count, output_count, constant_count, call_count, size_count;
  const of_named_size* sizes;
  const char* text;                     /* the canonical text of the program, a line per call */
  uint64_t value_count, returned_count; /* all values; the outputs before those of tensors that the program writes to */
  /* What users should know of its sizes, such as that loading an ONNX model has fixed one; "" for most graphs. Errors
   * about sizes of inputs say it. Files do not keep it. */
  const char* note;
} of_graph_info;
/* Gets the properties of a graph. */
OF_API of_status of_graph_get_info(of_graph graph, of_graph_info* info);

/* Which values of a graph. */
typedef enum of_graph_part { OF_GRAPH_INPUT = 0, OF_GRAPH_OUTPUT = 1, OF_GRAPH_CONSTANT = 2 } of_graph_part;

/* An input, an output or a constant of a graph. All pointers are valid as long as the graph. */
typedef struct of_graph_value {
  uint32_t struct_size;
  of_dtype dtype;
  const char* name;
  of_device device;
  int32_t rank;
  const int64_t* sizes;          /* -1 for those that vary */
  const char* const* size_texts; /* how each follows from named sizes: "64", "batch", "(time + 1)/2"; "?" if unknown */
  int32_t id;                    /* the number of the value in the graph: see of_graph_value_by_id() */
  const struct of_graph_integer* integers; /* the sizes, as they follow from others; from themselves if unknown */
} of_graph_value;
/* Gets a value by its position among those of its part. */
OF_API of_status of_graph_value_at(of_graph graph, of_graph_part part, uint64_t position, of_graph_value* value);
/* Gets a constant. A write to the tensor does not reach the graph: it copies the elements first. */
OF_API of_status of_graph_constant(of_graph graph, uint64_t position, of_tensor* tensor);
/* Gets how the inputs or the outputs are nested: nodes that are valid as long as the graph, whose entries are
 * positions. Outputs for tensors that the program writes to are not among them. */
OF_API of_status of_graph_get_nodes(of_graph graph, of_graph_part part, const of_file_node** nodes, uint64_t* count);

/* ---------------------------------------------------------------- the calls of a graph */

/* A size that integers follow from: that of dimension `number` of a value or, if `value` is -1, a named size. */
typedef struct of_graph_atom {
  int32_t value;
  int32_t number;
} of_graph_atom;

/* A product of sizes and a factor. */
typedef struct of_graph_term {
  int64_t factor;
  const of_graph_atom* atoms;
  uint64_t atom_count;
} of_graph_term;

/* An integer: the floor of (constant + the sum of the terms) / divisor. Without terms it is `constant`. */
typedef struct of_graph_integer {
  int64_t constant;
  const of_graph_term* terms;
  uint64_t term_count;
  int64_t divisor;
} of_graph_integer;

/* An argument of a call: like an of_value, with numbers of values in place of tensors. */
typedef struct of_graph_argument {
  int32_t kind;  /* an of_value_kind, but never ABSENT or GENERATOR */
  int32_t count; /* the number of items of a list, or of bytes of a string; otherwise 1 */
  union {
    bool boolean;
    uint64_t natural;
    double real;
    const char* string;
    of_dtype dtype;
    const of_device* devices;         /* of a DEVICE or a DEVICE_LIST */
    const of_graph_integer* integers; /* of an INT or an INT_LIST */
    const int32_t* values;            /* of a TENSOR or a TENSOR_LIST; -1 for an item that is missing */
  } as;
} of_graph_argument;

/* A call of an operator. All pointers are valid as long as the graph. */
typedef struct of_graph_call {
  uint32_t struct_size;
  int32_t argument_count; /* that of the operator's signature */
  of_op op;
  const of_graph_argument* arguments;
  const int32_t* results; /* the numbers of values */
  uint64_t result_count;
  bool gives_results; /* whether the results are values that exist already, to which the call writes */
  bool writes;        /* whether it writes to these, or to operands */
  /* Each argument as the text of the graph has it; NULL for one that has its default, which the text leaves out. */
  const char* const* argument_texts;
  const int32_t* written; /* the numbers of the values to which it writes */
  uint64_t written_count;
} of_graph_call;
/* Gets a call by its position. Calls are in the order in which they run. */
OF_API of_status of_graph_call_at(of_graph graph, uint64_t position, of_graph_call* call);
/* Gets a value by its number, which is below `value_count`. Its name is empty unless it is an input or a constant. */
OF_API of_status of_graph_value_by_id(of_graph graph, int32_t id, of_graph_value* value);
/* Makes a graph in which composite operators, except those of `kept`, are replaced by the calls of their bodies. */
OF_API of_status of_graph_expand(of_graph graph, const of_op* kept, uint64_t kept_count, of_graph* result);

/* ---------------------------------------------------------------- files */

/* Saves a graph to a file, which appears complete or not at all: a safetensors file whose tensors are the constants. */
OF_API of_status of_graph_save(of_graph graph, const char* path);
/* The options of of_graph_load(). */
typedef struct of_graph_load_options {
  uint32_t struct_size;
  bool verify; /* compares the constants with their checksum */
  bool share;  /* lets constants on the host share the memory of the file: see of_read_options */
} of_graph_load_options;
/* Loads a graph. `options` may be NULL. */
OF_API of_status of_graph_load(const char* path, const of_graph_load_options* options, of_graph* result);

/* ---------------------------------------------------------------- passes */

/* A step that makes a graph smaller or faster. */
typedef struct of_pass {
  const char* name;
  const char* summary;
  int32_t level; /* from which level on it runs */
  double error;  /* the largest relative error that one of its changes causes; 0 if results stay the same */
} of_pass;
/* Gets all passes, in the order in which they run. */
OF_API of_status of_graph_passes(const of_pass** passes, uint64_t* count);

/* The right side of a rule. `inputs` are what the inputs of the left side stand for: tensors of the graph's constants,
 * and for others tensors without elements, from which calls of operators compute `*output`. They are borrowed. For
 * sizes that vary, it is called several times with different ones. If the rule does not apply, `*output` stays NULL. A
 * failure ends the optimization. */
typedef of_status (*of_rule_function)(void* user, const of_tensor* inputs, uint64_t input_count, of_tensor* output);

/* Calls of a graph that are replaced by others. */
typedef struct of_rule {
  const char* name;
  of_graph left;                /* what is searched for: a graph whose inputs stand for any tensors */
  const char* const* constants; /* the names of inputs that must be constants */
  uint64_t constant_count;
  of_rule_function right;
  void* user;   /* for `right` */
  double error; /* the largest relative error; 0 for none: then numbers must be equal, and not only nearly equal */
} of_rule;

/* The options of of_graph_optimize(). */
typedef struct of_optimize_options {
  uint32_t struct_size;
  int32_t level;              /* 0: removes calls; 1: also changes that give the same bits; 2: also those that round */
  const char* const* without; /* the names of passes that do not run */
  uint64_t without_count;
  bool measure;            /* whether the graph runs before and after each pass to measure errors */
  const of_tensor* inputs; /* of these runs; without inputs (NULL) they are random */
  uint64_t input_count;
  const of_rule* rules; /* which are applied before the passes */
  uint64_t rule_count;
  bool only_rules; /* whether no passes run */
  const char*
      weights; /* "float16" or "bfloat16": large constants are stored as such, and converted in each run; or NULL */
} of_optimize_options;

/* What a pass has done. */
typedef struct of_pass_report {
  const char* name;
  int64_t changes;
  int64_t calls_before, calls_after;
  double error; /* measured: the largest difference of an output, divided by its largest element; NaN if unknown */
} of_pass_report;

/* A handle to what the passes have done. */
typedef struct of_report_object* of_report;
/* Makes another graph that computes the same, up to rounding, with fewer or faster calls. Without options (NULL), the
 * level is 2, and errors are measured. `report` may be NULL. */
OF_API of_status of_graph_optimize(of_graph graph, const of_optimize_options* options, of_graph* result,
                                   of_report* report);
/* All pointers are valid as long as the report. */
typedef struct of_report_info {
  uint32_t struct_size;
  const of_pass_report* passes; /* those that have changed something, in the order of their first change */
  uint64_t pass_count;
  double error;     /* of all together, measured; NaN if unknown */
  const char* text; /* a table */
} of_report_info;
/* Gets the contents of a report. */
OF_API of_status of_report_get_info(of_report report, of_report_info* info);
/* Releases a report. NULL is allowed. */
OF_API void of_report_release(of_report report);

/* ---------------------------------------------------------------- cost and picture */

/* The cost of a run: what it computes, reads, writes and keeps in memory. Opaque. */
typedef struct of_cost_object* of_cost;

/* A value of a named size. */
typedef struct of_size_value {
  const char* name;
  int64_t value;
} of_size_value;
/* Finds the cost of a run from shapes alone; nothing is computed. There must be a value for each named size. */
OF_API of_status of_graph_get_cost(of_graph graph, const of_size_value* sizes, uint64_t count, of_cost* result);
/* Frees a cost. NULL is allowed. */
OF_API void of_cost_release(of_cost cost);

/* The cost of all calls.
 *
 * A contraction counts 2 operations for each combination of indices of all labels; expressions of elements, and those
 * that a reduction combines them with, count one per operator or function and element; composites count what their
 * bodies do. Native operators, views and other moves of elements count none.
 *
 * Each call reads its operands once and writes its results once; views read and write nothing. Composites do what their
 * bodies do, unless the device has a kernel for all of one. */
typedef struct of_cost_info {
  uint32_t struct_size;
  uint32_t reserved; /* 0 */
  double operations;
  uint64_t bytes_read, bytes_written;
  uint64_t constant_bytes;
  uint64_t peak_bytes; /* the most bytes of values that exist at a time, without inputs and constants */
  uint64_t operator_count;
  const char* table; /* readable: a line per operator, then the totals; valid as long as the cost */
} of_cost_info;
/* Gets the cost of all calls. */
OF_API of_status of_cost_get_info(of_cost cost, of_cost_info* info);

/* The cost of the calls of one operator. */
typedef struct of_operator_cost {
  uint32_t struct_size;
  uint32_t reserved; /* 0 */
  const char* name;  /* with the overload: "max.dim" */
  uint64_t calls;
  double operations;
  uint64_t bytes_read, bytes_written;
} of_operator_cost;
/* Gets the cost of an operator by its position: the one with the most operations comes first, then the one with the
 * most bytes. */
OF_API of_status of_cost_at(of_cost cost, uint64_t position, of_operator_cost* entry);

/* Draws a graph as an SVG image, from top to bottom: a box for each call, with its constants and the arguments that are
 * not the defaults, and lines for the values between them. The same graph always gives the same text. Free it with
 * of_free(). A library of its own draws, liboneflow_draw.so in the folder of this one, which the first call loads;
 * fails with OF_UNSUPPORTED without it. */
OF_API of_status of_graph_picture(of_graph graph, char** text);

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_GRAPH_H_ */
