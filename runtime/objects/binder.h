// Binds the arguments of a call to the parameters of a method, and converts them.
#ifndef ONEFLOW_OBJECTS_BINDER_H_
#define ONEFLOW_OBJECTS_BINDER_H_

#include <oneflow/objects.h>

#include <span>
#include <string>

#include "objects/memory.h"

namespace oneflow::objects {

// The arguments of a call as a language passes them.
struct Given {
  std::span<const of_native> positional;
  std::span<const char* const> names;
  const of_native* named;  // a value for each name
};

// A call that is being bound. The functions throw Error for arguments that do not fit, and Raised if the language has
// an exception of its own.
class Binder {
 public:
  Binder(const of_method& method, const of_language& language, void* context, Memory& memory)
      : method_(method), language_(language), context_(context), memory_(memory) {}

  // Returns the arguments in the order of the parameters.
  of_data* bind(const Given& given);

 private:
  // What a parameter gets.
  struct Native {
    of_native value;
    bool is_given;
  };

  std::span<const of_parameter> parameters() const { return {method_.parameters, method_.parameter_count}; }
  uint32_t positional_count() const;
  of_data look(of_native value);
  [[noreturn]] void refuse(of_status status, const std::string& text) const;
  [[noreturn]] void refuse_type(const std::string& name, const of_type& type, of_native value) const;
  [[noreturn]] void refuse_count(size_t count) const;
  bool is_options(std::span<const of_native> positional);
  void assign_named(const char* name, of_native value, Native* natives);
  void assign_options(of_native options, Native* natives);

  // Convert a value to a type. `name` is that of the argument, or of its part.
  of_data convert(const std::string& name, const of_type& type, of_native value);
  of_data convert_integer(const std::string& name, const of_type& type, of_data found, of_native value);
  of_data convert_text(const std::string& name, of_data found);
  of_data convert_list(const std::string& name, const of_type& type, of_data found, of_native value);
  of_data convert_map(const std::string& name, const of_type& type, of_data found, of_native value);
  of_data convert_record(const std::string& name, const of_type& type, of_data found, of_native value);
  of_data convert_dtype(const std::string& name, const of_data& found);
  of_data convert_device(const std::string& name, const of_data& found);

  const of_method& method_;
  const of_language& language_;
  void* const context_;
  Memory& memory_;
};

// The language has an exception of its own.
struct Raised {};

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_BINDER_H_
