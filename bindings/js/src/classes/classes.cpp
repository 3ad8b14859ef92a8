// Calls of the methods of classes. JavaScript passes the number of a method in the table, and the slot of its object.
#include "classes/class_table.h"
#include "classes/language.h"
#include "functions.h"

namespace oneflow::node {
namespace {

using BoundCall = std::unique_ptr<of_bound_call_object, decltype(&of_bound_call_release)>;

// Throws the exception of a failure: that which is pending, if a function of the program has thrown it.
void check(Environment& environment, of_status status) {
  if (status == OF_INTERRUPTED && environment.env().IsExceptionPending())
    throw environment.env().GetAndClearPendingException();
  environment.check(status);
}

// Binds the arguments of a call after the number of the method and the slot of its object.
BoundCall bind(const Call& call, const MethodRecord& record) {
  Environment& environment = call.environment();
  CallContext context{environment, {}};
  std::vector<of_native> values;
  for (size_t i = 2; i < call.Length(); ++i) values.push_back(static_cast<napi_value>(call[i]));
  of_bound_call bound = nullptr;
  check(environment, of_bind(&record.method, &javascript, &context, environment.object(call.integer(1)), values.data(),
                             values.size(), nullptr, 0, &bound));
  return {bound, of_bound_call_release};
}

// invoke(method, slot or 0, ...arguments): returns the result; undefined for the object itself.
Napi::Value invoke(const Call& call) {
  const MethodRecord& record = method_records[static_cast<size_t>(call.integer(0))];
  const BoundCall bound = bind(call, record);
  check(call.environment(), of_bound_call_run(bound.get()));
  const of_data& result = *of_bound_call_result(bound.get());
  const bool is_itself = record.method.result->kind == OF_TYPE_OBJECT && result.kind == OF_DATA_NONE;
  return is_itself ? call.Env().Undefined() : to_javascript(call.environment(), *record.method.result, result);
}

// construct(method, 0, ...arguments): returns the slot of a new object.
int32_t construct(const Call& call) {
  const BoundCall bound = bind(call, method_records[static_cast<size_t>(call.integer(0))]);
  check(call.environment(), of_bound_call_run(bound.get()));
  const of_data& result = *of_bound_call_result(bound.get());
  result.of.object->retain(result.as.object);
  return call.environment().put(result.of.object, result.as.object);
}

// constant(name): returns the slot of an object that lives as long as the process.
int32_t constant(const Call& call) {
  const std::string name = call.string(0);
  for (const ConstantRecord& each : constant_records) {
    if (name != each.name) continue;
    const of_class* object_class = of_class_find(each.class_name);
    object_class->retain(each.get());
    return call.environment().put(object_class, each.get());
  }
  return 0;
}

}  // namespace

void add_class_functions(Exports& exports) {
  for (MethodRecord& each : method_records) each.method.implementation = of_implementation_find(each.implementation);
  exports.add<invoke>("invoke");
  exports.add<construct>("construct");
  exports.add<constant>("constant");
  // setHost(functions): sets the functions of lib/object.js that this code calls.
  exports.add("setHost", [](const Call& call) { call.environment().host().set(call[0].As<Napi::Object>()); });
}

}  // namespace oneflow::node
