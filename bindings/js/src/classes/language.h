// What values of JavaScript are, for the shared binder, and results as values of JavaScript.
#pragma once

#include <oneflow/objects.h>

#include <deque>
#include <string>
#include <unordered_map>

#include "environment.h"

namespace oneflow::node {

// What must live until a call is bound.
struct CallContext {
  Environment& environment;
  std::unordered_map<napi_value, napi_value> entries;  // of maps, as arrays
  std::deque<std::string> texts;
};

// The language, whose calls have a CallContext.
extern const of_language javascript;

// Returns the value of a result.
Napi::Value to_javascript(Environment& environment, const of_type& type, const of_data& data);

}  // namespace oneflow::node
