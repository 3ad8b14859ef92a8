/* Sessions: graphs (graph.h) that are prepared for many runs.
 *
 *     of_session session;
 *     of_session_open("model.flow", NULL, &session);
 *     of_value output = {0};
 *     of_session_run(session, &input, 1, &output, 1, NULL);
 *     ... output.as.tensor ...
 *     of_value_release(&output);
 *     of_session_release(session);
 */
#ifndef ONEFLOW_SESSION_H_
#define ONEFLOW_SESSION_H_

#include <oneflow/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A handle to a reference-counted session. Several threads may run it at the same time. */
typedef struct of_session_object* of_session;

/* The options of a session. */
typedef struct of_session_options {
  uint32_t struct_size;
  /* Of of_session_open(): see of_graph_load_options. */
  bool verify;
  bool share;
} of_session_options;
/* Prepares a graph. `options` may be NULL. */
OF_API of_status of_session_create(of_graph graph, const of_session_options* options, of_session* result);
/* Loads a graph and prepares it. */
OF_API of_status of_session_open(const char* path, const of_session_options* options, of_session* result);
/* Adds a reference to a session and returns the session. NULL is allowed. */
OF_API of_session of_session_retain(of_session session);
/* Releases a reference to a session. NULL is allowed. */
OF_API void of_session_release(of_session session);
/* Returns the graph of a session, which keeps its reference; NULL for NULL. */
OF_API of_graph of_session_graph(of_session session);

/* Limits the memory that a run may take, in bytes: for intermediate results and for outputs that it allocates, without
 * inputs, constants, and what devices keep of constants. A run that needs more fails with OF_OUT_OF_MEMORY. 0 removes
 * the limit. */
OF_API of_status of_session_set_memory_limit(of_session session, uint64_t bytes);
/* Makes the next runs as fast as later ones: runs the graph with inputs of zeros, which plans its memory, takes it, and
 * rearranges constants. `sizes` are the named sizes in the order of the graph; NULL: those of the example that the
 * graph was captured with. */
OF_API of_status of_session_warm_up(of_session session, const int64_t* sizes, uint64_t count);

/* The state of a session. */
typedef struct of_session_info {
  uint32_t struct_size;
  uint32_t plan_count;   /* for how many layouts of inputs runs are planned; 0: operators are called one by one */
  uint64_t memory_limit; /* 0: none */
  uint64_t memory; /* the bytes of intermediate results, by the plan that was used last; one thread takes so many */
} of_session_info;
/* Fills in `info`, whose struct_size must be set. */
OF_API of_status of_session_get_info(of_session session, of_session_info* info);

/* The options of a run. */
typedef struct of_run_options {
  uint32_t struct_size;
  uint32_t reserved;      /* unused */
  of_generator generator; /* from which random operators draw; NULL: the default generator */
} of_run_options;
/* Runs the graph. `inputs` and `outputs` are in the order of the graph. An output that is ABSENT is allocated, and
 * belongs to the caller, who releases it with of_value_release(); one that is a TENSOR is written to. Inputs are not
 * changed. `options` may be NULL. */
OF_API of_status of_session_run(of_session session, const of_tensor* inputs, size_t input_count, of_value* outputs,
                                size_t output_count, const of_run_options* options);

/* Receives the end of of_session_run_async() on a thread of the library: its status and, unless that is OF_OK, the
 * error text, which is valid until the function returns. */
typedef void (*of_run_callback)(void* context, of_status status, const char* error);
/* Runs the graph on another thread, with the calling thread's default device, generator and streams, and then calls
 * `callback`. The inputs, and the tensors among the outputs, are kept until then; `outputs` must exist until then, and
 * the process must not end before. A failure that is returned calls nothing. */
OF_API of_status of_session_run_async(of_session session, const of_tensor* inputs, size_t input_count,
                                      of_value* outputs, size_t output_count, const of_run_options* options,
                                      of_run_callback callback, void* context);

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_SESSION_H_ */
