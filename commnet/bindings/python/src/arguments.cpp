#include "arguments.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "buffer.h"
#include "endpoint.h"
#include "errors.h"

namespace py = pybind11;

namespace commnet_python {

namespace {

[[noreturn]] void refuse_type(const char* name, const char* expected, py::handle object) {
  throw py::type_error(std::string(name) + " must be " + expected + ", got " + Py_TYPE(object.ptr())->tp_name);
}

}  // namespace

uint64_t integer_of(py::handle object, const char* name, uint64_t most) {
  // Also integers of NumPy.
  if (!PyIndex_Check(object.ptr())) refuse_type(name, "an int", object);
  const auto integer = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  if (!integer) throw py::error_already_set();
  const uint64_t value = PyLong_AsUnsignedLongLong(integer.ptr());
  const bool is_outside = PyErr_Occurred() != nullptr;
  if (is_outside) PyErr_Clear();
  if (is_outside || value > most)
    raise(CN_INVALID_ARGUMENT, std::string(name) + " must be from 0 to " + std::to_string(most) + ", got " +
                                   std::string(py::str(integer)).substr(0, 40));
  return value;
}

uint32_t duration_of(py::handle seconds, const char* name, double scale) {
  if (!PyFloat_Check(seconds.ptr()) && !PyIndex_Check(seconds.ptr())) refuse_type(name, "a number of seconds", seconds);
  const double value = PyFloat_AsDouble(seconds.ptr());
  const bool is_outside = value == -1.0 && PyErr_Occurred() != nullptr;
  if (is_outside) PyErr_Clear();
  const double units = std::ceil(value * scale);
  if (is_outside || !(units >= 0) || units > UINT32_MAX)
    raise(CN_INVALID_ARGUMENT, std::string(name) + " must be from 0 to " +
                                   std::to_string(static_cast<uint64_t>(UINT32_MAX / scale)) + " seconds, got " +
                                   std::string(py::str(seconds)).substr(0, 40));
  return static_cast<uint32_t>(units);
}

std::string text_of(py::handle object, const char* name) {
  if (!PyUnicode_Check(object.ptr())) refuse_type(name, "a str", object);
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (bytes == nullptr) {
    PyErr_Clear();
    raise(CN_INVALID_ARGUMENT, std::string(name) + " must not contain surrogates");
  }
  const std::string text(bytes, static_cast<size_t>(size));
  if (text.find('\0') != std::string::npos)
    raise(CN_INVALID_ARGUMENT, std::string(name) + " must not contain a zero character");
  return text;
}

std::optional<std::string> optional_text_of(py::handle object, const char* name) {
  if (object.is_none()) return std::nullopt;
  return text_of(object, name);
}

cn_token token_of(py::handle object) {
  Buffer bytes;
  bytes.take(object, Buffer::Access::kRead, "token");
  if (bytes.size() != CN_TOKEN_SIZE)
    raise(CN_INVALID_ARGUMENT,
          "token must have " + std::to_string(CN_TOKEN_SIZE) + " bytes, got " + std::to_string(bytes.size()));
  cn_token token;
  std::memcpy(token.bytes, bytes.data(), sizeof token.bytes);
  return token;
}

Call call_of(py::handle timeout, py::handle queue) {
  Call call;
  if (!timeout.is_none()) call.timeout_ms = std::max(duration_of(timeout, "timeout", 1e3), 1u);
  if (queue.is_none()) return call;
  if (!py::isinstance<Queue>(queue)) refuse_type("queue", "a Queue", queue);
  call.queue = queue.cast<std::shared_ptr<Queue>>();
  return call;
}

}  // namespace commnet_python
