// What keeps strangers out: random numbers, proofs that a secret is known, and comparisons that take the same time
// whatever they find.
#ifndef COMMNET_CORE_SECURE_H_
#define COMMNET_CORE_SECURE_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace commnet {

using Bytes = std::span<const uint8_t>;
using Key = std::array<uint8_t, 32>;
using Proof = std::array<uint8_t, 32>;

// Prepares the library below. Throws Error if the system has no random numbers.
void start_security();
void fill_randomly(std::span<uint8_t> bytes);
// Returns the hexadecimal digits of so many random bytes.
std::string random_digits(size_t bytes);
// Returns the key of a shared secret. To derive it takes some time, so that who has seen proofs cannot try many
// secrets.
Key key_of(Bytes secret);
// Returns a proof that the key is known, for messages in a role. Nothing but the same input gives the same proof.
Proof prove(const Key& key, std::string_view role, std::initializer_list<Bytes> messages);
bool are_same(Bytes a, Bytes b);
// Overwrites what must not be found in memory later.
void forget(std::span<uint8_t> bytes);

}  // namespace commnet

#endif  // COMMNET_CORE_SECURE_H_
