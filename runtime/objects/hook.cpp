#include "objects/hook.h"

#include "base/error.h"
#include "objects/function.h"
#include "objects/guard.h"
#include "objects/results.h"

namespace oneflow::objects {
namespace {

// A function of a language as a hook.
struct HookFunction {
  const std::string caller;  // which error texts begin with
  const std::shared_ptr<const Function> function;

  // Calls the function with a gradient. Returns a new reference to the one that it returns, or NULL.
  of_tensor call(of_tensor grad) const {
    const of_data argument = {OF_DATA_TENSOR, 0, {.tensor = grad}, {}, nullptr};
    of_tensor replaced = nullptr;
    function->call({&argument, 1}, [&](void* context, of_native value) {
      const of_language& language = function->language();
      of_data found{};
      if (language.look(context, value, &found) != OF_OK) throw Raised();
      if (found.kind == OF_DATA_NONE || found.kind == OF_DATA_ABSENT) return;
      if (found.kind != OF_DATA_TENSOR)
        throw Error(OF_TYPE_MISMATCH,
                    caller + ": a hook must return Tensor or " + language.nothing_word + ", got " +
                        language.type_name(context, value),
                    true);
      replaced = of_tensor_retain(found.as.tensor);
    });
    return replaced;
  }
};

of_status call_hook(void* context, of_tensor grad, of_tensor* replaced) {
  return guard_language([&] { *replaced = static_cast<const HookFunction*>(context)->call(grad); });
}

}  // namespace

// register_hook(hook), of a tensor
of_status register_hook(void* self, const of_data* given, Results& results) {
  auto function = std::make_unique<HookFunction>(HookFunction{results.method().name, given[0].as.function->function});
  of_hook hook = nullptr;
  check(of_tensor_add_hook(
      static_cast<of_tensor>(self), call_hook, function.release(),
      [](void* context) { delete static_cast<HookFunction*>(context); }, &hook));
  results.give(results.object("HookHandle", new Hook(hook)));
  return OF_OK;
}

// The hook is there at the beginning of a block, at whose end hook_remove() removes it.
of_status hook_enter(void*, const of_data*, Results&) { return OF_OK; }

of_status hook_remove(void* self, const of_data*, Results&) {
  static_cast<Hook*>(self)->remove();
  return OF_OK;
}

}  // namespace oneflow::objects
