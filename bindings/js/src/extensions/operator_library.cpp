// Libraries of operators: their functions, for which lib/extensions/operatorLibrary.js makes functions of JavaScript.
#include <oneflow/operator_library.h>

#include <deque>
#include <mutex>

#include "calls/function_table.h"
#include "functions.h"

namespace oneflow::node {
namespace {

// A library whose functions have numbers. It lives as long as the process: all environments use the same numbers.
struct Numbered {
  const of_library_language* language;
  size_t first;  // the number of its first function
};

std::mutex& mutex = *new std::mutex;
std::deque<Numbered>& numbered = *new std::deque<Numbered>;

// Returns the number of the first function of a library.
size_t number_of(const of_library_language* language) {
  const std::lock_guard lock(mutex);
  for (const Numbered& each : numbered)
    if (each.language == language) return each.first;
  const size_t first =
      numbered.empty() ? function_table.size() : numbered.back().first + numbered.back().language->function_count;
  return numbered.emplace_back(Numbered{language, first}).first;
}

Napi::Value text_or_null(Napi::Env env, const char* text) {
  return text != nullptr ? Napi::Value::From(env, text) : env.Null();
}

Napi::Object describe(Napi::Env env, const of_library_function& function, size_t number) {
  auto found = Napi::Object::New(env);
  found.Set("number", static_cast<double>(number));
  found.Set("name", function.function.name);
  found.Set("inPlaceName", text_or_null(env, function.function.in_place_name));
  found.Set("takesEquation", function.function.takes_labels);
  found.Set("ownName", function.name);
  found.Set("ownInPlaceName", text_or_null(env, function.in_place_name));
  found.Set("ownAsyncName", text_or_null(env, function.promise_name));
  return found;
}

// loadLibrary(path): returns the path of the library without symbolic links, its namespace, the names of the runtime
// with those in JavaScript, and its functions.
Napi::Value load_library(const Call& call) {
  const of_operator_library* library = nullptr;
  call.check(of_load_library(call.string(0).c_str(), &library));
  const of_library_language* language = of_library_find_language(library, "js");
  const Napi::Env env = call.Env();
  if (language == nullptr)
    throw call.environment().make_error(OF_UNSUPPORTED, "loadLibrary: the library has nothing for Node.js");
  const size_t first = number_of(language);
  auto found = Napi::Object::New(env);
  found.Set("path", library->path);
  found.Set("nameSpace", language->name_space);
  found.Set("words", language->words != nullptr ? language->words : "");
  found.Set("functions", array_of(env, language->function_count,
                                  [&](uint32_t i) { return describe(env, language->functions[i], first + i); }));
  return found;
}

}  // namespace

const of_public_function& function_at(int64_t number) {
  const auto position = static_cast<size_t>(number);
  if (position < function_table.size()) return function_table[position];
  const std::lock_guard lock(mutex);
  size_t i = 0;
  while (i + 1 < numbered.size() && numbered[i + 1].first <= position) ++i;
  return numbered[i].language->functions[position - numbered[i].first].function;
}

void add_operator_library_functions(Exports& exports) { exports.add<load_library>("loadLibrary"); }

}  // namespace oneflow::node
