#include "objects/function.h"

#include <exception>

#include "base/error.h"

namespace oneflow::objects {
namespace {

constexpr uint32_t kMostParameters = 64;

std::vector<std::string> parameters_of(const of_language& language, void* context, of_native function) {
  const char* names[kMostParameters] = {};
  if (language.parameters(context, function, kMostParameters, names) != OF_OK) throw Raised();
  std::vector<std::string> found;
  for (const char* name : names) {
    if (name == nullptr) break;
    found.emplace_back(name);
  }
  return found;
}

}  // namespace

Function::Function(const of_language& language, void* context, of_native function)
    : language_(language),
      held_(language.hold(context, function), language.drop),
      parameters_(parameters_of(language, context, function)) {}

void Function::call(std::span<const of_data> arguments, const Receive& receive) const {
  struct Receiver {
    const Receive& receive;
    std::exception_ptr thrown;
  } receiver{receive, {}};
  const of_receiver forward = [](void* own, void* context, of_native value) -> of_status {
    auto& self = *static_cast<Receiver*>(own);
    try {
      self.receive(context, value);
    } catch (...) {
      self.thrown = std::current_exception();
    }
    return OF_OK;
  };
  const of_status status =
      language_.call(held_.get(), arguments.data(), static_cast<uint32_t>(arguments.size()), forward, &receiver);
  if (receiver.thrown) std::rethrow_exception(receiver.thrown);
  if (status == OF_INTERRUPTED) throw Raised();
  if (status != OF_OK) throw Error(status, of_last_error());
}

}  // namespace oneflow::objects

void* of_function_held(of_function function) { return function->function->held(); }
