// What the arguments of a call point to.
#ifndef ONEFLOW_OBJECTS_STORE_H_
#define ONEFLOW_OBJECTS_STORE_H_

#include <list>
#include <vector>

#include "objects/function.h"
#include "objects/memory.h"

namespace oneflow::objects {

// Memory, functions of the language, and tensors, of which it owns a reference each.
struct Store {
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store() {
    for (of_tensor tensor : tensors) of_tensor_release(tensor);
  }

  Memory memory;
  std::list<of_function_object> functions;  // which never move
  std::vector<of_tensor> tensors;
};

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_STORE_H_
