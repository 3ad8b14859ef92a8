// What a library of operators gives to liboneflow, which loads it (see capi/operator_libraries.cpp).
//
// Both are compiled from the same headers: their fingerprint is the text that the library exports as
// `oneflow_operator_library`, which is compared before anything else of it is used.
#ifndef ONEFLOW_LIBRARY_CONTENTS_H_
#define ONEFLOW_LIBRARY_CONTENTS_H_

#include <oneflow/device_plugin.h>
#include <oneflow/operator_library.h>

#include <span>

#include "dispatch/loaded_operators.h"
#include "dispatch/schema.h"

namespace oneflow {

struct LibraryHost;

// An operator outside the library that its operators call.
struct CalledOperator {
  const char* name;
  uint64_t signature_id;
};

struct LibraryContents {
  const char* name;  // the namespace
  std::span<const Schema> operators, gradients;
  std::span<const CalledOperator> called;
  std::span<const DeviceKernels> kernels;
  std::span<const of_library_language> languages;
};

// The names of what a library exports.
inline constexpr char kFingerprintSymbol[] = "oneflow_operator_library";
inline constexpr char kOpenSymbol[] = "oneflow_open_operator_library";

}  // namespace oneflow

// Gets what liboneflow offers to the library, and returns what the library has.
using OpenLibrary = const oneflow::LibraryContents*(const oneflow::LibraryHost* host);

#endif  // ONEFLOW_LIBRARY_CONTENTS_H_
