// Functions of a language, which the library calls.
#ifndef ONEFLOW_OBJECTS_FUNCTION_H_
#define ONEFLOW_OBJECTS_FUNCTION_H_

#include <oneflow/objects.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace oneflow::objects {

// A function of a language, as an argument of a method.
class Function {
 public:
  Function(const of_language& language, void* context, of_native function);
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  // Calls the function, and passes what it returns to `receive`, with the context of the language. Throws Raised after
  // an exception of the function, and what `receive` throws.
  using Receive = std::function<void(void* context, of_native value)>;
  void call(std::span<const of_data> arguments, const Receive& receive) const;

  const of_language& language() const { return language_; }
  void* held() const { return held_.get(); }
  // Returns the names of its first parameters; empty for those without one.
  const std::vector<std::string>& parameters() const { return parameters_; }

 private:
  const of_language& language_;
  const std::unique_ptr<void, void (*)(void*)> held_;
  std::vector<std::string> parameters_;
};

// The language has an exception of its own.
struct Raised {};

}  // namespace oneflow::objects

// A handle to a function.
struct of_function_object {
  std::shared_ptr<const oneflow::objects::Function> function;
};

#endif  // ONEFLOW_OBJECTS_FUNCTION_H_
