// The results of implementations of methods.
#ifndef ONEFLOW_OBJECTS_RESULTS_H_
#define ONEFLOW_OBJECTS_RESULTS_H_

#include <oneflow/objects.h>

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "objects/memory.h"

namespace oneflow::objects {

// The result of a call, and what it owns.
class Results {
 public:
  explicit Results(Memory& memory) : memory_(memory) {}
  ~Results();
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  // Sets the result.
  void give(of_data data) { given_ = data; }
  const of_data& given() const { return given_; }

  // Makes data. Objects and tensors are owned from now on, and released with the call.
  of_data none() const { return {OF_DATA_NONE, 0, {}, {}}; }
  of_data boolean(bool value) const { return {OF_DATA_BOOL, 0, {.boolean = value}, {}}; }
  of_data integer(int64_t value) const { return {OF_DATA_INT, 0, {.integer = value}, {}}; }
  of_data natural(uint64_t value) const { return {OF_DATA_UINT, 0, {.natural = value}, {}}; }
  of_data real(double value) const { return {OF_DATA_FLOAT, 0, {.real = value}, {}}; }
  of_data text(std::string_view value);
  of_data dtype(of_dtype value) const;
  of_data device(of_device value) const { return {OF_DATA_DEVICE, 0, {.device = value}, {}}; }
  of_data tensor(of_tensor owned);
  of_data object(const char* class_name, void* owned);
  of_data list(std::span<const of_data> items);
  of_data list(std::initializer_list<of_data> items) { return list(std::span(items.begin(), items.size())); }

 private:
  Memory& memory_;
  std::vector<of_data> owned_;
  of_data given_ = {OF_DATA_NONE, 0, {}, {}};
};

// A function of the library that implements a method, with arguments in the order of its parameters.
using Implementation = of_status (*)(void* self, const of_data* arguments, Results& results);

}  // namespace oneflow::objects

// What of_implementation_find() returns.
struct of_implementation_object {
  const char* name;
  oneflow::objects::Implementation function;
};

namespace oneflow::objects {

// All classes and implementations, sorted by name; generated.
extern const std::span<const of_class> class_table;
extern const std::span<const of_implementation_object> implementation_table;

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_RESULTS_H_
