// The transport between endpoints of one process, for tests and for parts of a program that talk to each other.
#include <unistd.h>

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/secure.h"
#include "core/status.h"
#include "core/transports.h"
#include "transports/table.h"

namespace commnet::within_process {

namespace {

constexpr uint64_t kMostUnsent = 1 << 20;

struct Parcel {
  std::vector<char> bytes;  // the header and the payload
};

// One direction of a connection. The endpoints at its ends have locks of their own.
struct Pipe {
  std::mutex mutex;
  std::deque<Parcel> parcels;
  uint64_t size = 0;
  bool is_closed = false;
  class Within* reader = nullptr;  // what is woken
  class Within* writer = nullptr;
};

struct Connection {
  class Within& owner;
  cn_host_connection* host = nullptr;
  std::shared_ptr<Pipe> in, out;
  bool is_new = false;  // connected() is still to be called
  bool is_full = false, is_broken = false, is_paused = false;
};

// The open transports of this process, by their URLs.
struct Registry {
  std::mutex mutex;
  std::map<std::string, class Within*> transports;
};
Registry& registry() {
  static Registry& only = *new Registry;
  return only;
}

class Within {
 public:
  Within(const cn_transport_host& host, cn_host_endpoint* endpoint, const cn_transport_settings&)
      : host_(host), endpoint_(endpoint) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.transports.emplace(url_, this);
  }
  ~Within() {
    {
      Registry& all = registry();
      const std::lock_guard lock(all.mutex);
      all.transports.erase(url_);
    }
    for (const auto& [in, out] : arrivals_) leave(*in, *out);
  }

  int descriptor() const { return -1; }
  const char* address() const { return url_.c_str(); }

  Connection& connect(const std::string& url, cn_host_connection* host_connection) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto found = all.transports.find(url);
    // The child of a fork has inherited the transports of its parent, which are dead there.
    if (found == all.transports.end() || found->second->process_ != getpid())
      fail(CN_UNREACHABLE, "'%s': this process has no such endpoint", url.c_str());
    Within& other = *found->second;
    auto out = std::make_shared<Pipe>(), in = std::make_shared<Pipe>();
    out->writer = in->reader = this;
    out->reader = in->writer = &other;
    Connection& connection = add(in, out);
    connection.host = host_connection;
    connection.is_new = true;
    try {
      const std::lock_guard arrivals(other.arrivals_mutex_);
      other.arrivals_.emplace_back(out, in);
    } catch (...) {
      remove(connection);
      throw;
    }
    other.wake();
    wake();
    return connection;
  }

  void disconnect(Connection& connection) {
    leave(*connection.in, *connection.out);
    remove(connection);
  }

  // Copies all frames.
  bool send(Connection& connection, const void* header, const void* payload, uint64_t size, uint64_t cookie) {
    if (cookie != 0) note_cookie(connection, cookie);
    Parcel parcel{std::vector<char>(CN_FRAME_HEADER + size)};
    std::memcpy(parcel.bytes.data(), header, CN_FRAME_HEADER);
    if (size > 0) std::memcpy(parcel.bytes.data() + CN_FRAME_HEADER, payload, size);
    Pipe& pipe = *connection.out;
    const std::lock_guard lock(pipe.mutex);
    const uint64_t sent = parcel.bytes.size();
    pipe.parcels.push_back(std::move(parcel));
    pipe.size += sent;
    connection.is_full = pipe.size >= kMostUnsent;
    if (pipe.reader) pipe.reader->wake();
    return !connection.is_full;
  }

  bool progress() {
    bool did = take_arrivals();
    std::vector<Connection*> all;
    for (const auto& [connection, owned] : connections_) all.push_back(connection);
    for (Connection* const connection : all) {
      if (connection->is_broken) continue;
      if (std::exchange(connection->is_new, false)) {
        host_.connected(connection->host);
        did = true;
      }
      if (auto sent = cookies_.extract(connection))
        for (const uint64_t cookie : sent.mapped()) host_.sent(connection->host, cookie);
      did |= receive(*connection);
      if (connection->is_full && !connection->is_broken) {
        const std::lock_guard lock(connection->out->mutex);
        connection->is_full = connection->out->size >= kMostUnsent;
      } else {
        continue;
      }
      if (!connection->is_full) host_.writable(connection->host);
    }
    return did;
  }

  // Payloads are copied at once; sent() follows with the next progress.
  void flush(Connection&) {}
  void detach(Connection&, const void*, uint64_t) {}

  void pause(Connection& connection, bool pauses) const {
    connection.is_paused = pauses;
    wake();
  }

  bool has_unsent(const Connection& connection) const {
    const std::lock_guard lock(connection.out->mutex);
    return connection.out->size > 0 && !connection.out->is_closed;
  }

 private:
  void wake() const { host_.wake(endpoint_); }

  void note_cookie(Connection& connection, uint64_t cookie) {
    cookies_[&connection].push_back(cookie);
    wake();
  }

  // Closes both directions, and tells the other end.
  static void leave(Pipe& in, Pipe& out) {
    for (Pipe* const pipe : {&in, &out}) {
      const std::lock_guard lock(pipe->mutex);
      pipe->is_closed = true;
      (pipe == &in ? pipe->reader : pipe->writer) = nullptr;
      if (pipe->reader) pipe->reader->wake();
      if (pipe->writer) pipe->writer->wake();
    }
  }

  void remove(Connection& connection) {
    cookies_.erase(&connection);
    connections_.erase(&connection);
  }

  Connection& add(std::shared_ptr<Pipe> in, std::shared_ptr<Pipe> out) {
    auto connection = std::unique_ptr<Connection>(new Connection{*this, nullptr, std::move(in), std::move(out)});
    Connection& added = *connection;
    connections_.emplace(&added, std::move(connection));
    return added;
  }

  bool take_arrivals() {
    std::vector<std::pair<std::shared_ptr<Pipe>, std::shared_ptr<Pipe>>> arrivals;
    {
      const std::lock_guard lock(arrivals_mutex_);
      arrivals.swap(arrivals_);
    }
    for (auto& [in, out] : arrivals) {
      Connection* added = nullptr;
      try {
        added = &add(in, out);
      } catch (...) {
        leave(*in, *out);  // there is no memory for it
        continue;
      }
      Connection& connection = *added;
      connection.host = host_.accepted(endpoint_, reinterpret_cast<cn_transport*>(this),
                                       reinterpret_cast<cn_connection*>(&connection));
      if (!connection.host) disconnect(connection);
    }
    return !arrivals.empty();
  }

  bool receive(Connection& connection) {
    Pipe& pipe = *connection.in;
    bool did = false;
    for (uint64_t received = 0; received < kMostUnsent;) {
      if (connection.is_paused) return did;
      Parcel parcel;
      {
        const std::lock_guard lock(pipe.mutex);
        if (pipe.parcels.empty()) {
          if (!pipe.is_closed) return did;
          connection.is_broken = true;
        } else {
          parcel = std::move(pipe.parcels.front());
          pipe.parcels.pop_front();
          const bool was_full = pipe.size >= kMostUnsent;
          pipe.size -= parcel.bytes.size();
          if (was_full && pipe.size < kMostUnsent && pipe.writer) pipe.writer->wake();
        }
      }
      did = true;
      if (connection.is_broken) {
        host_.broken(connection.host, CN_PEER_LOST, "the other endpoint was closed");
        return did;
      }
      const uint64_t size = parcel.bytes.size() - CN_FRAME_HEADER;
      received += parcel.bytes.size();
      void* payload = nullptr;
      if (!host_.begin_frame(connection.host, parcel.bytes.data(), size, &payload)) {
        connection.is_broken = true;
        return did;
      }
      if (payload && size > 0) std::memcpy(payload, parcel.bytes.data() + CN_FRAME_HEADER, size);
      if (!host_.end_frame(connection.host)) {
        connection.is_broken = true;
        return did;
      }
    }
    wake();
    return did;
  }

  const cn_transport_host& host_;
  cn_host_endpoint* const endpoint_;
  // No other process has it, so that an address which has come from one is never taken for an own one.
  const std::string url_ = "process:" + random_digits(16);
  const pid_t process_ = getpid();
  std::map<Connection*, std::unique_ptr<Connection>> connections_;
  std::map<Connection*, std::vector<uint64_t>> cookies_;
  std::mutex arrivals_mutex_;
  std::vector<std::pair<std::shared_ptr<Pipe>, std::shared_ptr<Pipe>>> arrivals_;
};

}  // namespace
}  // namespace commnet::within_process

namespace commnet {
constinit const cn_transport_table kWithinProcess =
    table_of<within_process::Within, within_process::Connection>({.name = "memory", .schemes = "process"});
}  // namespace commnet
