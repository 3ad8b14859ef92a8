#include "draw/entry.h"

#include "draw/graph_picture.h"
#include "side/report_errors.h"

__attribute__((visibility("default"))) of_status of_draw_library_graph(of_graph graph, of_draw_receive receive,
                                                                       void* receive_context, of_side_report report,
                                                                       void* context) {
  return oneflow::report_errors(report, context, [&] {
    const std::string image = oneflow::draw::graph_picture(oneflow::Graph(of_graph_retain(graph)));
    oneflow::check(receive(receive_context, image.c_str()));
  });
}
