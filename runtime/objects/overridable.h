// Methods that subclasses in languages override.
#ifndef ONEFLOW_OBJECTS_OVERRIDABLE_H_
#define ONEFLOW_OBJECTS_OVERRIDABLE_H_

#include <map>
#include <memory>
#include <span>
#include <string>

#include "objects/store.h"

namespace oneflow::objects {

// The base class of objects with overridable methods. What calls such a method asks call_override() first; the
// implementation that its record names never does, since the overriding method calls it as that of its base class.
class Overridable {
 public:
  // Sets the function that overrides a method, whose row of the language's table is `method`.
  void override_method(const of_method* method, of_function function);

 protected:
  ~Overridable() = default;

  // Calls the function that overrides a method ("Counter.step"), and sets what it returned, converted to the type of
  // the method; what that refers to is valid as long as the store. Returns false if no function does. Throws Raised
  // after an exception of the function, and Error for a result of another type.
  bool call_override(const std::string& implementation, std::span<const of_data> arguments, Store& store,
                     of_data* result) const;

 private:
  struct Override {
    const of_method* method;
    std::shared_ptr<const Function> function;
  };
  std::map<std::string, Override> overrides_;  // by implementation
};

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_OVERRIDABLE_H_
