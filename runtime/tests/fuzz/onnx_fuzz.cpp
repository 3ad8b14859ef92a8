// A libFuzzer target for ONNX files: any content must load, or give an error that is not an internal one. It contains
// the reader, with the sanitizers; what the reader calls is the library as users have it.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "onnx/load.h"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// Returns a path whose file has the content.
std::string path_of(const uint8_t* data, size_t bytes) {
  static const int descriptor = memfd_create("input", 0);
  require(ftruncate(descriptor, static_cast<off_t>(bytes)) == 0, "the file can be resized");
  require(pwrite(descriptor, data, bytes, 0) == static_cast<ssize_t>(bytes), "the file can be written");
  return "/proc/self/fd/" + std::to_string(descriptor);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  // A model may ask for any amount of memory.
  static const of_status limited = of_set_memory_limit(of_default_device(), uint64_t{1} << 29);
  require(limited == OF_OK, "memory can be limited");
  try {
    oneflow::onnx::load(path_of(data, bytes), {});
  } catch (const oneflow::Error& error) {
    require(error.status() != OF_INTERNAL_ERROR, error.what());
    require(error.what()[0] != '\0', "an error has a text");
  }
  return 0;
}
