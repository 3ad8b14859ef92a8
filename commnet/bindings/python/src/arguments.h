// Arguments: Python objects become C++ values, or raise an error that names them.
#ifndef COMMNET_PYTHON_ARGUMENTS_H_
#define COMMNET_PYTHON_ARGUMENTS_H_

#include <commnet/commnet.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace commnet_python {

class Queue;

// Returns an integer from 0 to `most`.
uint64_t integer_of(pybind11::handle object, const char* name, uint64_t most = UINT64_MAX);
inline uint32_t integer32_of(pybind11::handle object, const char* name) {
  return static_cast<uint32_t>(integer_of(object, name, UINT32_MAX));
}
// Returns a time in units of a second / `scale`, rounded up.
uint32_t duration_of(pybind11::handle seconds, const char* name, double scale);
// Returns a text without zero bytes.
std::string text_of(pybind11::handle object, const char* name);
std::optional<std::string> optional_text_of(pybind11::handle object, const char* name);
cn_token token_of(pybind11::handle object);

// How an operation is done.
struct Call {
  uint32_t timeout_ms = 0;  // 0: without a limit
  std::shared_ptr<Queue> queue;
};
// Returns a call with a timeout in seconds, or None, and a queue, or None.
Call call_of(pybind11::handle timeout, pybind11::handle queue = pybind11::none());

}  // namespace commnet_python

#endif  // COMMNET_PYTHON_ARGUMENTS_H_
