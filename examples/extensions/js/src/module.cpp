#include <oneflow/napi.h>

#include "extras.hpp"

namespace {

oneflow::Tensor scaled_tanh(const oneflow::Tensor& input, std::optional<double> scale) {
  return extras::scaled_tanh(input, scale.value_or(1.0));
}

oneflow::Tensor standardize(const oneflow::Tensor& input, std::optional<int64_t> dim) {
  return extras::standardize(input, dim.value_or(-1));
}

int64_t live_tables() { return extras::tables; }

Napi::Object initialize(Napi::Env env, Napi::Object exports) {
  oneflow::node::initialize(env);
  using oneflow::node::define;
  define<scaled_tanh>(exports, "scaledTanh", {"input", "scale"});
  define<standardize>(exports, "standardize", {"input", "dim"});
  define<extras::noisy>(exports, "noisy", {"input", "deviation", "generator"});
  define<extras::squares>(exports, "squares", {"count"});
  define<live_tables>(exports, "liveTables", {});
  return exports;
}

}  // namespace

NODE_API_MODULE(extras, initialize)
