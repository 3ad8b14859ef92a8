// An endpoint that gets frames from a program that tries out bytes, instead of a network.
#ifndef COMMNET_TESTS_FUZZ_CONNECTION_H_
#define COMMNET_TESTS_FUZZ_CONNECTION_H_

#include <commnet/commnet.h>

#include <cstddef>
#include <cstdint>

namespace commnet::fuzz {

enum class Start {
  kStranger,  // a stranger has connected
  kPeer,      // a hostile peer has connected, and completed the handshake
  kAnswers    // the endpoint connects to somebody, who may know the secret
};

// Gives a fresh connection to an endpoint, with a hostile program behind it, and then frames of which the bytes are
// made. Nothing may go wrong, whatever the bytes are.
void try_out(const uint8_t* bytes, size_t size, Start start);

}  // namespace commnet::fuzz

#endif  // COMMNET_TESTS_FUZZ_CONNECTION_H_
