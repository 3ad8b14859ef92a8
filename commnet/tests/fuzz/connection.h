// An endpoint that gets frames from a program that tries out bytes, instead of a network.
#ifndef COMMNET_TESTS_FUZZ_CONNECTION_H_
#define COMMNET_TESTS_FUZZ_CONNECTION_H_

#include <commnet/commnet.h>

#include <cstddef>
#include <cstdint>

namespace commnet::fuzz {

// Gives a fresh connection to an endpoint, with a hostile peer behind it, and then frames of which the bytes are made.
// With `opens`, the peer has completed the handshake before. Nothing may go wrong, whatever the bytes are.
void try_out(const uint8_t* bytes, size_t size, bool opens);

}  // namespace commnet::fuzz

#endif  // COMMNET_TESTS_FUZZ_CONNECTION_H_
