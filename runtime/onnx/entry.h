// What the ONNX library exports; the C API of the main library calls it (capi/onnx.cpp).
#ifndef ONEFLOW_ONNX_ENTRY_H_
#define ONEFLOW_ONNX_ENTRY_H_

#include <oneflow/onnx.h>

#include "side/entry.h"

// Appends bytes to the model's file, or to that of its external data.
using of_onnx_write = of_status (*)(void* context, bool is_external, const void* data, uint64_t bytes);

extern "C" {
// of_onnx_load() with checked arguments, whose error text goes to report(context, text).
of_status of_onnx_library_load(const char* path, const of_onnx_load_options* options, of_graph* result,
                               of_side_report report, void* context);
// of_onnx_save() with checked arguments. `location` is the name of the file for external data.
of_status of_onnx_library_save(of_graph graph, const of_onnx_save_options* options, const char* location,
                               of_onnx_write write, void* write_context, of_side_report report, void* context);
}

#endif  // ONEFLOW_ONNX_ENTRY_H_
