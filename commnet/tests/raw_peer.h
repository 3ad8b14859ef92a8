// A peer that speaks the protocol over a TCP socket by itself, and may say what no correct endpoint says.
#ifndef COMMNET_TESTS_RAW_PEER_H_
#define COMMNET_TESTS_RAW_PEER_H_

#include <commnet/commnet.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/frame.h"

namespace commnet::tests {

class RawPeer {
 public:
  struct Arrived {
    Frame frame;
    std::vector<uint8_t> payload;
  };

  // Connects to the first tcp:// URL of an address.
  explicit RawPeer(const std::string& address);
  // Takes over a socket that it has accepted.
  explicit RawPeer(int socket) : socket_(socket) {}
  RawPeer(const RawPeer&) = delete;
  ~RawPeer();

  // Completes the handshake with a secret; `link` is that of an earlier one, for a further stream. Returns the status
  // of the welcome, or CN_PEER_LOST.
  cn_status greet(const std::string& name, const std::string& secret, uint32_t stream = 0,
                  const std::vector<uint8_t>& link = std::vector<uint8_t>(32));
  // Answers the handshake of an endpoint that has connected, with a status at its end. Returns whether it came so far.
  bool answer(const std::string& name, const std::string& secret, uint32_t status);
  const std::vector<uint8_t>& link() const { return link_; }
  // Returns whether the other side has proved in greet() that it knows the secret.
  bool has_proved() const { return has_proved_; }

  bool send_bytes(const void* data, size_t size);
  // Sends a header as it is, and a payload.
  bool send(Frame frame, const void* payload = nullptr, size_t size = 0);
  // Sends a frame whose size is that of its payload.
  bool send_right(Frame frame, const void* payload = nullptr, size_t size = 0);
  // Receives a frame; returns false if the other side has closed the connection, or says nothing for some seconds.
  bool receive(Arrived& arrived);
  // Receives frames until one of a type. Answers pings.
  bool receive(FrameType type, Arrived& arrived);
  // Returns whether the other side closes the connection.
  bool is_closed_by_other();
  // All bytes that were sent.
  const std::vector<uint8_t>& recording() const { return recording_; }

 private:
  bool receive_bytes(void* data, size_t size);

  int socket_ = -1;
  std::vector<uint8_t> link_, recording_;
  bool has_proved_ = false;
};

}  // namespace commnet::tests

#endif  // COMMNET_TESTS_RAW_PEER_H_
