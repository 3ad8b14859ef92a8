// The error texts for arguments that do not fit. docs/reference/errors.md lists the forms that all front ends share.

#include "arguments.h"
#include "errors.h"

namespace oneflow::python {
namespace {

std::string text_of(PyObject* object) {
  Ref bytes(PyUnicode_AsEncodedString(object, "utf-8", "backslashreplace"));
  if (bytes) return PyBytes_AS_STRING(bytes.get());
  PyErr_Clear();
  return "?";
}

// Returns "; pass dtype or device by name" for arguments of which some are passed by name only; else "".
std::string by_name(std::span<const ArgumentRecord> arguments) {
  std::vector<const char*> names;
  for (const ArgumentRecord& each : arguments)
    if (each.keyword_only) names.push_back(each.name);
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + std::string(names[i]);
  return text.empty() ? "" : "; pass " + text + " by name";
}

std::string quoted(PyObject* object) { return "'" + text_of(object) + "'"; }

}  // namespace

PyObject* Mismatch::raise(const char* function) const {
  if (PyErr_Occurred()) return nullptr;  // out of memory, or an exception from an object's own method
  std::string text = std::string(function) + ": ";
  std::string name = argument != nullptr ? argument->name : "";
  std::string word = argument != nullptr ? argument->word : "";
  if (item >= 0) {
    name += "[" + std::to_string(item) + "]";
    word = argument->item_word;
  }
  switch (reason) {
    case Reason::kTooMany:
      text += "takes at most " + std::to_string(allowed) + " positional argument" + (allowed == 1 ? "" : "s") +
              ", got " + std::to_string(given) + by_name(arguments);
      return python::raise(OF_TYPE_MISMATCH, text);
    case Reason::kMissing:
      return python::raise(OF_TYPE_MISMATCH, text + "missing argument " + name);
    case Reason::kUnknown:
      text += "unknown argument " + text_of(found.get());
      if (!detail.empty()) text += "; did you mean " + detail + "?";
      return python::raise(OF_TYPE_MISMATCH, text);
    case Reason::kTwice:
      return python::raise(OF_TYPE_MISMATCH, text + "argument " + name + " given twice");
    case Reason::kWrongType:
      return python::raise(OF_TYPE_MISMATCH, text + name + " must be " + word + ", got " + type_name(found.get()));
    case Reason::kTooLarge:
      return python::raise(OF_INVALID_ARGUMENT, text + name + " must fit into 64 bits, got a larger integer");
    case Reason::kTooLong:
      return python::raise(OF_INVALID_ARGUMENT, text + name + " must have a length of at most 2147483647");
    case Reason::kNotUnicode:
      return python::raise(OF_INVALID_ARGUMENT, text + name + " must be valid Unicode, got a lone surrogate");
    case Reason::kNullByte:
      return python::raise(OF_INVALID_ARGUMENT, text + name + " must not have a null byte");
    case Reason::kUnknownDtype:
      return python::raise(OF_INVALID_ARGUMENT,
                           text + name + " must be the name of a dtype, got " + quoted(found.get()));
    case Reason::kUnknownDevice:
      return python::raise(OF_DEVICE_ERROR, text + detail);
  }
  return nullptr;
}

}  // namespace oneflow::python
