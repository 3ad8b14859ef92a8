// What the arguments of a call point to.
#ifndef ONEFLOW_OBJECTS_STORE_H_
#define ONEFLOW_OBJECTS_STORE_H_

#include <list>
#include <utility>
#include <vector>

#include "objects/function.h"
#include "objects/memory.h"

namespace oneflow::objects {

// Memory, functions of the language, and tensors and objects, of which it owns a reference each.
struct Store {
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store() {
    for (of_tensor tensor : tensors) of_tensor_release(tensor);
    for (const auto& [object_class, object] : objects) object_class->release(object);
  }

  void keep(of_tensor tensor) { tensors.push_back(of_tensor_retain(tensor)); }
  void keep(const of_class* object_class, void* object) {
    object_class->retain(object);
    objects.emplace_back(object_class, object);
  }

  Memory memory;
  std::list<of_function_object> functions;  // which never move
  std::vector<of_tensor> tensors;
  std::vector<std::pair<const of_class*, void*>> objects;
};

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_STORE_H_
