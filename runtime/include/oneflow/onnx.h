/* ONNX models as graphs (graph.h), and graphs as ONNX models.
 *
 *     of_graph graph;
 *     of_onnx_load("model.onnx", NULL, &graph);
 *     of_onnx_save(graph, "copy.onnx", NULL);
 *
 * A library of its own, liboneflow_onnx.so in the folder of this one, reads and writes the format. It is loaded by the
 * first call.
 */
#ifndef ONEFLOW_ONNX_H_
#define ONEFLOW_ONNX_H_

#include <oneflow/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A size that is equal to another one, both by their names. */
typedef struct of_equal_sizes {
  const char* name;
  const char* other;
} of_equal_sizes;

/* The options of of_onnx_load(). */
typedef struct of_onnx_load_options {
  uint32_t struct_size;
  /* What is known of sizes that the model leaves open, by their names: "batch", or "x_0" for dimension 0 of an input x
   * where the model has no name. If the minimum is the maximum, the size is fixed. */
  const of_named_size* sizes;
  uint64_t size_count;
  /* Inputs of the model that become constants of the graph. */
  const char* const* value_names;
  const of_tensor* values;
  uint64_t value_count;
  /* Sizes that are equal to others, under whose names the graph has them. */
  const of_equal_sizes* equal_sizes;
  uint64_t equal_size_count;
} of_onnx_load_options;
/* Loads an ONNX model, opsets 11 to 22 and most operators of others, as a graph. Its inputs and constants have the
 * model's names, and so have its outputs, if there are several. Sizes that the model leaves open vary; where it works
 * only for multiples of a number, their steps say so, and where it works for a single value of one, that one is fixed,
 * and the note of the graph says so.
 * Fails with OF_UNSUPPORTED for operators that are not there, with their names, and for what depends on elements that
 * are known only when the graph runs. `options` may be NULL. */
OF_API of_status of_onnx_load(const char* path, const of_onnx_load_options* options, of_graph* result);

/* The options of of_onnx_save(). */
typedef struct of_onnx_save_options {
  uint32_t struct_size;
  int64_t opset; /* between 11 and 22; 0: 17 */
  /* Constants of at least this many bytes go to a file beside the model, with its name and ".data". 0: those of at
   * least 1024 bytes, if the model would be too large for one file, of 2 GiB. */
  uint64_t external_bytes;
} of_onnx_save_options;
/* Saves a graph as an ONNX model, which appears complete or not at all. Inputs, outputs and constants keep their names,
 * and sizes that vary are named. Fails with OF_UNSUPPORTED for calls that ONNX cannot express in the opset, with all of
 * them, and why. Random operators draw other numbers than ours. `options` may be NULL. */
OF_API of_status of_onnx_save(of_graph graph, const char* path, const of_onnx_save_options* options);

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_ONNX_H_ */
