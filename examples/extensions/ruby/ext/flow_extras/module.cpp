#include <oneflow/ruby.h>

#include "extras.hpp"

namespace {

oneflow::Tensor scaled_tanh(const oneflow::Tensor& input, std::optional<double> scale) {
  return extras::scaled_tanh(input, scale.value_or(1.0));
}

oneflow::Tensor standardize(const oneflow::Tensor& input, std::optional<int64_t> dim) {
  return extras::standardize(input, dim.value_or(-1));
}

int64_t live_tables() { return extras::tables; }

}  // namespace

extern "C" __attribute__((visibility("default"))) void Init_native() {
  oneflow::ruby::initialize();
  using oneflow::ruby::define;
  const VALUE module = rb_define_module("FlowExtras");
  define<scaled_tanh>(module, "scaled_tanh", {"input", "scale"});
  define<standardize>(module, "standardize", {"input", "dim"});
  define<extras::noisy>(module, "noisy", {"input", "deviation", "generator"});
  define<extras::squares>(module, "squares", {"count"});
  define<live_tables>(module, "live_tables", {});
}
