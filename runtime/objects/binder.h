// Binds the arguments of a call to parameters, and converts them.
#ifndef ONEFLOW_OBJECTS_BINDER_H_
#define ONEFLOW_OBJECTS_BINDER_H_

#include <oneflow/front_end.h>
#include <oneflow/objects.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "objects/store.h"

namespace oneflow::objects {

// The arguments of a call as a language passes them.
struct Given {
  std::span<const of_native> positional;
  std::span<const char* const> names;
  const of_native* named;  // a value for each name
};

// An argument as a language passes it.
struct Native {
  of_native value;
  bool is_given;
  std::span<const of_native> items;  // separate arguments, in place of a list
};

// Why arguments do not fit the parameters.
struct Refusal {
  of_status status = OF_OK;
  std::string text;
};

// How far the binding of a call got: what of_refusal_rank() is asked about.
struct Progress {
  of_refusal reason;
  int32_t reached;
  bool is_likely;

  int32_t rank() const { return of_refusal_rank(reason, reached, is_likely); }
};

// A call that is being bound. Functions that refuse arguments say so by refusal(): overloads are tried in turn, and an
// exception for each would take long. They throw Raised if the language has an exception of its own.
class Binder {
 public:
  // Error texts begin with `function`. The data points into `store`.
  Binder(const char* function, std::span<const of_parameter> parameters, const of_language& language, void* context,
         Store& store)
      : function_(function), parameters_(parameters), language_(language), context_(context), store_(store) {}

  // The call is one of a function. Its first `own_count` parameters are those of an operator. In a method call, the
  // parameter `receiver` gets the first argument; -1: it is none.
  void set_function(size_t own_count, int32_t receiver) {
    is_function_ = true;
    own_ = parameters_.first(own_count);
    receiver_ = receiver;
  }
  // From now on, arrays and numbers stand for tensors, which are made on a device, and tensors for numbers. NULL: they
  // do not, and values of other types are refused without a text, since they are converted once more.
  void read_arrays(const of_device* device) {
    device_ = device;
    says_types_ = device != nullptr;
  }

  // Returns the arguments in the order of the parameters, for those that are not refused.
  of_data* bind(const Given& given);
  const Native* natives() const { return natives_; }
  const Progress& progress() const { return progress_; }
  // Returns the first refusal; its status is OF_OK if there is none.
  const Refusal& refusal() const { return refusal_; }
  // Throws the refusal, if there is one.
  void require_accepted() const {
    if (is_refused()) throw Error(refusal_.status, refusal_.text);
  }

  // Converts a value to a type. `name` is that of the argument, of a part of it, or of a result, in error texts.
  of_data convert(const std::string& name, const of_type& type, of_native value);
  // Refuses a value that is not of a type.
  of_data refuse_type(const std::string& name, const of_type& type, of_native value);

 private:
  of_data look(of_native value);
  std::span<const of_native> items_of(of_native list, uint32_t count);
  bool is_refused() const { return refusal_.status != OF_OK; }
  of_data refuse(of_status status, const std::string& text);
  of_data refuse_disposed(const std::string& name, const of_type& type);
  of_data refuse_too_large(const std::string& name);
  of_data refuse_count(size_t count, size_t most);
  of_data refuse_name(const Given& given, size_t position);

  // Assigns arguments to parameters.
  bool is_options(std::span<const of_native> positional);
  std::span<const uint32_t> order();
  uint32_t positional_count() const;
  // Returns the position of the parameter that collects arguments of a sort; the number of parameters if none does.
  uint32_t collector(of_collects sort) const;
  // Returns the position of the parameter with a name; the number of parameters if there is none.
  uint32_t find(const char* name) const;
  bool are_items(const of_type& type, std::span<const of_native> values);
  void assign_positional(std::span<const of_native> positional);
  void assign_named(const Given& given);
  void assign_options(of_native options);
  of_data collected(uint32_t position);
  of_data spread(const of_parameter& parameter, of_native value);

  // Converts single values.
  bool accepts(const of_type& type, const of_data& found) const;
  of_data keep(const of_data& found);
  of_data convert_number(const std::string& name, const of_type& type, of_data found, of_native value);
  of_data convert_integer(const std::string& name, const of_type& type, of_data found, of_native value);
  of_data convert_float(const std::string& name, const of_type& type, of_data found, of_native value);
  of_data convert_text(const std::string& name, of_data found);
  of_data convert_string(const std::string& name, of_data found, of_native value);
  of_data convert_dtype(const std::string& name, const of_data& found, of_native value);
  of_data convert_device(const std::string& name, const of_data& found, of_native value);
  of_data convert_path(const std::string& name, const of_type& type, of_native value);
  of_data convert_range(const std::string& name, of_native value);
  of_data bounds_of(const int64_t (&bounds)[3]);
  of_data convert_size(const std::string& name, const of_type& type, of_native value);
  of_data convert_function(of_native value);

  // Converts what stands for tensors and numbers.
  of_data make_tensor(const char* function, const std::string& name, const of_type& type, of_native value);
  of_data convert_array(const std::string& name, const of_type& type, of_native value);
  of_data number_in(const of_data& found) const;
  bool is_list_of_integers(const of_type& type, const of_data& found) const;
  of_data integers_in(of_tensor tensor);

  // Converts values with items.
  std::string part(const std::string& name, const std::string& key) const;
  const char* key_text(const std::string& name, const of_data& key, of_native value);
  of_data convert_item(const std::string& name, size_t position, const of_type& type, of_native value);
  of_data convert_items(const std::string& name, const of_type& type, std::span<const of_native> values);
  bool has_length(const std::string& name, const of_data& list);
  of_data convert_list(const std::string& name, const of_type& type, of_data found, of_native value);
  of_data convert_single(const std::string& name, const of_type& type, const of_data& found, of_native value);
  of_data convert_pair(const std::string& name, const of_type& type, const of_data& found, of_native value);
  of_data convert_outputs(const std::string& name, const of_type& type, const of_data& found, of_native value);
  of_data convert_map(const std::string& name, const of_type& type, of_data found, of_native value);
  of_data convert_record(const std::string& name, const of_type& type, of_data found, of_native value);
  of_data convert_nested(const std::string& name, const of_type& type, of_native value, int depth);
  of_data convert_any(const std::string& name, of_native value, int depth);

  const char* const function_;
  const std::span<const of_parameter> parameters_;
  std::span<const of_parameter> own_ = parameters_;
  const of_language& language_;
  void* const context_;
  Store& store_;
  bool is_function_ = false;
  bool says_types_ = true;
  int32_t receiver_ = -1;
  const of_device* device_ = nullptr;  // where arrays are read; NULL: they are not
  Native* natives_ = nullptr;
  Progress progress_{OF_REFUSAL_VALUE, 0, false};
  Refusal refusal_;
  std::vector<std::pair<const char*, of_native>> collected_[2];  // positional and named arguments
};

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_BINDER_H_
