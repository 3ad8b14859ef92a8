// Calls of the methods of classes. JavaScript passes the number of a method in the table, and the slot of its object.
#include <oneflow/front_end.h>

#include <atomic>

#include "calls/task.h"
#include "classes/class_table.h"
#include "classes/language.h"
#include "functions.h"

namespace oneflow::node {
namespace {

using BoundCall = std::unique_ptr<of_bound_call_object, decltype(&of_bound_call_release)>;

const MethodRecord& record_of(const Call& call) { return method_records[static_cast<size_t>(call.integer(0))]; }

// Binds the arguments of a call from the position `first` on, after the number of the method and the slot of its
// object. The context must outlive a run on this thread, which may ask what a value is.
BoundCall bind(const Call& call, const MethodRecord& record, CallContext& context, size_t first = 2) {
  Environment& environment = call.environment();
  std::vector<of_native> values;
  for (size_t i = first; i < call.Length(); ++i) values.push_back(static_cast<napi_value>(call[i]));
  const int64_t slot = call.integer(1);
  of_bound_call bound = nullptr;
  check_call(environment, of_bind(&record.method, &javascript, &context, environment.class_of(slot),
                                  environment.receiver(slot), values.data(), values.size(), nullptr, 0, &bound));
  return {bound, of_bound_call_release};
}

// Returns the value of the result; undefined for the object itself.
Napi::Value result_of(Environment& environment, const MethodRecord& record, of_bound_call call) {
  if (const char* warning = of_bound_call_warning(call)) environment.host().warn(warning);
  const of_data& result = *of_bound_call_result(call);
  const of_type& type = *record.method.result;
  const bool is_itself = type.kind == OF_TYPE_OBJECT && !type.is_optional && result.kind == OF_DATA_NONE;
  return is_itself ? environment.env().Undefined() : to_javascript(environment, type, result);
}

// invoke(method, slot or 0, ...arguments): returns the result; undefined for the object itself.
Napi::Value invoke(const Call& call) {
  const MethodRecord& record = record_of(call);
  CallContext context(call.environment());
  const BoundCall bound = bind(call, record, context);
  check_call(call.environment(), of_bound_call_run(bound.get()));
  return result_of(call.environment(), record, bound.get());
}

// Whether the work of a call should end early, as the thread that runs it sees it.
using Ending = std::shared_ptr<std::atomic<bool>>;

void delete_ending(Ending* ending) { delete ending; }

// A call on a worker thread.
class BoundTask : public Task {
 public:
  // Without an ending (NULL), it runs to its end.
  BoundTask(const MethodRecord& record, BoundCall call, Ending ending)
      : record_(record), call_(std::move(call)), ending_(std::move(ending)) {}

  of_status run() override {
    if (!ending_) return of_bound_call_run(call_.get());
    if (ending_->load()) return OF_INTERRUPTED;
    const auto ends = [](void* ending) { return static_cast<std::atomic<bool>*>(ending)->load(); };
    of_set_interrupt_check(ends, ending_.get(), nullptr, nullptr);
    const of_status status = of_bound_call_run(call_.get());
    of_set_interrupt_check(nullptr, nullptr, nullptr, nullptr);
    return status;
  }
  Napi::Value finish(Environment& environment) override { return result_of(environment, record_, call_.get()); }

 private:
  const MethodRecord& record_;
  const BoundCall call_;
  const Ending ending_;
};

// invokeAsync(method, slot or 0, ending or undefined, ...arguments): returns a promise of the result.
Napi::Value invoke_async(const Call& call) {
  const MethodRecord& record = record_of(call);
  CallContext context(call.environment());
  BoundCall bound = bind(call, record, context, 3);
  call.check(of_bound_call_keep(bound.get()));
  Ending ending = call[2].IsExternal() ? *call.external<Ending>(2) : nullptr;
  return Task::start(std::make_unique<BoundTask>(record, std::move(bound), std::move(ending)), call.environment());
}

// construct(method, 0, ...arguments): returns the slot of a new object.
int32_t construct(const Call& call) {
  CallContext context(call.environment());
  const BoundCall bound = bind(call, record_of(call), context);
  check_call(call.environment(), of_bound_call_run(bound.get()));
  const of_data& result = *of_bound_call_result(bound.get());
  result.of.object->retain(result.as.object);
  return call.environment().put(result.of.object, result.as.object);
}

// override(method, slot, function): makes the library call a function in place of a method of an object.
void override_method(const Call& call) {
  Environment& environment = call.environment();
  CallContext context(environment);
  const int64_t slot = call.integer(1);
  check_call(environment, of_override(environment.class_of(slot), environment.object(slot), &record_of(call).method,
                                      &javascript, &context, static_cast<napi_value>(call[2])));
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
  exports.add<invoke_async>("invokeAsync");
  exports.add<construct>("construct");
  // methodName(method): returns the name that error texts begin with.
  exports.add("methodName", [](const Call& call) {
    return Napi::String::New(call.environment().env(), record_of(call).method.name);
  });
  exports.add<override_method>("override");
  exports.add<constant>("constant");
  // makeEnding(): returns what end() takes to end the work of a call early.
  exports.add("makeEnding", [](const Call& call) {
    return owner_of<delete_ending>(call.environment(), new Ending(std::make_shared<std::atomic<bool>>(false)));
  });
  exports.add("end", [](const Call& call) { (*call.external<Ending>(0))->store(true); });
  // setHost(functions): sets the functions of lib/classes/object.js that this code calls.
  exports.add("setHost", [](const Call& call) { call.environment().host().set(call[0].As<Napi::Object>()); });
}

}  // namespace oneflow::node
