// What the addon knows for one Node environment. The main thread and each worker thread have their own.
#pragma once

#include <commnet/commnet.h>
#include <napi.h>

namespace commnet::node {

class Environment {
 public:
  static Environment& of(Napi::Env env) { return *env.GetInstanceData<Environment>(); }

  // Sets the function that makes exceptions from (name of the status, text).
  void set_error_factory(Napi::Function factory) { error_factory_ = Napi::Persistent(factory); }
  // Makes the exception for a status and its text; NULL stands for cn_error().
  Napi::Error make_error(Napi::Env env, cn_status status, const char* text = nullptr) const;

 private:
  Napi::FunctionReference error_factory_;
};

// Throws the exception of a failure.
inline void check(Napi::Env env, cn_status status) {
  if (status != CN_OK) throw Environment::of(env).make_error(env, status);
}

}  // namespace commnet::node
