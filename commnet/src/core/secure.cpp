#include "core/secure.h"

#include <sodium.h>

#include "core/status.h"

namespace commnet {

static_assert(crypto_auth_hmacsha256_BYTES == sizeof(Proof));
static_assert(crypto_auth_hmacsha256_KEYBYTES == sizeof(Key));
static_assert(crypto_hash_sha256_BYTES == sizeof(Key));

namespace {

// The length goes first, so that no two pairs of messages give the same bytes.
void add(crypto_auth_hmacsha256_state& state, Bytes bytes) {
  const uint64_t size = bytes.size();
  crypto_auth_hmacsha256_update(&state, reinterpret_cast<const uint8_t*>(&size), sizeof size);
  crypto_auth_hmacsha256_update(&state, bytes.data(), bytes.size());
}

}  // namespace

void start_security() {
  if (sodium_init() < 0) fail(CN_SYSTEM_ERROR, "libsodium cannot be initialized");
}

void fill_randomly(std::span<uint8_t> bytes) { randombytes_buf(bytes.data(), bytes.size()); }

Key key_of(Bytes secret) {
  Key key;
  crypto_hash_sha256(key.data(), secret.data(), secret.size());
  return key;
}

Proof prove(const Key& key, std::string_view role, Bytes first, Bytes second) {
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, key.data(), key.size());
  add(state, {reinterpret_cast<const uint8_t*>(role.data()), role.size()});
  add(state, first);
  add(state, second);
  Proof proof;
  crypto_auth_hmacsha256_final(&state, proof.data());
  return proof;
}

bool are_same(Bytes a, Bytes b) { return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0; }

void forget(std::span<uint8_t> bytes) { sodium_memzero(bytes.data(), bytes.size()); }

}  // namespace commnet
