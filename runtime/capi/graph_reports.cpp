// The C API: the cost and the picture of a graph.
#include <oneflow/graph.h>

#include "capi/boundary.h"
#include "capi/side_library.h"
#include "draw/entry.h"
#include "graph/graph.h"
#include "graph/report/cost.h"

using namespace oneflow;
using namespace oneflow::graph;

namespace {

constinit SideLibrary library("draw", "the drawing library");

const Cost& require_cost(of_cost handle, const char* function) {
  require(handle, function, "cost");
  return *to_cost(handle);
}

}  // namespace

of_status of_graph_get_cost(of_graph graph, const of_size_value* sizes, uint64_t count, of_cost* result) {
  return guard([&, function = __func__] {
    require(graph, function, "graph");
    if (count) require(sizes, function, "sizes");
    for (uint64_t i = 0; i < count; ++i) require(sizes[i].name, function, "a size's name");
    require(result, function, "result");
    *result = named("cost", [&] { return new Cost(cost_of(to_graph(graph)->program(), {sizes, count})); });
  });
}

void of_cost_release(of_cost cost) {
  if (cost) delete to_cost(cost);
}

of_status of_cost_get_info(of_cost cost, of_cost_info* info) {
  return guard([&, function = __func__] {
    const Cost& found = require_cost(cost, function);
    of_cost_info result{};
    result.operations = found.total.operations;
    result.bytes_read = found.total.bytes_read;
    result.bytes_written = found.total.bytes_written;
    result.constant_bytes = found.constant_bytes;
    result.peak_bytes = found.peak_bytes;
    result.operator_count = found.operators.size();
    result.table = found.table.c_str();
    write_struct(info, result, function, "info");
  });
}

of_status of_cost_at(of_cost cost, uint64_t position, of_operator_cost* entry) {
  return guard([&, function = __func__] {
    const Cost& found = require_cost(cost, function);
    if (position >= found.operators.size())
      fail(OF_INDEX_OUT_OF_RANGE, "%s: position must be below %zu, got %lu", function, found.operators.size(),
           position);
    const OperatorCost& each = found.operators[position];
    of_operator_cost result{};
    result.name = each.op->schema().name;
    result.calls = each.calls;
    result.operations = each.work.operations;
    result.bytes_read = each.work.bytes_read;
    result.bytes_written = each.work.bytes_written;
    write_struct(entry, result, function, "entry");
  });
}

of_status of_graph_picture(of_graph graph, char** text) {
  return guard([&, function = __func__] {
    require(graph, function, "graph");
    require(text, function, "text");
    const auto draw = library.function<decltype(of_draw_library_graph)>("of_draw_library_graph");
    const of_draw_receive receive = [](void* context, const char* image) {
      return guard([&] { store_text(image, static_cast<char**>(context)); });
    };
    call_side(draw, graph, receive, static_cast<void*>(text));
  });
}
