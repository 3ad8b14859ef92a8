// A connection over a socket: frames out, frames in.
#ifndef COMMNET_TRANSPORTS_SOCKETS_STREAM_H_
#define COMMNET_TRANSPORTS_SOCKETS_STREAM_H_

#include <commnet/transport.h>

#include <memory>
#include <string>
#include <vector>

#include "core/descriptor.h"
#include "transports/incoming.h"
#include "transports/outgoing.h"

namespace commnet::sockets {

class Stream {
 public:
  Stream(const cn_transport_host& host, Descriptor socket, bool is_connected, bool is_unix);

  int socket() const { return socket_.number(); }
  void set_host(cn_host_connection* connection) { connection_ = connection; }
  bool is_broken() const { return is_broken_; }
  // Returns whether there are bytes that were not sent, or that are not at the other machine: they would be lost if the
  // socket was closed while it has received something that was not read.
  bool has_unsent() const;

  bool send(const void* header, const void* payload, uint64_t size, uint64_t cookie);
  // Returns false if the connection has failed, which report_failure() reports.
  bool flush();
  void report_failure();
  // Receives nothing until it goes on.
  void pause(bool pauses) { is_paused_ = pauses; }
  // Returns false like flush().
  bool detach(const void* begin, uint64_t size);
  // The socket can be written to: it is connected, or takes more bytes.
  void on_writable();
  // Receives some of what has arrived. Returns whether there was anything; sets *is_dry if there is no more.
  bool receive(bool* is_dry);
  // The other side has ended the connection: what there is to receive ends with that.
  void note_end() { is_ending_ = true; }

 private:
  void fail(int code);
  // Takes bytes from the buffer; returns false if the connection has ended.
  bool parse();

  const cn_transport_host& host_;
  const Descriptor socket_;
  cn_host_connection* connection_ = nullptr;
  const bool is_unix_;
  bool is_connected_, is_broken_ = false, is_full_ = false, is_paused_ = false, is_ending_ = false;
  int failure_ = 0;
  Outgoing outgoing_;
  std::vector<uint64_t> sent_;

  const std::unique_ptr<char[]> buffer_;
  uint64_t begin_ = 0, end_ = 0;  // of the bytes in the buffer
  Incoming incoming_;
};

}  // namespace commnet::sockets

#endif  // COMMNET_TRANSPORTS_SOCKETS_STREAM_H_
