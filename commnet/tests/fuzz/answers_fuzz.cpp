// Tries out frames of somebody whom an endpoint connects to.
#include "connection.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  commnet::fuzz::try_out(bytes, size, commnet::fuzz::Start::kAnswers);
  return 0;
}
