// Memory of a peer that this process reads and writes by itself, once the peer has said how.
#ifndef COMMNET_CORE_REMOTE_H_
#define COMMNET_CORE_REMOTE_H_

#include <commnet/commnet.h>

#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/connection.h"

namespace commnet {

struct Remote {
  enum class State : uint8_t {
    kAsked,     // the peer has not answered yet
    kOpen,      // it can be accessed
    kInFrames,  // its bytes have to travel in frames
    kRefused,   // for the reason `status` and `text`
  };

  Remote(Connection& over, const cn_token& of) : connection(over), token(of) {}
  Remote(const Remote&) = delete;
  ~Remote() { close(); }

  void close() {
    if (handle) connection.close_remote(std::exchange(handle, nullptr));
  }

  Connection& connection;
  const cn_token token;
  State state = State::kAsked;
  cn_remote* handle = nullptr;
  uint64_t size = 0;
  uint32_t rights = 0;
  cn_status status = CN_OK;
  std::string text;
  std::vector<uint64_t> waiting;  // operations, for the answer
};

// Equal tokens name equal memory; what cannot be guessed in them spreads them well.
struct TokenHash {
  size_t operator()(const cn_token& token) const {
    size_t value = 0;
    std::memcpy(&value, token.bytes + CN_TOKEN_SIZE / 2, sizeof value);
    return value;
  }
};
struct TokenEqual {
  bool operator()(const cn_token& a, const cn_token& b) const {
    return std::memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
  }
};
using RemoteTable = std::unordered_map<cn_token, std::shared_ptr<Remote>, TokenHash, TokenEqual>;

}  // namespace commnet

#endif  // COMMNET_CORE_REMOTE_H_
