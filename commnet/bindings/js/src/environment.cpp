#include "environment.h"

namespace commnet::node {

Napi::Error Environment::make_error(Napi::Env env, cn_status status, const char* text) const {
  const auto message = Napi::String::New(env, text ? text : cn_error());
  const auto name = Napi::String::New(env, cn_status_name(status));
  return Napi::Error(env, error_factory_.Call({name, message}));
}

}  // namespace commnet::node
