// What the ONNX library exports; the C API of the main library calls it (capi/onnx.cpp).
#ifndef ONEFLOW_ONNX_ENTRY_H_
#define ONEFLOW_ONNX_ENTRY_H_

#include <oneflow/onnx.h>

// Gets the text of an error.
using of_onnx_report = void (*)(void* context, const char* text);

extern "C" {
// of_onnx_load() with checked arguments, whose error text goes to report(context, text).
of_status of_onnx_library_load(const char* path, const of_onnx_load_options* options, of_graph* result,
                               of_onnx_report report, void* context);
}

#endif  // ONEFLOW_ONNX_ENTRY_H_
