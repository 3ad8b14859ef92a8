// Calls of functions whose arguments are all of plain types: the short path of front ends in C++, without the shared
// binder of objects.h.
//
// A call either succeeds here completely, with the overload and the values that the shared binder would find, or is
// left to that binder. Nothing in here makes an error text.
#ifndef ONEFLOW_SHORT_CALL_HPP_
#define ONEFLOW_SHORT_CALL_HPP_

#include <oneflow/objects.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace oneflow {

// The memory of a call for lists and texts.
class ShortMemory {
 public:
  // Returns room for words of 8 bytes, or NULL if there is not enough left.
  uint64_t* allocate(size_t words) {
    if (words > kWords - used_) return nullptr;
    used_ += words;
    return words_ + used_ - words;
  }
  void reset() { used_ = 0; }

 private:
  static constexpr size_t kWords = 32;
  size_t used_ = 0;
  uint64_t words_[kWords];
};

// A call of a function. `Language` says how values are read; its functions run no code of programs. It has
//
//     using Native = ...;                   a value of the language
//     static constexpr Native kAbsent = ..; what stands for an argument that was not given
//     static bool read(Native, of_value*, ShortMemory*);
//                                           reads a tensor, a number, null, a text without zero bytes, a dtype, a
//                                           device; returns false for all other values
//     static bool items(Native, const Native**, size_t*);
//                                           gets the items of a list; returns false for other values
//     static std::string_view text(Native); the text of a name; empty for one that is none, or has zero bytes
template <class Language>
class ShortCall {
 public:
  using Native = typename Language::Native;

  // The names of the parameters of an overload, as the language passes them.
  using Names = Native[OF_MAX_PARAMETERS];

  // Arguments as they were given.
  struct Given {
    const Native* positional;
    size_t count;
    const Native* names;
    const Native* named;  // a value for each name
    size_t name_count;
  };

  // Binds a call to the first overload that accepts it, and returns its position; -1 leaves the call to the shared
  // binder. `names` has an element for each overload.
  int32_t bind(const of_public_function& function, const Names* names, of_manner manner, const Given& given) {
    for (int32_t i = 0; i < function.overload_count; ++i) {
      const of_overload& overload = function.overloads[i];
      if (manner == OF_CALLED_IN_PLACE && overload.replaced < 0) continue;
      if (manner == OF_CALLED_AS_METHOD && overload.receiver < 0) continue;
      const bool has_receiver = manner != OF_CALLED_AS_FUNCTION && overload.receiver >= 0;
      if (has_receiver && overload.receiver > 0) return -1;  // another order of parameters
      const Fit fit = bind_one(overload, names[i], manner != OF_CALLED_IN_PLACE, given);
      if (fit == Fit::kYes) [[likely]]
        return manner != OF_CALLED_IN_PLACE || values[overload.replaced].kind == OF_VALUE_TENSOR ? i : -1;
      if (fit == Fit::kUnsure) return -1;
    }
    return -1;
  }

  of_value values[OF_MAX_PARAMETERS];
  Native natives[OF_MAX_PARAMETERS];  // what they were read from
  Native out;                         // a tensor, or kAbsent

 private:
  enum class Fit { kYes, kNo, kUnsure };

  static constexpr int32_t kUnknown = -1, kUnsure = -2, kOut = -3;

  Fit bind_one(const of_overload& overload, const Native* names, bool takes_out, const Given& given) {
    const auto most = static_cast<size_t>(overload.positional_count);
    const auto all = static_cast<size_t>(overload.parameter_count);
    const size_t direct = given.count < most ? given.count : most;
    for (size_t i = 0; i < direct; ++i) natives[i] = given.positional[i];
    for (size_t i = direct; i < all; ++i) natives[i] = Language::kAbsent;
    out = Language::kAbsent;
    for (size_t i = 0; i < given.name_count; ++i) {
      const int32_t position = find(overload, names, given.names[i]);
      if (position == kUnknown) return Fit::kNo;
      if (position == kUnsure || (position == kOut && !takes_out)) return Fit::kUnsure;
      Native& native = position == kOut ? out : natives[position];
      if (native != Language::kAbsent) return Fit::kUnsure;
      native = given.named[i];
    }
    if (out != Language::kAbsent && (overload.result_count != 1 || !is_output())) return Fit::kUnsure;
    memory_.reset();
    const size_t list = given.count > most ? most - 1 : all;  // whose items are separate arguments
    for (size_t i = 0; i < all; ++i) {
      if (i == list) continue;
      const Fit fit = read(overload.parameters[i], natives[i], &values[i]);
      if (fit != Fit::kYes) return fit;
    }
    if (list == all) [[likely]]
      return Fit::kYes;
    if (most == 0 || overload.parameters[list].type->kind != OF_TYPE_ITEMS) return Fit::kNo;
    natives[list] = Language::kAbsent;
    return read_items(*overload.parameters[list].type, given.positional + list, given.count - list, &values[list]);
  }

  bool is_output() {
    of_value value;
    if (!Language::read(out, &value, &memory_)) return false;
    if (value.kind == OF_VALUE_NONE) out = Language::kAbsent;
    return value.kind == OF_VALUE_NONE || value.kind == OF_VALUE_TENSOR;
  }

  // Returns the position of the parameter with a name.
  static int32_t find(const of_overload& overload, const Native* names, Native name) {
    for (int32_t i = 0; i < overload.parameter_count; ++i)
      if (names[i] == name) return i;
    const std::string_view text = Language::text(name);
    if (text.empty() || (overload.makes_leaves && text != "out")) return kUnsure;
    if (overload.has_out && text == "out") return kOut;
    for (int32_t i = 0; i < overload.parameter_count; ++i)
      if (text == overload.parameters[i].name || is_among(text, overload.parameters[i].other_names)) return i;
    return kUnknown;
  }

  // Returns whether a name is one of those in a text that separates them by spaces.
  static bool is_among(std::string_view name, const char* names) {
    while (names != nullptr && *names != '\0') {
      const size_t length = std::strcspn(names, " ");
      if (name == std::string_view(names, length)) return true;
      names += length + std::strspn(names + length, " ");
    }
    return false;
  }

  Fit read(const of_parameter& parameter, Native native, of_value* value) {
    const of_type& type = *parameter.type;
    value->kind = OF_VALUE_ABSENT;
    if (native == Language::kAbsent) return parameter.is_required ? Fit::kNo : Fit::kYes;
    if (!Language::read(native, value, &memory_)) return read_other(type, native, value);
    if (value->kind == OF_VALUE_NONE) {
      if (!type.is_optional && parameter.is_required) return Fit::kNo;
      if (!type.is_optional || type.kind == OF_TYPE_VALUE) value->kind = OF_VALUE_ABSENT;
      return Fit::kYes;
    }
    return fit(type, value);
  }

  Fit read_other(const of_type& type, Native native, of_value* value) {
    const Native* items = nullptr;
    size_t count = 0;
    if (type.kind == OF_TYPE_VALUE) {
      value->kind = OF_VALUE_ABSENT;
      return Fit::kYes;
    }
    const bool is_list = type.kind == OF_TYPE_ITEMS && Language::items(native, &items, &count);
    return is_list ? read_items(type, items, count, value) : Fit::kUnsure;
  }

  // Makes a value that is not null that of a type.
  Fit fit(const of_type& type, of_value* value) {
    const auto is = [](bool fits) { return fits ? Fit::kYes : Fit::kNo; };
    const int32_t kind = value->kind;
    const bool is_number =
        kind == OF_VALUE_BOOL || kind == OF_VALUE_INT || kind == OF_VALUE_UINT || kind == OF_VALUE_FLOAT;
    switch (type.kind) {
      case OF_TYPE_TENSOR:
      case OF_TYPE_INTEGERS:
      case OF_TYPE_WRITTEN:
      case OF_TYPE_SINGLE:
        return is(kind == OF_VALUE_TENSOR);
      case OF_TYPE_OPERAND:
        return is(kind == OF_VALUE_TENSOR || is_number);
      case OF_TYPE_NUMBER:
        return is(is_number);
      case OF_TYPE_INT:
        return kind == OF_VALUE_UINT ? Fit::kUnsure : is(kind == OF_VALUE_INT);
      case OF_TYPE_FLOAT:
        if (kind == OF_VALUE_BOOL || kind == OF_VALUE_UINT) return Fit::kUnsure;
        if (kind == OF_VALUE_INT) value->as.real = static_cast<double>(value->as.integer);
        value->kind = OF_VALUE_FLOAT;
        return is(kind == OF_VALUE_INT || kind == OF_VALUE_FLOAT);
      case OF_TYPE_BOOL:
        return is(kind == OF_VALUE_BOOL);
      case OF_TYPE_TRUE:
      case OF_TYPE_FALSE:
        return is(kind == OF_VALUE_BOOL && value->as.boolean == (type.kind == OF_TYPE_TRUE));
      case OF_TYPE_STRING:
        return is(kind == OF_VALUE_STRING);
      case OF_TYPE_DTYPE:
        return kind == OF_VALUE_STRING ? parse_dtype(value) : is(kind == OF_VALUE_DTYPE);
      case OF_TYPE_DEVICE:
        return kind == OF_VALUE_STRING ? Fit::kUnsure : is(kind == OF_VALUE_DEVICE);
      case OF_TYPE_ITEMS:
        return fit_item(*type.items, value);
      case OF_TYPE_VALUE:
        value->kind = OF_VALUE_ABSENT;
        return Fit::kYes;
      default:
        return Fit::kUnsure;
    }
  }

  static Fit parse_dtype(of_value* value) {
    char name[16] = {};
    const auto length = static_cast<size_t>(value->count);
    if (length >= sizeof(name)) return Fit::kUnsure;
    std::copy_n(value->as.string, length, name);
    value->kind = OF_VALUE_DTYPE;
    return of_dtype_parse(name, &value->as.dtype) == OF_OK ? Fit::kYes : Fit::kUnsure;
  }

  // Makes a list of a single value that stands for one.
  Fit fit_item(const of_type& type, of_value* value) {
    const of_value item = *value;
    uint64_t* word = memory_.allocate(1);
    return word != nullptr && store(type, item, word) ? finish(type, word, 1, value) : Fit::kUnsure;
  }

  Fit read_items(const of_type& type, const Native* items, size_t count, of_value* value) {
    uint64_t* words = memory_.allocate(count);
    if (words == nullptr) return Fit::kUnsure;
    for (size_t i = 0; i < count; ++i) {
      of_value item;
      if (!Language::read(items[i], &item, &memory_) || !store(*type.items, item, words + i)) return Fit::kUnsure;
    }
    return finish(*type.items, words, count, value);
  }

  // Stores an item of a list. Returns false unless it is an integer or a tensor in a list of them.
  static bool store(const of_type& type, const of_value& item, uint64_t* word) {
    const bool is_tensor = type.kind == OF_TYPE_TENSOR || type.kind == OF_TYPE_INTEGERS;
    if (item.kind != (is_tensor ? OF_VALUE_TENSOR : OF_VALUE_INT) || (!is_tensor && type.kind != OF_TYPE_INT))
      return false;
    *word = is_tensor ? reinterpret_cast<uintptr_t>(item.as.tensor) : static_cast<uint64_t>(item.as.integer);
    return true;
  }

  static Fit finish(const of_type& type, uint64_t* words, size_t count, of_value* value) {
    if (type.kind == OF_TYPE_DEVICE) return Fit::kUnsure;  // an empty list
    value->kind = type.kind == OF_TYPE_INT ? OF_VALUE_INT_LIST : OF_VALUE_TENSOR_LIST;
    value->count = static_cast<int32_t>(count);
    value->as.integers = reinterpret_cast<const int64_t*>(words);
    return Fit::kYes;
  }

  ShortMemory memory_;
};

}  // namespace oneflow

#endif  // ONEFLOW_SHORT_CALL_HPP_
