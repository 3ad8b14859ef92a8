// The C API: the arguments of functions.
#include <algorithm>

#include "base/error.h"
#include "objects/binder.h"
#include "objects/guard.h"
#include "objects/language.h"
#include "objects/values.h"

using namespace oneflow;
using namespace oneflow::objects;

namespace {

constexpr int32_t kMostOptions = 2;  // `out` and `requires_grad`

// The arguments of a call, with what they point to.
struct Bound : of_arguments {
  Store store;
  of_value all_values[OF_MAX_PARAMETERS];
  of_value all_results[OF_MAX_RESULTS];
  of_native all_natives[OF_MAX_PARAMETERS];
  bool given[OF_MAX_PARAMETERS];
};

// The parameters of an overload in a form, with those of the options `out` and `requires_grad`.
class Parameters {
 public:
  Parameters(const of_overload& overload, bool is_in_place, const of_language& language) {
    own_ = static_cast<size_t>(overload.parameter_count);
    std::copy_n(overload.parameters, own_, parameters_);
    size_ = own_;
    if (is_in_place) overwrite(parameters_[overload.replaced]);
    if (overload.has_out && !is_in_place) out_ = add("out", output_type(overload, language));
    flag_ = {OF_TYPE_BOOL, false, language.flag_word, nullptr, 0, nullptr, nullptr};
    if (overload.makes_leaves) requires_grad_ = add(language.flag_name, &flag_);
  }
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  std::span<const of_parameter> all() const { return {parameters_, size_}; }
  size_t own_count() const { return own_; }
  // The positions of the options, or 0.
  size_t out() const { return out_; }
  size_t requires_grad() const { return requires_grad_; }

 private:
  // Nothing stands for tensors that are written to.
  void overwrite(of_parameter& parameter) {
    replaced_ = *parameter.type;
    if (replaced_.kind == OF_TYPE_ITEMS) {
      output_ = *replaced_.items;
      output_.kind = OF_TYPE_WRITTEN;
      replaced_.items = &output_;
    } else {
      replaced_.kind = OF_TYPE_WRITTEN;
      replaced_.word = "Tensor";
    }
    parameter.type = &replaced_;
  }

  const of_type* output_type(const of_overload& overload, const of_language& language) {
    output_ = {OF_TYPE_WRITTEN, false, "Tensor", nullptr, 0, nullptr, nullptr};
    if (overload.result_count == 1) return &output_;
    word_ = language.outputs_word + std::string(" of ") + std::to_string(overload.result_count) + " Tensors";
    replaced_ = {OF_TYPE_OUTPUTS, false,  word_.c_str(), nullptr, static_cast<uint32_t>(overload.result_count),
                 &output_,        nullptr};
    return &replaced_;
  }

  size_t add(const char* name, const of_type* type) {
    parameters_[size_] = {name, type, false, true, OF_COLLECTS_NOTHING, nullptr};
    return size_++;
  }

  of_parameter parameters_[OF_MAX_PARAMETERS + kMostOptions];
  size_t own_, size_;
  size_t out_ = 0, requires_grad_ = 0;
  of_type output_, replaced_, flag_;
  std::string word_;
};

// Stores the arguments of a call that an overload accepts.
void take(Bound& bound, const of_overload& overload, bool is_in_place, const Parameters& parameters,
          const of_data* arguments, const Native* natives) {
  bound.overload = &overload;
  bound.values = bound.all_values;
  bound.results = bound.all_results;
  bound.natives = bound.all_natives;
  bound.is_given = bound.given;
  for (size_t i = 0; i < parameters.own_count(); ++i) {
    bound.all_values[i] = to_value(*parameters.all()[i].type, arguments[i], bound.store.memory);
    bound.all_natives[i] = natives[i].value;
    bound.given[i] = natives[i].is_given;
    if (natives[i].items.empty()) continue;
    bound.items = natives[i].items.data();
    bound.item_count = natives[i].items.size();
  }
  if (is_in_place) bound.all_results[0] = bound.all_values[overload.replaced];
  const of_data absent{};
  const of_data& out = parameters.out() ? arguments[parameters.out()] : absent;
  if (out.kind == OF_DATA_TENSOR || out.kind == OF_DATA_LIST) {
    const bool is_list = out.kind == OF_DATA_LIST;
    bound.out = natives[parameters.out()].value;
    bound.outputs = is_list ? out.own : &bound.out;
    bound.output_count = is_list ? out.count : 1;
    for (size_t i = 0; i < bound.output_count; ++i)
      bound.all_results[i] =
          to_value(*parameters.all()[parameters.out()].type, is_list ? out.as.items[i] : out, bound.store.memory);
  }
  if (parameters.requires_grad()) bound.requires_grad = arguments[parameters.requires_grad()].as.boolean;
}

// A call whose overload is sought.
class Call {
 public:
  Call(const of_public_function& function, of_manner manner, const of_language& language, void* context,
       const Given& given)
      : function_(function), manner_(manner), language_(language), context_(context), given_(given) {}

  // Returns the arguments for the first overload that accepts them; NULL if none does.
  std::unique_ptr<Bound> bind() {
    auto bound = bind_first(nullptr);
    if (bound || !refusal_.text.empty()) return bound;  // without a text, a value of another type may be converted
    const of_device device = device_of_tensors();
    rank_ = -1;
    return bind_first(&device);
  }
  // Returns the refusal of the overload that got furthest.
  const Refusal& refusal() const { return refusal_; }

 private:
  bool is_in_place() const { return manner_ == OF_CALLED_IN_PLACE; }
  const char* name() const { return is_in_place() ? function_.in_place_name : function_.name; }

  // Returns whether an overload exists in the form of the call.
  bool offers(const of_overload& overload) const {
    if (is_in_place()) return overload.replaced >= 0;
    return manner_ == OF_CALLED_AS_FUNCTION || overload.receiver >= 0;
  }

  std::unique_ptr<Bound> bind_first(const of_device* device) {
    for (const of_overload& overload : std::span(function_.overloads, static_cast<size_t>(function_.overload_count))) {
      if (!offers(overload)) continue;
      auto bound = std::make_unique<Bound>();
      const Parameters parameters(overload, is_in_place(), language_);
      Binder binder(name(), parameters.all(), language_, context_, bound->store);
      binder.set_function(parameters.own_count(), manner_ == OF_CALLED_AS_FUNCTION ? -1 : overload.receiver);
      binder.read_arrays(device);
      const of_data* arguments = binder.bind(given_);
      if (binder.refusal().status == OF_OK) {
        take(*bound, overload, is_in_place(), parameters, arguments, binder.natives());
        return bound;
      }
      const int32_t rank = binder.progress().rank();
      // Options do not tell overloads apart.
      const bool is_chosen = binder.progress().reason == OF_REFUSAL_VALUE &&
                             binder.progress().reached >= static_cast<int32_t>(parameters.own_count());
      if (rank <= rank_ && !is_chosen) continue;
      rank_ = rank;
      refusal_ = binder.refusal();
      if (is_chosen) break;
    }
    return nullptr;
  }

  // Returns the device of the first tensor among the arguments, also within lists, or the default device.
  of_device device_of_tensors() const {
    const auto find = [this](std::span<const of_native> values) {
      of_tensor found = nullptr;
      for (const of_native value : values)
        if (found == nullptr) found = language_.find_tensor(context_, value);
      return found;
    };
    of_tensor found = find(given_.positional);
    if (found == nullptr) found = find({given_.named, given_.names.size()});
    of_tensor_info info{};
    info.struct_size = sizeof(info);
    return found != nullptr && of_tensor_get_info(found, &info) == OF_OK ? info.device : of_default_device();
  }

  const of_public_function& function_;
  const of_manner manner_;
  const of_language& language_;
  void* const context_;
  const Given given_;
  int32_t rank_ = -1;  // of the overload that got furthest, with its refusal
  Refusal refusal_;
};

}  // namespace

of_status of_bind_function(const of_public_function* function, of_manner manner, const of_language* language,
                           void* context, const of_native* values, size_t count, const char* const* names,
                           size_t name_count, of_arguments** result) {
  of_status refused = OF_OK;
  const of_status status = guard_language([&] {
    Call call(*function, manner, *language, context, {{values, count}, {names, name_count}, values + count});
    if (auto bound = call.bind()) {
      *result = bound.release();
    } else {
      refused = set_last_error(call.refusal().status, call.refusal().text.c_str());
    }
  });
  return status == OF_OK ? refused : status;
}

void of_arguments_release(of_arguments* arguments) { delete static_cast<Bound*>(arguments); }

of_status of_convert(const char* function, const char* name, const of_type* type, const of_language* language,
                     void* context, of_native value, of_data* result) {
  return guard_language([&] {
    Store store;
    Binder binder(function, {}, *language, context, store);
    binder.set_function(0, -1);
    *result = binder.convert(name, *type, value);
    binder.require_accepted();
    if (result->kind != OF_DATA_TEXT) return;
    // The copy of the text is released with the store.
    check_language(language->look(context, value, result));
    result->kind = OF_DATA_TEXT;
  });
}
