// Compiled into each library of operators: the functions of liboneflow that its operators call.
#include <cstdarg>
#include <cstdio>

#include "library/contents.h"
#include "library/host.h"

namespace oneflow {

// Generated.
extern const LibraryContents library_contents;

namespace {

const LibraryHost* host = nullptr;

}  // namespace

#define OF_FORWARD(result, name, parameters, arguments) \
  result name parameters { return host->name arguments; }
OF_LIBRARY_FUNCTIONS(OF_FORWARD)
#undef OF_FORWARD

void Tensor::destroy() noexcept { host->destroy_tensor(*this); }

const Operator& OperatorName::find() const {
  const Operator& found = host->find(name_);
  found_.store(&found, std::memory_order_release);
  return found;
}

void ForeseenWrites::note(const Tensor& tensor) { host->note_write(tensor); }

Axes AxisNumbers::repeated(Axes axes) { return host->repeated(std::move(axes)); }
std::optional<AxesList> AxisNumbers::regrouped(const Shape& sizes, const AxesList& steps, const Shape& to) {
  return host->regrouped(sizes, steps, to);
}

void fail(of_status status, const char* format, ...) {
  char text[4096];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  host->fail(status, text);
  __builtin_unreachable();
}

void fail_with_texts(of_status status, std::string_view text, std::initializer_list<std::string> values) {
  host->fail_with_texts(status, text, values);
  __builtin_unreachable();
}

std::string format_text(const char* format, ...) {
  char text[4096];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return text;
}

}  // namespace oneflow

extern "C" {
__attribute__((visibility("default"))) extern const char oneflow_operator_library[] = ONEFLOW_FINGERPRINT;

__attribute__((visibility("default"))) const oneflow::LibraryContents* oneflow_open_operator_library(
    const oneflow::LibraryHost* host) {
  oneflow::host = host;
  return &oneflow::library_contents;
}
}
