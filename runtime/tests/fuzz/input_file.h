// Inputs of libFuzzer as files.
#ifndef ONEFLOW_TESTS_FUZZ_INPUT_FILE_H_
#define ONEFLOW_TESTS_FUZZ_INPUT_FILE_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace oneflow {

// Ends the program, as a finding, unless a condition holds.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// Returns a path whose file has the content.
inline std::string path_of(const uint8_t* data, size_t bytes) {
  static const int descriptor = memfd_create("input", 0);
  require(ftruncate(descriptor, static_cast<off_t>(bytes)) == 0, "the file can be resized");
  require(pwrite(descriptor, data, bytes, 0) == static_cast<ssize_t>(bytes), "the file can be written");
  return "/proc/self/fd/" + std::to_string(descriptor);
}

}  // namespace oneflow

#endif  // ONEFLOW_TESTS_FUZZ_INPUT_FILE_H_
