/* Tensors, devices, dtypes and generators of oneflow-rb in extensions that are written in C++ over Ruby's C API.
 *
 *     #include <oneflow/ruby.h>
 *
 *     oneflow::Tensor twice(const oneflow::Tensor& input) { return input + input; }
 *
 *     extern "C" void Init_twice() {
 *       oneflow::ruby::initialize();
 *       oneflow::ruby::define<twice>(rb_define_module("Twice"), "twice", {"input"});
 *     }
 *
 * Functions take and return oneflow::Tensor, Device, DType and Generator, numbers, bools and strings, and std::optional
 * and std::vector of these; a VALUE stays what it is. They share the memory of the caller's objects. A device becomes
 * its name, a dtype a Symbol, an empty Tensor or optional nil. A oneflow::Error that they throw becomes the error class
 * of oneflow-rb.
 *
 * Functions of Ruby's C API that may raise must be called within protect(): an exception of Ruby is a longjmp, which
 * skips destructors. The deleter of foreign memory runs on any thread, also during garbage collections: it must not use
 * Ruby. */
#ifndef ONEFLOW_RUBY_H_
#define ONEFLOW_RUBY_H_

#include <ruby.h>

#include <cstring>
#include <initializer_list>
#include <new>
#include <oneflow/extension.hpp>
#include <string>
#include <type_traits>
#include <vector>

#pragma GCC visibility push(hidden)
namespace oneflow::ruby {

/// An exception of Ruby, or another jump, on its way through C++: it goes on where the function that was called from
/// Ruby ends. Do not catch it without throwing it again.
struct Jump {
  int state;
};

/// Calls `work`, which may use all of Ruby's C API and has no objects with destructors of its own, and returns its
/// VALUE. Throws a Jump where it raises.
template <class Work>
VALUE protect(const Work& work) {
  const auto call = [](VALUE given) -> VALUE { return (*reinterpret_cast<const Work*>(given))(); };
  int state = 0;
  const VALUE result = rb_protect(call, reinterpret_cast<VALUE>(&work), &state);
  if (state != 0) throw Jump{state};
  return result;
}

namespace detail {

inline const of_extension_api* table = nullptr;

// The names of a function and its arguments, for error texts.
struct Names {
  std::string function;
  std::vector<std::string> arguments;
};

// How a function has ended.
struct Outcome {
  enum { RETURNS, RAISES, JUMPS } kind;
  VALUE value;  // that it returns or raises
  int state;    // of the jump
};

inline VALUE exception_of(of_status status, const char* text) {
  of_object object = 0;
  if (table && table->make_error(table, status, text, &object) == OF_OK) return static_cast<VALUE>(object);
  return protect([=] { return rb_exc_new_cstr(rb_eRuntimeError, text); });
}

// Runs C++ code and lets its exceptions not out.
template <class Work>
Outcome outcome_of(const Work& work) {
  try {
    try {
      return {Outcome::RETURNS, work(), 0};
    } catch (const Error& error) {
      return {Outcome::RAISES, exception_of(error.status(), error.what()), 0};
    } catch (const Jump&) {
      throw;
    } catch (const std::bad_alloc&) {
      return {Outcome::RAISES, exception_of(OF_OUT_OF_MEMORY, "the host is out of memory"), 0};
    } catch (const std::exception& error) {
      const char* text = error.what();
      return {Outcome::RAISES, protect([=] { return rb_exc_new_cstr(rb_eRuntimeError, text); }), 0};
    } catch (...) {
      const char* text = "an exception of C++ that is not a std::exception";
      return {Outcome::RAISES, protect([=] { return rb_exc_new_cstr(rb_eRuntimeError, text); }), 0};
    }
  } catch (const Jump& jump) {
    return {Outcome::JUMPS, Qnil, jump.state};
  }
}

// Returns or raises in Ruby: the caller's frame has nothing to destroy.
inline VALUE finish(const Outcome& outcome) {
  if (outcome.kind == Outcome::JUMPS) rb_jump_tag(outcome.state);
  if (outcome.kind == Outcome::RAISES) rb_exc_raise(outcome.value);
  return outcome.value;
}

}  // namespace detail

/// Finds oneflow-rb, which it requires. Call it first in the function that initializes the extension. Raises LoadError
/// if oneflow-rb cannot be loaded, or is too old.
inline void initialize() {
  const VALUE module = (rb_require("oneflow"), rb_path2class("OneFlow"));
  const VALUE holder = rb_const_get(module, rb_intern("EXTENSION_API"));
  if (!RB_TYPE_P(holder, T_DATA) || !RTYPEDDATA_P(holder) ||
      strcmp(RTYPEDDATA_TYPE(holder)->wrap_struct_name, "oneflow_extension_api") != 0) {
    rb_raise(rb_eLoadError, "OneFlow::EXTENSION_API is not that of oneflow-rb");
  }
  const void* table = RTYPEDDATA_DATA(holder);
  const detail::Outcome outcome = detail::outcome_of([=] {
    detail::table = &extension::accept(table, "oneflow-rb");
    return Qnil;
  });
  if (outcome.kind == detail::Outcome::RAISES) rb_raise(rb_eLoadError, "%" PRIsVALUE, outcome.value);
}

/// Returns the table of oneflow-rb.
inline const of_extension_api& api() {
  if (detail::table == nullptr) throw InternalError("oneflow::ruby::initialize() was not called");
  return *detail::table;
}

// ---------------------------------------------------------------- values

namespace detail {

[[noreturn]] inline void refuse(VALUE value, const std::string& function, const std::string& argument,
                                const char* word) {
  extension::refuse(api(), value, function.c_str(), argument.c_str(), word);
}

// Returns an Integer of 64 bits; throws InvalidArgument for a larger one.
inline int64_t integer_of(VALUE value, const std::string& function, const std::string& argument) {
  if (RB_FIXNUM_P(value)) return RB_FIX2LONG(value);
  int64_t result = 0;
  const int sign =
      rb_integer_pack(value, &result, 1, sizeof result, 0, INTEGER_PACK_NATIVE_BYTE_ORDER | INTEGER_PACK_2COMP);
  if (sign == (result < 0 ? -1 : 1)) return result;
  throw InvalidArgument(function + ": " + argument + " must fit into 64 bits, got a larger integer");
}

}  // namespace detail

/// Converts an argument to a C++ type, or throws the error that names it: "twice: input must be Tensor, got String".
template <class T>
T from_value(VALUE value, const std::string& function, const std::string& argument) {
  if constexpr (extension::Exchanged<T>) {
    return extension::from_object<T>(api(), value, function.c_str(), argument.c_str());
  } else if constexpr (extension::is_optional<T>) {
    if (NIL_P(value)) return std::nullopt;
    return from_value<typename T::value_type>(value, function, argument);
  } else if constexpr (extension::is_vector<T>) {
    if (!RB_TYPE_P(value, T_ARRAY)) detail::refuse(value, function, argument, "Array");
    T items;
    for (long i = 0; i < RARRAY_LEN(value); ++i) {
      items.push_back(from_value<typename T::value_type>(rb_ary_entry(value, i), function,
                                                         argument + "[" + std::to_string(i) + "]"));
    }
    return items;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (value != Qtrue && value != Qfalse) detail::refuse(value, function, argument, "bool");
    return value == Qtrue;
  } else if constexpr (std::is_floating_point_v<T>) {
    if (RB_FLOAT_TYPE_P(value)) return static_cast<T>(RFLOAT_VALUE(value));
    if (!RB_INTEGER_TYPE_P(value)) detail::refuse(value, function, argument, "Float");
    return static_cast<T>(RB_FIXNUM_P(value) ? static_cast<double>(RB_FIX2LONG(value)) : rb_big2dbl(value));
  } else if constexpr (std::is_same_v<T, int64_t>) {
    if (!RB_INTEGER_TYPE_P(value)) detail::refuse(value, function, argument, "Integer");
    return detail::integer_of(value, function, argument);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!RB_TYPE_P(value, T_STRING)) detail::refuse(value, function, argument, "String");
    return {RSTRING_PTR(value), static_cast<size_t>(RSTRING_LEN(value))};
  } else {
    static_assert(std::is_same_v<T, VALUE>, "functions cannot take this type; integers are int64_t");
    return value;
  }
}

/// Converts a C++ value to one of Ruby.
template <class T>
VALUE to_value(const T& value) {
  if constexpr (extension::Exchanged<T>) {
    return extension::to_object(api(), value);
  } else if constexpr (extension::is_optional<T>) {
    return value ? to_value(*value) : Qnil;
  } else if constexpr (extension::is_vector<T>) {
    const VALUE array = protect([] { return rb_ary_new(); });
    for (const auto& item : value) {
      const VALUE object = to_value(item);
      protect([=] { return rb_ary_push(array, object); });
    }
    return array;
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? Qtrue : Qfalse;
  } else if constexpr (std::is_floating_point_v<T>) {
    return protect([=] { return rb_float_new(value); });
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return protect([=] { return LL2NUM(value); });
  } else if constexpr (std::is_same_v<T, std::string>) {
    const char* text = value.data();
    const auto length = static_cast<long>(value.size());
    return protect([=] { return rb_utf8_str_new(text, length); });
  } else {
    static_assert(std::is_same_v<T, VALUE>, "functions cannot return this type; integers are int64_t");
    return value;
  }
}

// ---------------------------------------------------------------- functions

/// Calls `work`, C++ code that returns a VALUE, and raises its exceptions in Ruby. For functions that are defined with
/// Ruby's C API: what they hold outside of `work` must need no destructor.
template <class Work>
VALUE guarded(const Work& work) {
  return detail::finish(detail::outcome_of(work));
}

namespace detail {

template <auto function>
inline Names* names = nullptr;

// Writes the arguments of a call, by position or by name, to one place each; Qundef for those that are absent.
inline void bind(const Names& names, int count, const VALUE* values, VALUE keywords, VALUE* arguments) {
  const size_t size = names.arguments.size();
  if (static_cast<size_t>(count) > size) {
    throw TypeMismatch(names.function + ": takes at most " + std::to_string(size) + " positional argument" +
                       (size == 1 ? "" : "s") + ", got " + std::to_string(count));
  }
  size_t used = 0;
  for (size_t i = 0; i < size; ++i) {
    const char* name = names.arguments[i].c_str();
    arguments[i] = i < static_cast<size_t>(count) ? values[i] : Qundef;
    if (NIL_P(keywords)) continue;
    const VALUE given = protect([=] { return rb_hash_lookup2(keywords, ID2SYM(rb_intern(name)), Qundef); });
    if (given == Qundef) continue;
    if (arguments[i] != Qundef) throw TypeMismatch(names.function + ": argument " + name + " given twice");
    arguments[i] = given;
    ++used;
  }
  if (NIL_P(keywords) || used == RHASH_SIZE(keywords)) return;
  const VALUE keys = protect([=] { return rb_funcall(keywords, rb_intern("keys"), 0); });
  for (long i = 0; i < RARRAY_LEN(keys); ++i) {
    const VALUE text = protect([=] { return rb_obj_as_string(rb_ary_entry(keys, i)); });
    const std::string name(RSTRING_PTR(text), static_cast<size_t>(RSTRING_LEN(text)));
    bool is_known = false;
    for (const std::string& known : names.arguments) is_known = is_known || known == name;
    if (!is_known) throw TypeMismatch(names.function + ": unknown argument " + name);
  }
}

template <auto function>
VALUE call(int count, const VALUE* values, VALUE keywords) {
  using Signature = extension::Signature<decltype(function)>;
  const Names& own = *names<function>;
  check(api().enter(&api()));
  VALUE arguments[Signature::count + 1];  // on the stack, where the garbage collector looks
  bind(own, count, values, keywords, arguments);
  const auto convert = [&]<class T>(size_t i) {
    if (arguments[i] == Qundef && !extension::is_optional<T>) {
      throw TypeMismatch(own.function + ": missing argument " + own.arguments[i]);
    }
    return from_value<T>(arguments[i] == Qundef ? Qnil : arguments[i], own.function, own.arguments[i]);
  };
  if constexpr (std::is_void_v<typename Signature::Result>) {
    Signature::call(function, convert);
    return Qnil;
  } else {
    return to_value(Signature::call(function, convert));
  }
}

template <auto function>
VALUE invoke(int count, VALUE* values, VALUE) {
  const bool has_keywords = count > 0 && rb_keyword_given_p() != 0;
  const VALUE keywords = has_keywords ? values[count - 1] : Qnil;
  return guarded([=] { return call<function>(has_keywords ? count - 1 : count, values, keywords); });
}

}  // namespace detail

/// Defines a function, or a lambda without captures, as a singleton method of a module. It has one name for each of its
/// arguments, by which they may be given; those that are std::optional may be absent. A C++ function has one name in
/// Ruby: wrap it in a lambda to define it once more.
template <auto function>
void define(VALUE module, const char* name, std::initializer_list<const char*> arguments) {
  if (arguments.size() != extension::Signature<decltype(function)>::count) {
    rb_raise(rb_eArgError, "%s: each argument of the C++ function needs a name", name);
  }
  detail::names<function> =
      new detail::Names{name, {arguments.begin(), arguments.end()}};  // lives as long as the method
  rb_define_singleton_method(module, name, RUBY_METHOD_FUNC(detail::invoke<function>), -1);
}

}  // namespace oneflow::ruby
#pragma GCC visibility pop

#endif  // ONEFLOW_RUBY_H_
