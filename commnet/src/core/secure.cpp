#include "core/secure.h"

#include <sodium.h>

#include <mutex>

#include "core/status.h"

namespace commnet {

static_assert(crypto_auth_hmacsha256_BYTES == sizeof(Proof));
static_assert(crypto_auth_hmacsha256_KEYBYTES == sizeof(Key));
static_assert(crypto_hash_sha256_BYTES == sizeof(Key));

namespace {

// How much deriving a key takes: some hundredths of a second.
constexpr uint64_t kPasses = 2;
constexpr size_t kMemory = 19 << 20;
// All endpoints of a job derive the same key without having talked before.
constexpr std::array<uint8_t, crypto_pwhash_SALTBYTES> kSalt = {'c', 'o', 'm', 'm', 'n', 'e', 't', ' ', '2'};

// The length goes first, so that no two lists of messages give the same bytes.
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

std::string random_digits(size_t bytes) {
  std::string random(bytes, '\0'), digits(2 * bytes + 1, '\0');
  fill_randomly({reinterpret_cast<uint8_t*>(random.data()), bytes});
  sodium_bin2hex(digits.data(), digits.size(), reinterpret_cast<const uint8_t*>(random.data()), bytes);
  digits.pop_back();
  return digits;
}

Key key_of(Bytes secret) {
  // The key of the last secret: a process that creates many endpoints has one for all.
  static auto& mutex = *new std::mutex;
  static Key last_hash{}, last_key{};
  static bool has_last = false;
  Key hash, key;
  if (secret.empty()) secret = {reinterpret_cast<const uint8_t*>(""), 0};  // NULL is not accepted
  crypto_hash_sha256(hash.data(), secret.data(), secret.size());
  const std::lock_guard lock(mutex);
  if (has_last && are_same(hash, last_hash)) return last_key;
  if (crypto_pwhash(key.data(), key.size(), reinterpret_cast<const char*>(secret.data()), secret.size(), kSalt.data(),
                    kPasses, kMemory, crypto_pwhash_ALG_ARGON2ID13) != 0)
    fail(CN_OUT_OF_MEMORY, "there is no memory to derive the key of the secret");
  last_hash = hash;
  last_key = key;
  has_last = true;
  return key;
}

Proof prove(const Key& key, std::string_view role, std::initializer_list<Bytes> messages) {
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, key.data(), key.size());
  add(state, {reinterpret_cast<const uint8_t*>(role.data()), role.size()});
  for (const Bytes message : messages) add(state, message);
  Proof proof;
  crypto_auth_hmacsha256_final(&state, proof.data());
  return proof;
}

bool are_same(Bytes a, Bytes b) { return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0; }

void forget(std::span<uint8_t> bytes) { sodium_memzero(bytes.data(), bytes.size()); }

}  // namespace commnet
