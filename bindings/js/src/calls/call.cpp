// Synchronous calls of operators and expressions.
#include <oneflow/front_end.h>

#include "calls/arguments.h"
#include "calls/binding.h"
#include "calls/function_table.h"
#include "functions.h"

namespace oneflow::node {
namespace {

// Runs the call in the frame through `invoke`, and stores the status in the header of the frame.
//
// For a single tensor, by far the most frequent result, returns undefined: the slot of the tensor is in the frame, and
// `owner` owns it if the header says so. Returns other results as results_to_js() does. Returns undefined if the
// results were written to tensors of the caller.
template <class Invoke>
napi_value run(Environment* environment, napi_value owner, Invoke invoke) {
  Frame::Header& header = *environment->frame.header();
  of_value* arguments = environment->frame.values();
  of_value* results = arguments + header.arguments;
  const bool is_written = results[0].kind != OF_VALUE_ABSENT;

  of_status status = resolve_values(*environment, arguments, header.arguments + header.results);
  if (status == OF_OK) {
    status = invoke(header, arguments, results);
  }
  header.status = status;
  if (status != OF_OK || is_written) return nullptr;

  if (header.results == 1 && results[0].kind == OF_VALUE_TENSOR) {
    const int32_t slot = environment->put(results[0].as.tensor);
    results[0].as.integer = slot;
    if (header.owned != 0) environment->own(owner, slot);
    return nullptr;
  }
  return results_to_js(*environment, environment->operator_at(header.op).overload, results);
}

// call(owner, ...keepAlive): runs the operator in the frame; see run(). The further arguments are not read: passing
// them keeps the tensors among them from being garbage-collected before the operator is done.
napi_value call(napi_env env, napi_callback_info info) {
  void* data;
  size_t count = 1;
  napi_value owner;
  if (napi_get_cb_info(env, info, &count, &owner, nullptr, &data) != napi_ok) return nullptr;
  auto* environment = static_cast<Environment*>(data);
  return run(environment, owner, [environment](const Frame::Header& header, of_value* arguments, of_value* results) {
    return of_call(environment->operator_at(header.op).op, arguments, header.arguments, results, header.results);
  });
}

// callFunction(function, manner, owner, ...arguments): binds the arguments as BoundArguments does, and runs the
// function. Returns what finish() does.
Napi::Value call_function(const Call& call) {
  Environment& environment = call.environment();
  const auto manner = static_cast<of_manner>(call.integer(1));
  const BoundArguments bound(call, 3, function_at(call.integer(0)), manner);
  const of_overload& overload = *bound->overload;
  bound.check(of_call(operator_of(environment, overload), bound->values, static_cast<size_t>(overload.parameter_count),
                      bound->results, static_cast<size_t>(overload.result_count)));
  return finish(bound, manner, call[2], environment);
}

}  // namespace

void add_call_functions(Exports& exports) {
  exports.add<call>("call");
  // callExpression(slot, owner, ...keepAlive): runs the expression in the slot; see call(). The only argument in the
  // frame is the list of operands.
  exports.add("callExpression", [](const Call& call) {
    const of_expression expression = call.expression(0);
    return run(&call.environment(), call[1], [=](const Frame::Header&, of_value* arguments, of_value* results) {
      const of_value& operands = arguments[0];
      return of_expression_call(expression, operands.as.tensors, operands.count, results);
    });
  });
  // setFrame(arrayBuffer): sets the memory of the frame for all further calls. JavaScript keeps it alive.
  exports.add("setFrame", [](const Call& call) {
    auto buffer = call[0].As<Napi::ArrayBuffer>();
    call.environment().frame = {static_cast<uint8_t*>(buffer.Data()), buffer.ByteLength()};
  });
  exports.add_returning<call_function>("callFunction");
  // describeFunction(function, isInPlace): returns what describe_function() does.
  exports.add("describeFunction", [](const Call& call) {
    return describe_function(call.environment(), function_at(call.integer(0)), call.boolean(1));
  });
  // lastError(status, caller): returns the exception for this thread's last failure, in a call of the function
  // `caller`.
  exports.add("lastError", [](const Call& call) {
    of_error_set_caller(call.string(1).c_str());
    return call.environment().make_error(static_cast<of_status>(call.integer(0))).Value();
  });
  // setErrorFactory(factory): sets the function that makes exceptions. Its arguments are the name of the status, the
  // message, whether the error is that of earlier asynchronous work, and whether the message has the names of
  // JavaScript.
  exports.add("setErrorFactory",
              [](const Call& call) { call.environment().set_error_factory(call[0].As<Napi::Function>()); });
}

}  // namespace oneflow::node
