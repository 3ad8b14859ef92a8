// The functions of lib/classes/object.js that the addon calls.
#pragma once

#include <napi.h>

#include <string>

namespace oneflow::node {

// An object of JavaScript with the functions that lib/classes/object.js passes to setHost().
class Host {
 public:
  void set(Napi::Object functions) {
    functions_ = Napi::Persistent(functions);
    functions_.SuppressDestruct();  // Node deletes it with the environment
    identify_ = Napi::Persistent(functions.Get("identify").As<Napi::Function>());
    identify_.SuppressDestruct();
    wrap_tensor_ = Napi::Persistent(functions.Get("wrapTensor").As<Napi::Function>());
    wrap_tensor_.SuppressDestruct();
  }

  Napi::Value identify(const Napi::Value& value) const { return identify_.Call({value}); }
  std::string describe(const Napi::Value& value) const { return function("describe").Call({value}).As<Napi::String>(); }
  Napi::Value call(const char* name, const Napi::Value& value) const { return function(name).Call({value}); }
  void warn(const char* text) const { function("warn").Call({Napi::String::New(functions_.Env(), text)}); }
  // Makes a tensor of what stands for one, on a device, and returns its slot. Error texts begin with `subject`.
  int64_t make_tensor(const Napi::Value& value, const std::string& subject, int32_t device, bool of_integers) const {
    const Napi::Env env = functions_.Env();
    return function("makeTensor")
        .Call({value, Napi::String::New(env, subject), Napi::Number::New(env, device),
               Napi::Boolean::New(env, of_integers)})
        .ToNumber();
  }
  Napi::Value wrap_record(const char* name, const Napi::Object& fields) const {
    return function("wrapRecord").Call({Napi::String::New(functions_.Env(), name), fields});
  }
  Napi::Value wrap_tensor(int32_t slot) const { return wrap_tensor_.Call({Napi::Number::New(functions_.Env(), slot)}); }
  Napi::Value wrap_object(const char* class_name, int32_t slot) const {
    const Napi::Env env = functions_.Env();
    return function("wrapObject").Call({Napi::String::New(env, class_name), Napi::Number::New(env, slot)});
  }

 private:
  Napi::Function function(const char* name) const { return functions_.Value().Get(name).As<Napi::Function>(); }

  Napi::ObjectReference functions_;
  Napi::FunctionReference identify_, wrap_tensor_;  // the most frequent ones
};

}  // namespace oneflow::node
