// What the drawing library exports; the C API of the main library calls it (capi/graph_reports.cpp).
#ifndef ONEFLOW_DRAW_ENTRY_H_
#define ONEFLOW_DRAW_ENTRY_H_

#include <oneflow/graph.h>

#include "side/entry.h"

// Gets a drawing: the text of an SVG image.
using of_draw_receive = of_status (*)(void* context, const char* image);

extern "C" {
// of_graph_picture() with checked arguments.
of_status of_draw_library_graph(of_graph graph, of_draw_receive receive, void* receive_context, of_side_report report,
                                void* context);
}

#endif  // ONEFLOW_DRAW_ENTRY_H_
