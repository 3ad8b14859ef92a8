// Binds the arguments of calls of functions: those of plain types at once, all others with the shared binder.
#pragma once

#include <oneflow/short_call.hpp>

#include "calls/function.h"
#include "classes/language.h"
#include "memory.h"

namespace oneflow::ruby {

// A call with the arguments that Ruby passed.
struct CallSite {
  const Function* function;
  int count;  // number of positional arguments
  const VALUE* values;
  VALUE keywords;  // a Hash, or nil
  VALUE receiver;  // the object of a method call, or Qundef
  bool in_place;   // the result is written to the receiver, or to a list of tensors
  VALUE kept;      // keeps `values` alive where they are not the caller's: the Array that holds them, or Qundef
};

// What values of Ruby are, for calls whose arguments are of plain types.
struct PlainValues {
  using Native = VALUE;
  static constexpr VALUE kAbsent = Qundef;
  static bool read(VALUE object, of_value* value, ShortMemory* memory);
  static bool items(VALUE object, const VALUE** items, size_t* count);
  static std::string_view text(VALUE name);
};

// The overload that a call resolved to, with its arguments converted. It must be on the stack, where the garbage
// collector finds what it refers to.
class BoundCall {
 public:
  explicit BoundCall(const CallSite& site) : site_(site) {}

  // Binds the call. Raises the error of the shared binder if no overload accepts the arguments.
  void bind();
  // Frees memory that the garbage collector would free later.
  void release();

  const char* name() const;  // of the function, in the form that the call has, for error texts
  const of_overload& overload() const { return *overload_; }
  of_op op() const { return site_.function->ops[overload_ - site_.function->function.overloads]; }
  const of_value* values() const { return arguments_ ? arguments_->values : short_.values; }
  // Returns what an argument was converted from: Qundef if it was not given, an Array of separate arguments.
  VALUE native(int32_t position) const;
  // Runs work with the values: without Ruby's lock if it is long.
  template <class Work>
  of_status run(bool is_long, const Work& work, Interrupted when_interrupted) const {
    VALUE lists = is_long ? copies_of_lists() : Qnil;
    const of_status status = run_native(is_long, work, when_interrupted);
    RB_GC_GUARD(lists);
    return status;
  }
  // Returns the value of `out:`, or Qundef; and its tensors.
  VALUE out() const {
    return arguments_ ? (arguments_->output_count ? value_of(arguments_->out) : Qundef) : short_.out;
  }
  const VALUE* outputs() const {
    return arguments_ ? reinterpret_cast<const VALUE*>(arguments_->outputs) : &short_.out;
  }
  bool requires_grad() const { return arguments_ && arguments_->requires_grad; }

 private:
  static VALUE value_of(of_native native) { return reinterpret_cast<VALUE>(native); }
  of_manner manner() const;
  bool bind_plain();
  void bind_others();
  // Returns an Array of copies of the Arrays whose tensors are arguments: another thread may change those meanwhile, so
  // that they no longer keep the tensors alive. nil if there are none.
  VALUE copies_of_lists() const;

  const CallSite site_;
  const of_overload* overload_ = nullptr;
  ShortCall<PlainValues> short_;
  of_arguments* arguments_ = nullptr;  // of the shared binder
  CallContext context_{};
  VALUE owner_ = Qnil;  // an object that owns `arguments_`
  VALUE given_ = Qnil;  // an Array of what the shared binder got
};

// Raises TypeMismatch for more positional arguments than the `most` that a function takes. `named` is an Array of the
// names of the other arguments.
[[noreturn]] void raise_too_many(const char* function, int most, int given, VALUE named);

// Makes the Symbols of the names of a function's parameters.
void prepare_names(Function& function);

}  // namespace oneflow::ruby
