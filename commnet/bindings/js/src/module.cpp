// The entry point of the addon, called once per Node environment.
#include <cstring>

#include "bytes.h"
#include "endpoint.h"
#include "environment.h"

namespace {

using namespace commnet::node;

Napi::Value token_size(const Napi::CallbackInfo& info) {
  const Bytes bytes(info[0]);
  cn_token token{};
  std::memcpy(token.bytes, bytes.data(), std::min(bytes.size(), sizeof token.bytes));
  return Napi::Number::New(info.Env(), static_cast<double>(cn_token_size(&token)));
}

Napi::Value set_error_factory(const Napi::CallbackInfo& info) {
  Environment::of(info.Env()).set_error_factory(info[0].As<Napi::Function>());
  return info.Env().Undefined();
}

Napi::Value detach(const Napi::CallbackInfo& info) {
  info[0].As<Napi::ArrayBuffer>().Detach();
  return info.Env().Undefined();
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new Environment);
  exports.Set("Endpoint", Endpoint::define(env));
  exports.Set("setErrorFactory", Napi::Function::New<set_error_factory>(env, "setErrorFactory"));
  exports.Set("detach", Napi::Function::New<detach>(env, "detach"));
  exports.Set("tokenSize", Napi::Function::New<token_size>(env, "tokenSize"));
  exports.Set("tokenBytes", Napi::Number::New(env, CN_TOKEN_SIZE));
  exports.Set("version", cn_version());
  const auto statuses = Napi::Array::New(env);
  for (int status = CN_INVALID_ARGUMENT; status <= CN_INTERNAL_ERROR; ++status)
    statuses.Set(statuses.Length(), cn_status_name(static_cast<cn_status>(status)));
  exports.Set("statuses", statuses);
  return exports;
}

}  // namespace

NODE_API_MODULE(commnet, init)
