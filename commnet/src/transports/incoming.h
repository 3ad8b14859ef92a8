// The frame that arrives on a connection, in pieces of any size.
#ifndef COMMNET_TRANSPORTS_INCOMING_H_
#define COMMNET_TRANSPORTS_INCOMING_H_

#include <commnet/transport.h>

#include <cstdint>

namespace commnet {

class Incoming {
 public:
  explicit Incoming(const cn_transport_host& host) : host_(host) {}

  // Takes some of the bytes, and returns how many. They are copied before they are looked at: the other side may be
  // able to change them. Sets *is_refused if the library has ended the connection.
  uint64_t take(cn_host_connection* connection, const char* bytes, uint64_t count, bool* is_refused);
  // Drops the rest of a payload that goes to a range of memory.
  void detach(const void* begin, uint64_t size);

  // Returns whether a part of a frame is here, and how many frames were complete.
  bool is_within_frame() const { return is_in_payload_ || header_size_ > 0; }
  uint64_t frames() const { return frames_; }

  // To receive a payload without a copy: returns how many bytes of it are missing, where they go, and that some are
  // there.
  uint64_t missing() const { return is_in_payload_ && payload_ ? left_ : 0; }
  char* place() const { return payload_; }
  void fill(cn_host_connection* connection, uint64_t count, bool* is_refused);

 private:
  bool begin(cn_host_connection* connection);
  bool end(cn_host_connection* connection);

  const cn_transport_host& host_;
  alignas(8) char header_[CN_FRAME_HEADER];
  uint64_t header_size_ = 0;  // bytes of the header that are here
  bool is_in_payload_ = false;
  char* payload_ = nullptr;  // where the rest of the payload goes; NULL: it is dropped
  uint64_t left_ = 0;        // of the payload
  uint64_t frames_ = 0;
};

}  // namespace commnet

#endif  // COMMNET_TRANSPORTS_INCOMING_H_
