// Tries out frames of a stranger.
#include "connection.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  commnet::fuzz::try_out(bytes, size, commnet::fuzz::Start::kStranger);
  return 0;
}
