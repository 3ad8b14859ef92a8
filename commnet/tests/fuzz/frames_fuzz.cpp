// Tries out frames of a peer that has completed the handshake.
#include "connection.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  commnet::fuzz::try_out(bytes, size, commnet::fuzz::Start::kPeer);
  return 0;
}
