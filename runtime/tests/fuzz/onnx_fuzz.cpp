// A libFuzzer target for ONNX files: any content must load, or give an error that is not an internal one. It contains
// the reader, with the sanitizers; what the reader calls is the library as users have it.
#include "onnx/load.h"
#include "tests/fuzz/input_file.h"

using oneflow::path_of;
using oneflow::require;

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
