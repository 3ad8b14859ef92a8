#include "objects/overridable.h"

#include "objects/binder.h"
#include "objects/guard.h"
#include "objects/results.h"

namespace oneflow::objects {

void Overridable::override_method(const of_method* method, of_function function) {
  overrides_[method->implementation->name] = {method, function->function};
}

bool Overridable::call_override(const std::string& implementation, std::span<const of_data> arguments, Store& store,
                                of_data* result) const {
  const auto found = overrides_.find(implementation);
  if (found == overrides_.end()) return false;
  const auto& [method, function] = found->second;
  *result = {OF_DATA_NONE, 0, {}, {}, nullptr};
  function->call(arguments, [&, method = method, &language = function->language()](void* context, of_native value) {
    if (method->result->kind == OF_TYPE_NONE) return;
    Binder binder(method->name, {}, language, context, store);
    *result = binder.convert("the result", *method->result, value);
    binder.require_accepted();
    // The language keeps what the function returns only until now.
    if (result->kind == OF_DATA_TENSOR) store.tensors.push_back(of_tensor_retain(result->as.tensor));
    if (result->kind == OF_DATA_TEXT) result->as.text = store.memory.copy({result->as.text, result->count});
  });
  return true;
}

}  // namespace oneflow::objects

using namespace oneflow;
using namespace oneflow::objects;

of_status of_override(const of_class* object_class, void* object, const of_method* method, const of_language* language,
                      void* context, of_native function) {
  return guard_language([&] {
    if (object_class->override_method == nullptr)
      fail(OF_UNSUPPORTED, "%s: the methods of %s cannot be overridden", method->name, object_class->name);
    of_function_object held{std::make_shared<const Function>(*language, context, function)};
    object_class->override_method(object, method, &held);
  });
}
