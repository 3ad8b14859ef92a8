// The results of implementations of methods.
#ifndef ONEFLOW_OBJECTS_RESULTS_H_
#define ONEFLOW_OBJECTS_RESULTS_H_

#include <oneflow/objects.h>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "objects/language.h"
#include "objects/memory.h"

namespace oneflow::objects {

// The result of a call, what it owns, and the method and the language of the call.
class Results {
 public:
  Results(Memory& memory, const of_method& method, const of_language& language, void* context)
      : memory_(memory), method_(method), language_(language), context_(context) {}
  ~Results();
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  // Sets the result.
  void give(of_data data) { given_ = data; }
  const of_data& given() const { return given_; }

  // Sets a text of which the program is warned.
  void warn(std::string_view text) { warning_ = memory_.copy(text); }
  const char* warning() const { return warning_; }

  Memory& memory() { return memory_; }
  const of_method& method() const { return method_; }
  const of_language& language() const { return language_; }
  // Returns the name of a parameter in the language.
  std::string parameter(uint32_t position) const { return method_.parameters[position].name; }
  // Returns the name of the type of an argument of any type, or a text for its value, in the language. Not for calls on
  // other threads.
  std::string type_name(of_native value) const { return language_.type_name(context_, value); }
  std::string print(of_native value) const { return printed(language_, context_, value); }
  bool look(of_native value, of_data* data) const { return language_.look(context_, value, data) == OF_OK; }
  // Throws the error of a call of the C API, if it has failed. Its text then begins with the name of the method.
  void check_named(of_status status) const;
  // Throws an error whose text begins with the name of the method.
  [[noreturn]] void fail(of_status status, const std::string& text) const;

  // Makes data. Objects and tensors are owned from now on, and released with the call.
  of_data none() const { return {OF_DATA_NONE, 0, {}, {}, nullptr}; }
  of_data boolean(bool value) const { return {OF_DATA_BOOL, 0, {.boolean = value}, {}, nullptr}; }
  of_data integer(int64_t value) const { return {OF_DATA_INT, 0, {.integer = value}, {}, nullptr}; }
  of_data natural(uint64_t value) const { return {OF_DATA_UINT, 0, {.natural = value}, {}, nullptr}; }
  of_data real(double value) const { return {OF_DATA_FLOAT, 0, {.real = value}, {}, nullptr}; }
  of_data text(std::string_view value);
  of_data dtype(of_dtype value) const;
  of_data device(of_device value) const { return {OF_DATA_DEVICE, 0, {.device = value}, {}, nullptr}; }
  of_data tensor(of_tensor owned);
  of_data object(const char* class_name, void* owned);
  of_data list(std::span<const of_data> items);
  of_data map(std::span<const of_data> items, std::span<const std::string> keys);
  of_data list(std::initializer_list<of_data> items) { return list(std::span(items.begin(), items.size())); }

 private:
  Memory& memory_;
  const of_method& method_;
  const of_language& language_;
  void* const context_;
  std::vector<of_data> owned_;
  const char* warning_ = nullptr;
  of_data given_ = {OF_DATA_NONE, 0, {}, {}, nullptr};
};

// A call of the C API has failed; of_last_error() has the text.
struct Failed {
  of_status status;
};
inline void check(of_status status) {
  if (status != OF_OK) throw Failed{status};
}

// A function of the library that implements a method, with arguments in the order of its parameters. It may throw
// Error, Failed and Raised.
using Implementation = of_status (*)(void* self, const of_data* arguments, Results& results);

}  // namespace oneflow::objects

// What of_implementation_find() returns.
struct of_implementation_object {
  const char* name;
  oneflow::objects::Implementation function;
  of_work (*work)(void* self, const of_data* arguments);  // NULL: short
};

namespace oneflow::objects {

// All classes and implementations, sorted by name; generated.
extern const std::span<const of_class> class_table;
extern const std::span<const of_implementation_object> implementation_table;

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_RESULTS_H_
