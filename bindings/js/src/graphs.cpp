// Graphs. JavaScript holds a capture, and a graph with the session that runs it, as external values.
#include <oneflow/onnx.h>
#include <oneflow/session.h>

#include <deque>
#include <optional>
#include <span>

#include "nodes.h"
#include "task.h"

namespace oneflow::node {
namespace {

struct Releaser {
  void operator()(of_capture capture) const { of_capture_release(capture); }
  void operator()(of_session session) const { of_session_release(session); }
  void operator()(of_graph graph) const { of_graph_release(graph); }
  void operator()(of_cost cost) const { of_cost_release(cost); }
};
template <class Object>
using Owned = std::unique_ptr<Object, Releaser>;

// ---------------------------------------------------------------- capture

struct Capture {
  Owned<of_capture_object> handle;
  size_t input_count = 0;
};
void delete_capture(Capture* capture) { delete capture; }

Capture& capture_of(const Call& call) { return *call.external<Capture>(0); }

// Returns the sizes of these names. `ranges` has the minimum, the maximum or -1, and the step of each.
std::vector<of_named_size> named_sizes(const std::vector<std::string>& names, const std::vector<int64_t>& ranges) {
  std::vector<of_named_size> sizes;
  for (size_t i = 0; i < names.size(); ++i) {
    const int64_t maximum = ranges[3 * i + 1];
    sizes.push_back({names[i].c_str(), ranges[3 * i], maximum < 0 ? INT64_MAX : maximum, ranges[3 * i + 2]});
  }
  return sizes;
}

// startCapture(kinds, counts, keys, slots, names, ranges, dimensions, ...keepAlive): returns a capture, whose sizes are
// those of named_sizes(). A dimension has the numbers of its input, of itself and of its size.
Napi::Value start_capture(const Call& call) {
  Nodes nodes;
  nodes.read(call, 0, false);
  const std::vector<std::string> names = call.strings(4);
  const std::vector<int64_t> places = call.integers(6);
  const std::vector<of_named_size> sizes = named_sizes(names, call.integers(5));
  std::vector<of_named_dimension> dimensions;
  for (size_t i = 0; i + 2 < places.size(); i += 3) {
    dimensions.push_back(
        {static_cast<uint64_t>(places[i]), static_cast<int32_t>(places[i + 1]), static_cast<int32_t>(places[i + 2])});
  }
  of_capture_options options{};
  options.struct_size = sizeof(options);
  options.sizes = sizes.data();
  options.size_count = sizes.size();
  options.dimensions = dimensions.data();
  options.dimension_count = dimensions.size();
  auto capture = std::make_unique<Capture>();
  of_capture handle = nullptr;
  call.check(of_capture_create(nodes.data(), nodes.size(), &options, &handle));
  capture->handle.reset(handle);
  for (const of_file_node& node : nodes.items()) capture->input_count += node.kind == OF_NODE_TENSOR;
  return owner_of<delete_capture>(call.environment(), capture.release());
}

// beginRun(capture): returns the slots of the inputs of the next run; null if no further run is needed.
Napi::Value begin_run(const Call& call) {
  const Capture& capture = capture_of(call);
  std::vector<of_tensor> tensors(capture.input_count);
  bool has_begun = false;
  call.check(of_capture_begin(capture.handle.get(), tensors.data(), &has_begun));
  if (!has_begun) return call.Env().Null();
  return array_of(call.Env(), tensors.size(), [&](size_t i) { return call.environment().put(tensors[i]); });
}

// endRun(capture, kinds, counts, keys, slots, ...keepAlive)
void end_run(const Call& call) {
  Nodes nodes;
  nodes.read(call, 1, false);
  call.check(of_capture_end(capture_of(call).handle.get(), nodes.data(), nodes.size()));
}

// ---------------------------------------------------------------- graphs

void release_session(of_session_object* session) { of_session_release(session); }

of_session session_of(const Call& call) { return call.external<of_session_object>(0); }
of_graph graph_of(const Call& call) { return of_session_graph(session_of(call)); }

of_graph_info info_of(const Call& call) {
  of_graph_info info{};
  info.struct_size = sizeof(info);
  call.check(of_graph_get_info(graph_of(call), &info));
  return info;
}

// Returns a value that owns a session.
Napi::Value session_to_js(Environment& environment, Owned<of_session_object> session) {
  return owner_of<release_session>(environment, session.release());
}

// Creates the session of a new graph, whose reference it takes.
of_status open_session(of_graph graph, Owned<of_session_object>& result) {
  const Owned<of_graph_object> owned(graph);
  of_session session = nullptr;
  const of_status status = of_session_create(graph, nullptr, &session);
  result.reset(session);
  return status;
}

// finishCapture(capture): returns a graph.
Napi::Value finish_capture(const Call& call) {
  of_graph graph = nullptr;
  call.check(of_capture_finish(capture_of(call).handle.get(), &graph));
  Owned<of_session_object> session;
  call.check(open_session(graph, session));
  return session_to_js(call.environment(), std::move(session));
}

class LoadTask : public Task {
 public:
  explicit LoadTask(const Call& call) : path_(call.string(0)), verify_(call.boolean(1)), share_(call.boolean(2)) {}

  of_status run() override {
    of_session_options options{};
    options.struct_size = sizeof(options);
    options.verify = verify_;
    options.share = share_;
    of_session session = nullptr;
    const of_status status = of_session_open(path_.c_str(), &options, &session);
    session_.reset(session);
    return status;
  }
  Napi::Value finish(Environment& environment) override { return session_to_js(environment, std::move(session_)); }

 private:
  const std::string path_;
  const bool verify_, share_;
  Owned<of_session_object> session_;
};

class LoadOnnxTask : public Task {
 public:
  // Copies the arguments (path, names of sizes, their ranges, names of sizes and of those that they are equal to, names
  // of inputs, slots of their values). Later writes to the values do not reach the graph.
  explicit LoadOnnxTask(const Call& call)
      : path_(call.string(0)),
        size_names_(call.strings(1)),
        ranges_(call.integers(2)),
        equal_names_(call.strings(3)),
        value_names_(call.strings(4)) {
    for (const int64_t slot : call.integers(5))
      call.check(values_.emplace_back().snapshot(call.environment().get(slot)));
  }

  of_status run() override {
    const std::vector<of_named_size> sizes = named_sizes(size_names_, ranges_);
    std::vector<const char*> names;
    std::vector<of_tensor> tensors;
    for (size_t i = 0; i < values_.size(); ++i) {
      names.push_back(value_names_[i].c_str());
      tensors.push_back(values_[i].get());
    }
    std::vector<of_equal_sizes> equal;
    for (size_t i = 0; i + 1 < equal_names_.size(); i += 2)
      equal.push_back({equal_names_[i].c_str(), equal_names_[i + 1].c_str()});
    of_onnx_load_options options{};
    options.struct_size = sizeof(options);
    options.equal_sizes = equal.data();
    options.equal_size_count = equal.size();
    options.sizes = sizes.data();
    options.size_count = sizes.size();
    options.value_names = names.data();
    options.values = tensors.data();
    options.value_count = values_.size();
    of_graph graph = nullptr;
    const of_status status = of_onnx_load(path_.c_str(), &options, &graph);
    return status == OF_OK ? open_session(graph, session_) : status;
  }
  Napi::Value finish(Environment& environment) override { return session_to_js(environment, std::move(session_)); }

 private:
  const std::string path_;
  const std::vector<std::string> size_names_;
  const std::vector<int64_t> ranges_;
  const std::vector<std::string> equal_names_;
  const std::vector<std::string> value_names_;
  std::vector<Held> values_;
  Owned<of_session_object> session_;
};

class WarmUpTask : public Task {
 public:
  // Takes the arguments (graph, sizes).
  explicit WarmUpTask(const Call& call) : session_(of_session_retain(session_of(call))), sizes_(call.integers(1)) {}

  of_status run() override { return of_session_warm_up(session_.get(), sizes_.data(), sizes_.size()); }
  Napi::Value finish(Environment& environment) override { return environment.env().Undefined(); }

 private:
  const Owned<of_session_object> session_;
  const std::vector<int64_t> sizes_;
};

// sessionInfo(graph): returns [memory, memoryLimit].
Napi::Value session_info(const Call& call) {
  of_session_info info{};
  info.struct_size = sizeof(info);
  call.check(of_session_get_info(session_of(call), &info));
  const Napi::Array result = Napi::Array::New(call.Env());
  result.Set(0U, Napi::Number::New(call.Env(), static_cast<double>(info.memory)));
  result.Set(1U, Napi::Number::New(call.Env(), static_cast<double>(info.memory_limit)));
  return result;
}

class SaveGraphTask : public Task {
 public:
  explicit SaveGraphTask(const Call& call) : session_(of_session_retain(session_of(call))), path_(call.string(1)) {}

  of_status run() override { return of_graph_save(of_session_graph(session_.get()), path_.c_str()); }
  Napi::Value finish(Environment& environment) override { return environment.env().Undefined(); }

 private:
  const Owned<of_session_object> session_;
  const std::string path_;
};

class SaveOnnxTask : public Task {
 public:
  // Copies the arguments (graph, path, [opset, external bytes]).
  explicit SaveOnnxTask(const Call& call) : session_(of_session_retain(session_of(call))), path_(call.string(1)) {
    const std::vector<int64_t> numbers = call.integers(2);
    options_.struct_size = sizeof(options_);
    options_.opset = numbers[0];
    options_.external_bytes = static_cast<uint64_t>(numbers[1]);
  }

  of_status run() override { return of_onnx_save(of_session_graph(session_.get()), path_.c_str(), &options_); }
  Napi::Value finish(Environment& environment) override { return environment.env().Undefined(); }

 private:
  const Owned<of_session_object> session_;
  const std::string path_;
  of_onnx_save_options options_{};
};

class RunTask : public Task {
 public:
  // Copies the arguments (graph, slots, slot of a generator or 0). With `snapshot`, later writes to the tensors do not
  // reach the run.
  RunTask(const Call& call, bool snapshot)
      : session_(of_session_retain(session_of(call))), generator_(of_generator_retain(call.generator(2))) {
    for (const int64_t slot : call.integers(1)) {
      of_tensor tensor = call.environment().get(slot);
      if (snapshot) {
        call.check(of_tensor_lazy_clone(tensor, &tensor));
      } else {
        of_tensor_retain(tensor);
      }
      inputs_.push_back(tensor);
    }
    outputs_.resize(info_of(call).output_count);
  }
  ~RunTask() override {
    for (of_tensor tensor : inputs_) of_tensor_release(tensor);
    for (of_value& output : outputs_) of_value_release(&output);
    of_generator_release(generator_);
  }

  of_status run() override {
    of_run_options options{};
    options.struct_size = sizeof(options);
    options.generator = generator_;
    return of_session_run(session_.get(), inputs_.data(), inputs_.size(), outputs_.data(), outputs_.size(), &options);
  }
  // Returns the slots of the outputs.
  Napi::Value finish(Environment& environment) override {
    return array_of(environment.env(), outputs_.size(), [&](size_t i) {
      const of_tensor tensor = outputs_[i].as.tensor;
      outputs_[i] = {};
      return environment.put(tensor);
    });
  }

 private:
  const Owned<of_session_object> session_;
  const of_generator generator_;
  std::vector<of_tensor> inputs_;
  std::vector<of_value> outputs_;
};

// A rule of the program: {name, left, constants, right, error}, whose right side takes slots and returns one, or 0.
struct Rule {
  Rule(const Napi::Object& object, Environment* environment)
      : name(object.Get("name").As<Napi::String>()),
        left(of_session_graph(object.Get("left").As<Napi::External<of_session_object>>().Data())),
        right(object.Get("right").As<Napi::Function>()),
        error(object.Get("error").As<Napi::Number>()),
        environment(environment) {
    const auto list = object.Get("constants").As<Napi::Array>();
    for (uint32_t i = 0; i < list.Length(); ++i) names.push_back(list.Get(i).As<Napi::String>());
    for (const std::string& each : names) constants.push_back(each.c_str());
  }
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;

  of_rule describe() { return {name.c_str(), left, constants.data(), constants.size(), run, this, error}; }

  static of_status run(void* user, const of_tensor* inputs, uint64_t count, of_tensor* output) {
    Rule& rule = *static_cast<Rule*>(user);
    const Napi::HandleScope scope(rule.right.Env());
    try {
      const auto slots = array_of(rule.right.Env(), count,
                                  [&](size_t i) { return rule.environment->put(of_tensor_retain(inputs[i])); });
      const int64_t slot = rule.right.Call({slots}).As<Napi::Number>();
      if (of_tensor found = rule.environment->get(slot)) *output = of_tensor_retain(found);
      return OF_OK;
    } catch (const Napi::Error& error) {
      rule.thrown.emplace(error);
      return of_fail(OF_INTERNAL_ERROR, "the right side of a rule has thrown");
    }
  }

  const std::string name;
  const of_graph left;
  std::vector<std::string> names;
  std::vector<const char*> constants;
  const Napi::Function right;
  const double error;
  Environment* const environment;
  std::optional<Napi::Error> thrown;
};

class OptimizeTask : public Task {
 public:
  // Copies the arguments: graph, level, names of passes, whether errors are measured, slots of inputs, rules, whether
  // only these run, the dtype of weights or an empty string. On another thread there are no rules.
  explicit OptimizeTask(const Call& call)
      : session_(of_session_retain(session_of(call))), without_(call.strings(2)), weights_(call.string(7)) {
    options_.struct_size = sizeof(options_);
    options_.level = static_cast<int32_t>(call.integer(1));
    options_.measure = call.boolean(3);
    options_.only_rules = call.boolean(6);
    if (!weights_.empty()) options_.weights = weights_.c_str();
    for (const int64_t slot : call.integers(4)) inputs_.push_back(of_tensor_retain(call.environment().get(slot)));
    const auto list = call[5].As<Napi::Array>();
    for (uint32_t i = 0; i < list.Length(); ++i)
      described_.push_back(rules_.emplace_back(list.Get(i).As<Napi::Object>(), &call.environment()).describe());
    options_.rules = described_.data();
    options_.rule_count = described_.size();
  }
  // Throws what the right side of a rule has thrown.
  void rethrow() const {
    for (const Rule& rule : rules_)
      if (rule.thrown) throw *rule.thrown;
  }
  ~OptimizeTask() override {
    for (of_tensor tensor : inputs_) of_tensor_release(tensor);
    of_report_release(report_);
  }

  of_status run() override {
    std::vector<const char*> names;
    for (const std::string& name : without_) names.push_back(name.c_str());
    options_.without = names.data();
    options_.without_count = names.size();
    options_.inputs = inputs_.data();
    options_.input_count = inputs_.size();
    of_graph graph = nullptr;
    const of_status status = of_graph_optimize(of_session_graph(session_.get()), &options_, &graph, &report_);
    return status == OF_OK ? open_session(graph, optimized_) : status;
  }
  // Returns {handle, passes, error, table}.
  Napi::Value finish(Environment& environment) override {
    const Napi::Env env = environment.env();
    of_report_info info{};
    info.struct_size = sizeof(info);
    of_report_get_info(report_, &info);
    auto object = Napi::Object::New(env);
    object.Set("handle", session_to_js(environment, std::move(optimized_)));
    object.Set("passes", array_of(env, info.pass_count, [&](size_t i) {
                 const of_pass_report& pass = info.passes[i];
                 auto row = Napi::Object::New(env);
                 row.Set("name", pass.name);
                 row.Set("changes", static_cast<double>(pass.changes));
                 row.Set("callsBefore", static_cast<double>(pass.calls_before));
                 row.Set("callsAfter", static_cast<double>(pass.calls_after));
                 row.Set("error", pass.error);
                 return row;
               }));
    object.Set("error", info.error);
    object.Set("table", info.text);
    return object;
  }

 private:
  const Owned<of_session_object> session_;
  const std::vector<std::string> without_;
  const std::string weights_;
  std::vector<of_tensor> inputs_;
  std::deque<Rule> rules_;
  std::vector<of_rule> described_;
  of_optimize_options options_{};
  Owned<of_session_object> optimized_;
  of_report report_ = nullptr;
};

// optimizeGraph(graph, level, names, measure, slots, rules, only rules, weights, ...keepAlive): returns {handle,
// passes, error, table}; optimizeGraphAsync(), which takes no rules, returns a promise.
template <bool is_async>
Napi::Value optimize_graph(const Call& call) {
  auto task = std::make_unique<OptimizeTask>(call);
  if (is_async) return run_task<true>(call, std::move(task));
  const of_status status = task->run();
  task->rethrow();
  call.check(status);
  return task->finish(call.environment());
}

// graphPasses(): returns an array of {name, summary, level, error}.
Napi::Value graph_passes(const Call& call) {
  const Napi::Env env = call.Env();
  const of_pass* passes = nullptr;
  uint64_t count = 0;
  call.check(of_graph_passes(&passes, &count));
  return array_of(env, count, [&](size_t i) {
    auto object = Napi::Object::New(env);
    object.Set("name", passes[i].name);
    object.Set("summary", passes[i].summary);
    object.Set("level", passes[i].level);
    object.Set("error", passes[i].error);
    return object;
  });
}

// loadGraph(path, verify, share): returns a graph; loadGraphAsync() returns a promise.
template <bool is_async>
Napi::Value load_graph(const Call& call) {
  return run_task<is_async>(call, std::make_unique<LoadTask>(call));
}

// loadOnnx(path, sizeNames, ranges, valueNames, slots, ...keepAlive): returns a graph; loadOnnxAsync() returns a
// promise.
template <bool is_async>
Napi::Value load_onnx(const Call& call) {
  return run_task<is_async>(call, std::make_unique<LoadOnnxTask>(call));
}

// saveGraph(graph, path); saveGraphAsync() returns a promise.
template <bool is_async>
Napi::Value save_graph(const Call& call) {
  return run_task<is_async>(call, std::make_unique<SaveGraphTask>(call));
}

// warmUp(graph, sizes); warmUpAsync() returns a promise.
template <bool is_async>
Napi::Value warm_up(const Call& call) {
  return run_task<is_async>(call, std::make_unique<WarmUpTask>(call));
}

// saveOnnx(graph, path, [opset, externalBytes]); saveOnnxAsync() returns a promise.
template <bool is_async>
Napi::Value save_onnx(const Call& call) {
  return run_task<is_async>(call, std::make_unique<SaveOnnxTask>(call));
}

// runGraph(graph, slots, generator, ...keepAlive): returns the slots of the outputs; runGraphAsync() returns a promise.
template <bool is_async>
Napi::Value run_graph(const Call& call) {
  return run_task<is_async>(call, std::make_unique<RunTask>(call, is_async));
}

// graphSizes(graph): returns an array of {name, minimum, maximum, step}.
Napi::Value graph_sizes(const Call& call) {
  const Napi::Env env = call.Env();
  const of_graph_info info = info_of(call);
  return array_of(env, info.size_count, [&](size_t i) {
    const of_named_size& size = info.sizes[i];
    auto object = Napi::Object::New(env);
    object.Set("name", size.name);
    object.Set("minimum", static_cast<double>(size.minimum));
    object.Set("maximum", static_cast<double>(size.maximum));
    object.Set("step", static_cast<double>(size.step));
    return object;
  });
}

// graphValues(graph, part): returns an array of {name, dtype, device, shape}, whose shapes consist of strings.
Napi::Value graph_values(const Call& call) {
  const Napi::Env env = call.Env();
  const of_graph_info info = info_of(call);
  const uint64_t counts[] = {info.input_count, info.output_count, info.constant_count};
  const auto part = static_cast<of_graph_part>(call.integer(1));
  return array_of(env, counts[part], [&](size_t i) {
    of_graph_value value{};
    value.struct_size = sizeof(value);
    call.check(of_graph_value_at(graph_of(call), part, i, &value));
    char device[64];
    auto object = Napi::Object::New(env);
    object.Set("name", value.name);
    object.Set("dtype", of_dtype_name(value.dtype));
    object.Set("device", of_device_name(value.device, device));
    object.Set("shape", array_of(env, value.rank, [&](size_t dim) { return value.size_texts[dim]; }));
    return object;
  });
}

// graphNodes(graph, part): returns how inputs or outputs are nested, as fileNodes() does.
Napi::Value graph_nodes(const Call& call) {
  const of_file_node* nodes = nullptr;
  uint64_t count = 0;
  call.check(of_graph_get_nodes(graph_of(call), static_cast<of_graph_part>(call.integer(1)), &nodes, &count));
  return nodes_to_js(call.Env(), nodes, count);
}

// graphConstant(graph, position): returns the slot of a constant.
Napi::Value graph_constant(const Call& call) {
  of_tensor tensor = nullptr;
  call.check(of_graph_constant(graph_of(call), static_cast<uint64_t>(call.integer(1)), &tensor));
  return Napi::Number::New(call.Env(), call.environment().put(tensor));
}

Napi::Object work_to_js(Napi::Env env, double operations, uint64_t bytes_read, uint64_t bytes_written) {
  auto object = Napi::Object::New(env);
  object.Set("operations", operations);
  object.Set("bytesRead", static_cast<double>(bytes_read));
  object.Set("bytesWritten", static_cast<double>(bytes_written));
  return object;
}

// graphCost(graph, names, values of sizes): returns the totals, with the arrays of those of operators, and the table.
Napi::Value graph_cost(const Call& call) {
  const Napi::Env env = call.Env();
  const std::vector<std::string> names = call.strings(1);
  const std::vector<int64_t> values = call.integers(2);
  std::vector<of_size_value> sizes;
  for (size_t i = 0; i < names.size(); ++i) sizes.push_back({names[i].c_str(), values[i]});
  of_cost cost = nullptr;
  call.check(of_graph_get_cost(graph_of(call), sizes.data(), sizes.size(), &cost));
  const Owned<of_cost_object> owned(cost);
  of_cost_info info{};
  info.struct_size = sizeof(info);
  call.check(of_cost_get_info(cost, &info));
  Napi::Object result = work_to_js(env, info.operations, info.bytes_read, info.bytes_written);
  result.Set("constantBytes", static_cast<double>(info.constant_bytes));
  result.Set("peakBytes", static_cast<double>(info.peak_bytes));
  result.Set("table", info.table);
  result.Set("operators", array_of(env, info.operator_count, [&](size_t i) {
               of_operator_cost each{};
               each.struct_size = sizeof(each);
               call.check(of_cost_at(cost, i, &each));
               Napi::Object object = work_to_js(env, each.operations, each.bytes_read, each.bytes_written);
               object.Set("name", each.name);
               object.Set("calls", static_cast<double>(each.calls));
               return object;
             }));
  return result;
}

// graphPicture(graph): returns a drawing, an SVG image.
std::string graph_picture(const Call& call) {
  char* text = nullptr;
  call.check(of_graph_picture(graph_of(call), &text));
  return take_text(text);
}

}  // namespace

void add_graph_functions(Exports& exports) {
  exports.add<start_capture>("startCapture");
  exports.add<begin_run>("beginRun");
  exports.add<end_run>("endRun");
  exports.add("cancelRun", [](const Call& call) { call.check(of_capture_cancel(capture_of(call).handle.get())); });
  // nameConstant(capture, slot, name, keepAlive)
  exports.add("nameConstant", [](const Call& call) {
    call.check(of_capture_name(capture_of(call).handle.get(), call.tensor(1), call.string(2).c_str()));
  });
  exports.add<finish_capture>("finishCapture");
  exports.add<load_graph<false>>("loadGraph");
  exports.add<load_graph<true>>("loadGraphAsync");
  exports.add<load_onnx<false>>("loadOnnx");
  exports.add<load_onnx<true>>("loadOnnxAsync");
  exports.add<save_onnx<false>>("saveOnnx");
  exports.add<save_onnx<true>>("saveOnnxAsync");
  exports.add<save_graph<false>>("saveGraph");
  exports.add<save_graph<true>>("saveGraphAsync");
  exports.add<warm_up<false>>("warmUp");
  exports.add<warm_up<true>>("warmUpAsync");
  // setRunLimit(graph, bytes)
  exports.add("setRunLimit", [](const Call& call) {
    call.check(of_session_set_memory_limit(session_of(call), static_cast<uint64_t>(call.integer(1))));
  });
  exports.add<session_info>("sessionInfo");
  exports.add<optimize_graph<false>>("optimizeGraph");
  exports.add<optimize_graph<true>>("optimizeGraphAsync");
  exports.add<graph_passes>("graphPasses");
  exports.add<run_graph<false>>("runGraph");
  exports.add<run_graph<true>>("runGraphAsync");
  exports.add("graphText", [](const Call& call) { return info_of(call).text; });
  exports.add("graphNote", [](const Call& call) { return info_of(call).note; });
  exports.add("graphCallCount", [](const Call& call) { return info_of(call).call_count; });
  exports.add<graph_sizes>("graphSizes");
  exports.add<graph_values>("graphValues");
  exports.add<graph_nodes>("graphNodes");
  exports.add<graph_constant>("graphConstant");
  exports.add<graph_cost>("graphCost");
  exports.add<graph_picture>("graphPicture");
}

}  // namespace oneflow::node
