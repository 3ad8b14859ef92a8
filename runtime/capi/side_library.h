// Side libraries: programs over the C API, each in a file of its own beside this library, which loads them when they
// are first needed. What only some programs use costs the others nothing.
#ifndef ONEFLOW_CAPI_SIDE_LIBRARY_H_
#define ONEFLOW_CAPI_SIDE_LIBRARY_H_

#include <oneflow/oneflow.h>

#include <atomic>
#include <string>

#include "base/error.h"
#include "side/entry.h"

namespace oneflow {

class SideLibrary {
 public:
  // `name` is that of its file, liboneflow_<name>.so, and `what` names it in error texts: "the ONNX library".
  constexpr SideLibrary(const char* name, const char* what) : name_(name), what_(what) {}

  // Returns a function that the library exports. The first call loads the library, which is never unloaded. Throws
  // Unsupported if it cannot be loaded.
  template <class Function>
  Function* function(const char* symbol) {
    return reinterpret_cast<Function*>(find(symbol));
  }

 private:
  void* find(const char* symbol);

  const char* const name_;
  const char* const what_;
  std::atomic<void*> handle_ = nullptr;
};

// Calls a function of a side library, whose last arguments are an of_side_report and its context, and throws its error.
template <class... Arguments, class... Given>
void call_side(of_status (*function)(Arguments...), Given... given) {
  std::string text;
  const of_side_report report = [](void* context, const char* said) { *static_cast<std::string*>(context) = said; };
  if (const of_status status = function(given..., report, &text)) throw Error(status, text);
}

}  // namespace oneflow

#endif  // ONEFLOW_CAPI_SIDE_LIBRARY_H_
