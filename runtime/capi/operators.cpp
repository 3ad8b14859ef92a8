// The C API: operators, calls, layers, fallbacks.
#include "capi/boundary.h"
#include "device/device.h"
#include "dispatch/dispatch.h"
#include "dispatch/loaded_operators.h"
#include "dispatch/thread_context.h"

using namespace oneflow;

namespace {

const Operator& require_op(of_op handle, const char* function) {
  require(handle, function, "op");
  return *to_operator(handle);
}

std::span<const of_value> arguments_of(const of_value* args, size_t count, const char* function) {
  if (count) require(args, function, "args");
  return {args, count};
}

std::span<of_value> results_of(of_value* results, size_t count, const char* function) {
  if (count) require(results, function, "results");
  return {results, count};
}

// Calls visit(op) for each operator of a record, also of libraries.
template <class Visit>
void for_each_operator(Visit visit) {
  for (const Operator& op : operators()) visit(op);
  for (const Operator* op : loaded_operators()) visit(*op);
}

// The operators that ran on the host, as of the thread's last of_fallback_count(), so that of_fallback_at() is
// consistent with it.
struct Fallback {
  const Operator* op;
  uint64_t calls;
};
thread_local std::vector<Fallback> fallbacks;

}  // namespace

of_op of_op_find(const char* name) {
  of_op found = nullptr;
  guard([&] {
    require(name, "of_op_find", "name");
    if (const Operator* op = find_operator(name)) found = to_handle(op);
  });
  return found;
}

size_t of_op_count(void) {
  size_t count = 0;
  guard([&] { count = operators().size() + loaded_operators().size(); });
  return count;
}

of_op of_op_at(size_t position) {
  of_op found = nullptr;
  guard([&] {
    const size_t built_in = operators().size();
    const auto loaded = loaded_operators();
    if (position < built_in)
      found = to_handle(&operators()[position]);
    else if (position - built_in < loaded.size())
      found = to_handle(loaded[position - built_in]);
  });
  return found;
}

of_status of_op_get_info(of_op op, of_op_info* info) {
  return guard([&, function = __func__] { write_struct(info, require_op(op, function).info(), function, "info"); });
}

of_status of_call(of_op op, const of_value* args, size_t arg_count, of_value* results, size_t result_count) {
  return guard([&, function = __func__] {
    call(require_op(op, function), arguments_of(args, arg_count, function),
         results_of(results, result_count, function));
  });
}

of_status of_call_box(of_op op, const of_value* args, size_t arg_count, const of_box* box, of_value* results,
                      size_t result_count) {
  return guard([&, function = __func__] {
    of_box given = read_struct(box, function, "box");
    given.struct_size = sizeof(given);
    call_box(require_op(op, function), arguments_of(args, arg_count, function), given,
             results_of(results, result_count, function));
  });
}

void of_value_release(of_value* value) {
  if (value) release_value(*value);
}

of_status of_infer(of_op op, const of_value* args, size_t arg_count, of_value* results, size_t result_count) {
  return guard([&, function = __func__] {
    infer(require_op(op, function), arguments_of(args, arg_count, function),
          results_of(results, result_count, function));
  });
}

of_status of_layer_install(of_layer layer, of_layer_scope scope, of_layer_function function, void* context) {
  return guard([&, name = __func__] { named(name, [&] { install_layer(layer, scope, function, context); }); });
}

of_status of_layer_remove(of_layer layer) {
  return guard([&, name = __func__] { named(name, [&] { remove_layer(layer); }); });
}

of_status of_layer_get_call(const of_layer_call* state, of_layer_call_info* info) {
  return guard([&, function = __func__] {
    require(state, function, "call");
    const Call& call = state->call;
    of_layer_call_info found{};
    found.form = form_of(call);
    found.op = to_handle(&call.op);
    found.caller = call.name;
    found.args = call.arguments;
    found.arg_count = call.schema().arguments.size();
    found.results = call.results.data();
    found.result_count = call.results.size();
    found.donated = to_handle(const_cast<Tensor*>(call.donated));
    found.infer = call.infer_only;
    found.box = call.box;
    write_struct(info, found, function, "info");
  });
}

of_status of_layer_next(of_layer_call* call, of_layer_body body) {
  return guard([&, function = __func__] {
    require(call, function, "call");
    call->keep_error();
    next_layer(*call, body);
  });
}

of_status of_layer_forward(of_layer_call* call, of_layer_body body, of_op op, const of_value* args, size_t arg_count) {
  return guard([&, function = __func__] {
    require(call, function, "call");
    call->keep_error();
    forward_layer(*call, body, require_op(op, function), arguments_of(args, arg_count, function));
  });
}

of_status of_thread_get_state(of_thread_state* state) {
  return guard([&, function = __func__] {
    const ThreadContext context = ThreadContext::current();
    of_thread_state found{};
    found.asked_layers = context.layers.asked_layers;
    found.open_layers = context.layers.open_layers;
    found.has_device = context.defaults.device.has_value();
    found.device = context.defaults.device.value_or(of_device{});
    found.generator = to_handle(context.defaults.generator.get());
    context.streams.write(found.streams);
    write_struct(state, found, function, "state");
  });
}

of_status of_thread_set_state(const of_thread_state* state) {
  return guard([&, function = __func__] {
    const of_thread_state given = read_struct(state, function, "state");
    ThreadContext context{
        {given.asked_layers, given.open_layers}, {{}, Ref<Generator>::share(to_generator(given.generator))}, {}};
    named(function, [&] { context.streams = ChosenStreams::read(given.streams); });
    if (given.has_device) context.defaults.device = get_device(given.device).id();
    context.apply();
  });
}

size_t of_fallback_count(void) {
  fallbacks.clear();
  guard([] {
    for_each_operator([](const Operator& op) {
      if (const uint64_t calls = op.fallbacks()) fallbacks.push_back({&op, calls});
    });
  });
  return fallbacks.size();
}

of_status of_fallback_at(size_t position, of_op* op, uint64_t* calls) {
  return guard([&, function = __func__] {
    require(op, function, "op");
    require(calls, function, "calls");
    if (position >= fallbacks.size())
      fail(OF_INDEX_OUT_OF_RANGE, "%s: position must be below %zu, got %zu", function, fallbacks.size(), position);
    *op = to_handle(fallbacks[position].op);
    *calls = fallbacks[position].calls;
  });
}

void of_reset_fallbacks(void) {
  guard([] { for_each_operator([](const Operator& op) { op.reset_fallbacks(); }); });
}
