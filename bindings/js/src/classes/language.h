// What values of JavaScript are, for the shared binder, and results as values of JavaScript.
#pragma once

#include <oneflow/objects.h>

#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

#include "environment.h"

namespace oneflow::node {

// What must live until a call is bound.
struct CallContext {
  explicit CallContext(Environment& called_in) : environment(called_in) {}

  Environment& environment;
  std::unordered_map<napi_value, napi_value> entries;  // of maps, as arrays
  std::deque<std::string> texts;
  // Of values that are tensors, the slots with their generations.
  std::unordered_map<of_native, std::pair<int32_t, uint32_t>> slots;
  bool is_function = false;  // whether the call is one of a function: a Proxy may be a list, and 2**60 an integer
};

// The language, whose calls have a CallContext.
extern const of_language javascript;

// Throws the exception of a failure: that which is pending, if a function of the program has thrown it.
// `has_own_names` says whether the text has the names of JavaScript.
void check_call(Environment& environment, of_status status, bool has_own_names = false);

// Returns the value of a result.
Napi::Value to_javascript(Environment& environment, const of_type& type, const of_data& data);

}  // namespace oneflow::node
