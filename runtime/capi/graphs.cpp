// The C API: captures, graphs and sessions.
#include <oneflow/session.h>

#include <memory>
#include <system_error>
#include <thread>

#include "base/characters.h"
#include "capi/boundary.h"
#include "dispatch/dispatch.h"
#include "dispatch/thread_context.h"
#include "files/names.h"
#include "graph/capture/capture.h"
#include "graph/capture/expand.h"
#include "graph/graph.h"
#include "graph/program/file.h"
#include "graph/report/listing.h"
#include "graph/session/session.h"

using namespace oneflow;
using namespace oneflow::graph;

namespace {

constinit const OperatorName kLazyClone("lazy_clone");

Capture& require_capture(of_capture handle, const char* function) {
  require(handle, function, "capture");
  return *to_capture(handle);
}

const Graph& require_graph(of_graph handle, const char* function) {
  require(handle, function, "graph");
  return *to_graph(handle);
}

Ref<Graph> load_graph(const char* path, bool verify, bool share) {
  return named("load", [&] { return Graph::of_checked(load(path, verify, share)); });
}

// Returns the tensors of nodes.
std::vector<TensorRef> tensors_of(std::span<const of_file_node> nodes) {
  std::vector<TensorRef> tensors;
  for (const of_file_node& node : nodes) {
    if (node.kind != OF_NODE_TENSOR) continue;
    if (!node.as.tensor) fail(OF_INVALID_ARGUMENT, "a tensor must not be NULL");
    tensors.push_back(share(*to_tensor(node.as.tensor)));
  }
  return tensors;
}

// Returns the named sizes of the options, with their values in the examples, and sets those of the inputs.
std::vector<NamedSize> named_sizes(const of_capture_options& options, std::vector<ExampleInput>& inputs) {
  std::vector<NamedSize> sizes;
  for (const of_named_size& size : std::span(options.sizes, options.size_count)) {
    if (!size.name) fail(OF_INVALID_ARGUMENT, "the name of a size must not be NULL");
    sizes.push_back({size.name, -1, size.minimum, size.maximum, size.step});
  }
  for (const of_named_dimension& dimension : std::span(options.dimensions, options.dimension_count)) {
    if (dimension.size < 0 || static_cast<size_t>(dimension.size) >= sizes.size())
      fail(OF_INDEX_OUT_OF_RANGE, "there is no size number %d", dimension.size);
    if (dimension.input >= inputs.size()) fail(OF_INDEX_OUT_OF_RANGE, "there is no input number %lu", dimension.input);
    NamedSize& size = sizes[static_cast<size_t>(dimension.size)];
    ExampleInput& input = inputs[dimension.input];
    const int rank = input.example->rank();
    if (dimension.dim < -rank || dimension.dim >= rank)
      fail(OF_INDEX_OUT_OF_RANGE, "input '%s' has no dimension %d for size '%s': its shape is %s",
           printable(input.name).c_str(), dimension.dim, printable(size.name).c_str(),
           to_text(input.example->sizes()).c_str());
    const int dim = dimension.dim < 0 ? dimension.dim + rank : dimension.dim;
    input.named_sizes.resize(static_cast<size_t>(rank), -1);
    input.named_sizes[static_cast<size_t>(dim)] = dimension.size;
    if (size.example < 0) size.example = input.example->size(dim);
  }
  for (const NamedSize& size : sizes)
    if (size.example < 0) fail(OF_INVALID_ARGUMENT, "no input has the size '%s'", printable(size.name).c_str());
  return sizes;
}

std::span<const of_file_node> nodes_of(const of_file_node* nodes, uint64_t count, const char* function,
                                       const char* argument) {
  if (count) require(nodes, function, argument);
  return {nodes, count};
}

}  // namespace

of_status of_capture_create(const of_file_node* inputs, uint64_t count, const of_capture_options* options,
                            of_capture* result) {
  return guard([&, function = __func__] {
    const auto nodes = nodes_of(inputs, count, function, "inputs");
    require(result, function, "result");
    const of_capture_options given = options ? read_struct(options, function, "options") : of_capture_options{};
    if (given.size_count) require(given.sizes, function, "sizes");
    if (given.dimension_count) require(given.dimensions, function, "dimensions");
    *result = named("capture", [&]() -> of_capture {
      files::Flattened flat = files::flatten(nodes);
      const std::vector<TensorRef> tensors = tensors_of(nodes);
      std::vector<ExampleInput> examples;
      for (size_t i = 0; i < tensors.size(); ++i) examples.push_back({std::move(flat.names[i]), tensors[i], {}});
      std::vector<NamedSize> sizes = named_sizes(given, examples);
      return new Capture(std::move(examples), std::move(flat.structure), std::move(sizes), {},
                         given.note ? given.note : "");
    });
  });
}

void of_capture_release(of_capture capture) {
  if (capture) delete to_capture(capture);
}

of_status of_capture_name(of_capture capture, of_tensor tensor, const char* name) {
  return guard([&, function = __func__] {
    Capture& found = require_capture(capture, function);
    const Tensor& constant = require_tensor(tensor, function);
    require(name, function, "name");
    named("capture", [&] {
      files::check_name("a name", name);
      found.name(constant, name);
    });
  });
}

of_status of_capture_begin(of_capture capture, of_tensor* inputs, bool* has_begun) {
  return guard([&, function = __func__] {
    Capture& found = require_capture(capture, function);
    require(has_begun, function, "has_begun");
    auto tensors = named("capture", [&] { return found.begin(); });
    *has_begun = tensors.has_value();
    if (!tensors || tensors->empty()) return;
    require(inputs, function, "inputs");
    for (size_t i = 0; i < tensors->size(); ++i) inputs[i] = to_handle((*tensors)[i].detach());
  });
}

of_status of_capture_end(of_capture capture, const of_file_node* outputs, uint64_t count) {
  return guard([&, function = __func__] {
    Capture& found = require_capture(capture, function);
    const auto nodes = nodes_of(outputs, count, function, "outputs");
    named("capture", [&] {
      files::Flattened flat = files::flatten(nodes);
      found.end(std::move(flat.names), tensors_of(nodes), std::move(flat.structure));
    });
  });
}

of_status of_capture_pause(of_capture capture, bool paused) {
  return guard([&, function = __func__] {
    Capture& found = require_capture(capture, function);
    named("capture", [&] { found.pause(paused); });
  });
}

of_status of_capture_limit(of_capture capture, uint64_t bytes, uint64_t* allocated) {
  return guard([&, function = __func__] {
    Capture& found = require_capture(capture, function);
    const uint64_t before = named("capture", [&] { return found.limit(bytes); });
    if (allocated) *allocated = before;
  });
}

of_status of_capture_cancel(of_capture capture) {
  return guard([&, function = __func__] { require_capture(capture, function).cancel(); });
}

of_recording of_recording_current(void) { return reinterpret_cast<of_recording>(current_recording()); }

void of_recording_set_current(of_recording recording) {
  set_current_recording(reinterpret_cast<Recording*>(recording));
}

of_status of_capture_finish(of_capture capture, of_graph* result) {
  return guard([&, function = __func__] {
    Capture& found = require_capture(capture, function);
    require(result, function, "result");
    *result = named("capture", [&] { return Graph::create(found.finish()); }).detach();
  });
}

of_graph of_graph_retain(of_graph graph) {
  if (graph) to_graph(graph)->retain();
  return graph;
}

void of_graph_release(of_graph graph) {
  if (graph) to_graph(graph)->release();
}

of_status of_graph_get_info(of_graph graph, of_graph_info* info) {
  return guard([&, function = __func__] {
    const Graph& found = require_graph(graph, function);
    const Program& program = found.program();
    of_graph_info result{};
    result.draws_numbers = found.description().draws_numbers;
    result.has_collectives = found.description().has_collectives;
    result.input_count = program.inputs.size();
    result.output_count = program.outputs.size();
    result.constant_count = program.constants.size();
    result.call_count = program.nodes.size();
    result.size_count = program.sizes.size();
    result.sizes = found.description().sizes.data();
    result.value_count = program.values.size();
    result.returned_count = program.returned;
    result.text = found.description().text.c_str();
    result.note = program.note.c_str();
    write_struct(info, result, function, "info");
  });
}

of_status of_graph_value_at(of_graph graph, of_graph_part part, uint64_t position, of_graph_value* value) {
  return guard([&, function = __func__] {
    const Graph& found = require_graph(graph, function);
    if (part < OF_GRAPH_INPUT || part > OF_GRAPH_CONSTANT)
      fail(OF_INVALID_ARGUMENT, "%s: there is no part number %d", function, static_cast<int>(part));
    const std::vector<ValueDescription>& values = found.description().parts[part];
    if (position >= values.size())
      fail(OF_INDEX_OUT_OF_RANGE, "%s: position must be below %zu, got %lu", function, values.size(), position);
    const ValueDescription& described = values[position];
    of_graph_value result{};
    result.dtype = described.value->dtype;
    result.name = described.name.c_str();
    result.device = described.value->device;
    result.rank = described.sizes.rank();
    result.sizes = described.sizes.data();
    result.size_texts = described.size_pointers.data();
    result.id = described.id;
    result.integers = found.listing().values()[index(described.id)].integers;
    write_struct(value, result, function, "value");
  });
}

of_status of_graph_constant(of_graph graph, uint64_t position, of_tensor* tensor) {
  return guard([&, function = __func__] {
    const std::vector<Constant>& constants = require_graph(graph, function).program().constants;
    require(tensor, function, "tensor");
    if (position >= constants.size())
      fail(OF_INDEX_OUT_OF_RANGE, "%s: position must be below %zu, got %lu", function, constants.size(), position);
    *tensor = to_handle(call_operator(kLazyClone, *constants[position].tensor).detach());
  });
}

of_status of_graph_get_nodes(of_graph graph, of_graph_part part, const of_file_node** nodes, uint64_t* count) {
  return guard([&, function = __func__] {
    const Description& description = require_graph(graph, function).description();
    require(nodes, function, "nodes");
    require(count, function, "count");
    if (part != OF_GRAPH_INPUT && part != OF_GRAPH_OUTPUT)
      fail(OF_INVALID_ARGUMENT, "%s: part must be that of inputs or outputs", function);
    const auto& found = (part == OF_GRAPH_INPUT ? description.inputs : description.outputs)->nodes();
    *nodes = found.data();
    *count = found.size();
  });
}

of_status of_graph_call_at(of_graph graph, uint64_t position, of_graph_call* call) {
  return guard([&, function = __func__] {
    const std::vector<of_graph_call>& calls = require_graph(graph, function).listing().calls();
    if (position >= calls.size())
      fail(OF_INDEX_OUT_OF_RANGE, "%s: position must be below %zu, got %lu", function, calls.size(), position);
    write_struct(call, calls[position], function, "call");
  });
}

of_status of_graph_value_by_id(of_graph graph, int32_t id, of_graph_value* value) {
  return guard([&, function = __func__] {
    const std::vector<of_graph_value>& values = require_graph(graph, function).listing().values();
    if (id < 0 || index(id) >= values.size())
      fail(OF_INDEX_OUT_OF_RANGE, "%s: id must be between 0 and %zu, got %d", function, values.size() - 1, id);
    write_struct(value, values[index(id)], function, "value");
  });
}

of_status of_graph_expand(of_graph graph, const of_op* kept, uint64_t kept_count, of_graph* result) {
  return guard([&, function = __func__] {
    const Graph& found = require_graph(graph, function);
    if (kept_count) require(kept, function, "kept");
    for (uint64_t i = 0; i < kept_count; ++i) require(kept[i], function, "an operator");
    require(result, function, "result");
    std::set<const Operator*> operators;
    for (uint64_t i = 0; i < kept_count; ++i) operators.insert(to_operator(kept[i]));
    *result = named("expand", [&] { return Graph::create(expand(found.program(), std::move(operators))); }).detach();
  });
}

of_status of_graph_save(of_graph graph, const char* path) {
  return guard([&, function = __func__] {
    const Graph& found = require_graph(graph, function);
    require(path, function, "path");
    named("save", [&] { save(found.program(), path); });
  });
}

of_status of_graph_load(const char* path, const of_graph_load_options* options, of_graph* result) {
  return guard([&, function = __func__] {
    require(path, function, "path");
    const of_graph_load_options given = options ? read_struct(options, function, "options") : of_graph_load_options{};
    require(result, function, "result");
    *result = load_graph(path, given.verify, given.share).detach();
  });
}

of_status of_session_create(of_graph graph, const of_session_options* options, of_session* result) {
  return guard([&, function = __func__] {
    require_graph(graph, function);
    if (options) read_struct(options, function, "options");
    require(result, function, "result");
    *result = Session::create(Ref<Graph>::share(to_graph(graph))).detach();
  });
}

of_status of_session_open(const char* path, const of_session_options* options, of_session* result) {
  return guard([&, function = __func__] {
    require(path, function, "path");
    const of_session_options given = options ? read_struct(options, function, "options") : of_session_options{};
    require(result, function, "result");
    *result = Session::create(load_graph(path, given.verify, given.share)).detach();
  });
}

of_session of_session_retain(of_session session) {
  if (session) to_session(session)->retain();
  return session;
}

void of_session_release(of_session session) {
  if (session) to_session(session)->release();
}

of_status of_session_set_memory_limit(of_session session, uint64_t bytes) {
  return guard([&, function = __func__] {
    require(session, function, "session");
    to_session(session)->set_memory_limit(bytes);
  });
}

of_status of_session_warm_up(of_session session, const int64_t* sizes, uint64_t count) {
  return guard([&, function = __func__] {
    require(session, function, "session");
    if (count) require(sizes, function, "sizes");
    named("warm_up", [&] { to_session(session)->warm_up({sizes, count}); });
  });
}

of_status of_session_get_info(of_session session, of_session_info* info) {
  return guard([&, function = __func__] {
    require(session, function, "session");
    write_struct(info, to_session(session)->info(), function, "info");
  });
}

of_graph of_session_graph(of_session session) {
  return session ? const_cast<Graph*>(&to_session(session)->graph()) : nullptr;
}

of_status of_session_run(of_session session, const of_tensor* inputs, size_t input_count, of_value* outputs,
                         size_t output_count, const of_run_options* options) {
  return guard([&, function = __func__] {
    require(session, function, "session");
    if (input_count) require(inputs, function, "inputs");
    if (output_count) require(outputs, function, "outputs");
    const of_run_options given = options ? read_struct(options, function, "options") : of_run_options{};
    named("run", [&] { to_session(session)->run({inputs, input_count}, {outputs, output_count}, given.generator); });
  });
}

namespace {

// A run on a thread of its own, with what it needs until its end.
class AsyncRun {
 public:
  AsyncRun(of_session session, std::span<const of_tensor> inputs, std::span<of_value> outputs, of_generator generator,
           of_run_callback callback, void* context)
      : session_(Ref<Session>::share(to_session(session))),
        inputs_(inputs.begin(), inputs.end()),
        outputs_(outputs),
        generator_(Ref<Generator>::share(to_generator(generator))),
        callback_(callback),
        context_(context) {
    const auto keep = [&](of_tensor tensor) {
      if (tensor) kept_.push_back(share(*to_tensor(tensor)));
    };
    for (const of_tensor input : inputs) keep(input);
    for (const of_value& output : outputs)
      if (output.kind == OF_VALUE_TENSOR) keep(output.as.tensor);
  }

  void operator()() const {
    thread_context_.apply();
    const of_status status =
        guard([&] { named("run", [&] { session_->run(inputs_, outputs_, to_handle(generator_.get())); }); });
    callback_(context_, status, status == OF_OK ? "" : last_error());
  }

 private:
  const ThreadContext thread_context_ = ThreadContext::current();
  const Ref<Session> session_;
  const std::vector<of_tensor> inputs_;
  const std::span<of_value> outputs_;
  const Ref<Generator> generator_;
  const of_run_callback callback_;
  void* const context_;
  std::vector<TensorRef> kept_;
};

}  // namespace

of_status of_session_run_async(of_session session, const of_tensor* inputs, size_t input_count, of_value* outputs,
                               size_t output_count, const of_run_options* options, of_run_callback callback,
                               void* context) {
  return guard([&, function = __func__] {
    require(session, function, "session");
    if (input_count) require(inputs, function, "inputs");
    if (output_count) require(outputs, function, "outputs");
    if (!callback) fail(OF_INVALID_ARGUMENT, "%s: callback must not be NULL", function);
    const of_run_options given = options ? read_struct(options, function, "options") : of_run_options{};
    auto run = std::make_shared<const AsyncRun>(session, std::span(inputs, input_count),
                                                std::span(outputs, output_count), given.generator, callback, context);
    try {
      std::thread([run = std::move(run)]() mutable {
        (*run)();
        run.reset();
      }).detach();
    } catch (const std::system_error&) {
      fail(OF_OUT_OF_MEMORY, "%s: the system starts no thread", function);
    }
  });
}
