// One connection through shared memory: its segment, frames out, frames in.
#ifndef COMMNET_TRANSPORTS_SHARED_CHANNEL_H_
#define COMMNET_TRANSPORTS_SHARED_CHANNEL_H_

#include <commnet/transport.h>

#include <map>
#include <set>
#include <vector>

#include "core/descriptor.h"
#include "core/memory_file.h"
#include "transports/incoming.h"
#include "transports/outgoing.h"
#include "transports/shared/letter.h"
#include "transports/shared/neighbour.h"
#include "transports/shared/ring.h"
#include "transports/shared/segment.h"

namespace commnet::shared {

// Memory of the other process: a file that both have mapped, or what is at an address there.
struct Remote {
  uint64_t region, grant;
  MemoryFile file;
  uint64_t address;
};

class Channel {
 public:
  // `socket` is connected. `has_begun` says whether this side has connected it.
  Channel(const cn_transport_host& host, Descriptor socket, bool has_begun);

  int socket() const { return socket_.number(); }
  void set_host(cn_host_connection* connection) { connection_ = connection; }
  cn_host_connection* host() const { return connection_; }
  bool is_open() const { return is_open_; }
  bool is_broken() const { return is_broken_; }

  // Throws Error if there is no memory to share.
  void make_segment();
  // Sends the first letter, with the signal that wakes this endpoint. Returns 0 or the number of an error.
  int send_hello(int signal);
  // Receives letters, and sets *has_hello if the first one is right: frames can then be sent. Returns 0 or the number
  // of the error by which the connection has ended.
  int receive_letters(bool* has_hello);
  // The socket has ended, with the number of an error. What is in the ring is still to be read.
  void end(int code);

  bool send(const void* header, const void* payload, uint64_t size, uint64_t cookie);
  // Writes what there is room for, and lets the other side see it. Returns whether it has written anything.
  bool flush();
  void detach(const void* begin, uint64_t size);
  bool has_unsent() const { return outgoing_.size() > 0; }
  void pause(bool pauses) { is_paused_ = pauses; }
  // Takes some of what has arrived. Returns whether there was anything.
  bool receive();
  // Has the other side wake this endpoint. Returns false if there is something to do already.
  bool rest();
  void wake() {
    if (is_open_) reader_.wake();
  }

  cn_status expose(const cn_region& region, cn_grant& grant);
  bool revoke(uint64_t region);
  Remote* open_remote(const cn_grant& grant, uint64_t size);
  cn_status get(Remote& remote, uint64_t offset, void* to, uint64_t* size);
  cn_status put(Remote& remote, uint64_t offset, const void* from, uint64_t* size);

 private:
  void use_segment();
  bool take_hello(const Letter& letter, Descriptor (&files)[kMostFiles]);
  void ring_bell() const;
  const char* text_of_end() const;
  void break_off(cn_status status, const char* text);
  bool send_file(const cn_region& region);
  static cn_status status_of(int code);

  const cn_transport_host& host_;
  const Descriptor socket_;
  const bool has_begun_;
  cn_host_connection* connection_ = nullptr;
  bool is_open_ = false, is_broken_ = false, is_full_ = false, is_paused_ = false;
  int end_ = 0;

  MemoryFile memory_;
  Descriptor bell_;  // wakes the other side
  Writer writer_;
  Reader reader_;
  Neighbour neighbour_;
  std::map<uint64_t, Descriptor> files_;  // of regions of the other side, that have come
  std::set<uint64_t> addressed_;          // own regions that the other side may access by their address

  Outgoing outgoing_;
  std::vector<uint64_t> sent_;

  Incoming incoming_;
};

}  // namespace commnet::shared

#endif  // COMMNET_TRANSPORTS_SHARED_CHANNEL_H_
