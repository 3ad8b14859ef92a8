// The table of a transport that is written as two classes.
#ifndef COMMNET_TRANSPORTS_TABLE_H_
#define COMMNET_TRANSPORTS_TABLE_H_

#include <commnet/transport.h>

#include <type_traits>
#include <utility>

#include "core/status.h"

namespace commnet {

// What to say of a transport besides its functions.
struct TransportTraits {
  const char* name;
  const char* schemes;
  bool keeps_payloads = false, has_hosts = false, is_flush_cheap = false, has_streams = false;
};

// The objects behind the handles of a transport.
template <class Transport, class Connection>
struct Behind {
  static Transport& transport(cn_transport* handle) { return *reinterpret_cast<Transport*>(handle); }
  static Connection& connection(cn_connection* handle) { return *reinterpret_cast<Connection*>(handle); }
  static Transport& owner(cn_connection* handle) { return connection(handle).owner; }
};

// Makes a table of which each function calls the member of `Transport` with the same name; it gets the connection first
// where the table's function has one. A `Transport` is made by Transport(host, endpoint, settings), and is the `owner`
// of its connections. pause() and rest() are optional, and so is all that reaches memory, from reaches_memory() to
// put().
template <class Transport, class Connection>
constexpr cn_transport_table table_of(const TransportTraits& traits) {
  using Of = Behind<Transport, Connection>;
  cn_transport_table table{};
  table.struct_size = sizeof table;
  table.version = CN_TRANSPORT_VERSION;
  table.name = traits.name;
  table.schemes = traits.schemes;
  table.keeps_payloads = traits.keeps_payloads;
  table.has_hosts = traits.has_hosts;
  table.is_flush_cheap = traits.is_flush_cheap;
  table.has_streams = traits.has_streams;

  table.open = [](const cn_transport_host* host, cn_host_endpoint* endpoint, const cn_transport_settings* settings,
                  cn_transport** opened) {
    return guarded([&] { *opened = reinterpret_cast<cn_transport*>(new Transport(*host, endpoint, *settings)); });
  };
  table.close = [](cn_transport* handle) { delete &Of::transport(handle); };
  table.address = [](cn_transport* handle) { return Of::transport(handle).address(); };
  table.descriptor = [](cn_transport* handle) { return Of::transport(handle).descriptor(); };
  table.progress = [](cn_transport* handle) { return Of::transport(handle).progress(); };
  table.connect = [](cn_transport* handle, const char* url, cn_host_connection* host_connection,
                     cn_connection** begun) {
    return guarded([&] {
      Connection& added = Of::transport(handle).connect(url, host_connection);
      *begun = reinterpret_cast<cn_connection*>(&added);
    });
  };

  table.disconnect = [](cn_connection* handle) { Of::owner(handle).disconnect(Of::connection(handle)); };
  table.send = [](cn_connection* handle, const void* header, const void* payload, uint64_t size, uint64_t cookie) {
    return Of::owner(handle).send(Of::connection(handle), header, payload, size, cookie);
  };
  table.flush = [](cn_connection* handle) { Of::owner(handle).flush(Of::connection(handle)); };
  table.detach = [](cn_connection* handle, const void* begin, uint64_t size) {
    Of::owner(handle).detach(Of::connection(handle), begin, size);
  };
  table.has_unsent = [](cn_connection* handle) { return Of::owner(handle).has_unsent(Of::connection(handle)); };
  if constexpr (requires(Transport & with, Connection & of) { with.pause(of, true); })
    table.pause = [](cn_connection* handle, bool pauses) { Of::owner(handle).pause(Of::connection(handle), pauses); };
  if constexpr (requires(Transport & with) { with.rest(); })
    table.rest = [](cn_transport* handle) { return Of::transport(handle).rest(); };
  if constexpr (requires(Transport & with, Connection & of) { with.reaches_memory(of); }) {
    table.reaches_memory = [](cn_connection* handle) {
      return Of::owner(handle).reaches_memory(Of::connection(handle));
    };
    table.expose = [](cn_connection* handle, const cn_region* region, cn_grant* grant) {
      return Of::owner(handle).expose(Of::connection(handle), *region, *grant);
    };
    table.revoke = [](cn_connection* handle, uint64_t region) {
      return Of::owner(handle).revoke(Of::connection(handle), region);
    };
    table.forget = [](cn_transport* handle, uint64_t region) { Of::transport(handle).forget(region); };
    table.open_remote = [](cn_connection* handle, const cn_grant* grant, uint64_t size, cn_remote** remote) {
      return guarded([&] {
        *remote = reinterpret_cast<cn_remote*>(Of::owner(handle).open_remote(Of::connection(handle), *grant, size));
      });
    };
    using Remote = std::remove_pointer_t<decltype(std::declval<Transport&>().open_remote(
        std::declval<Connection&>(), std::declval<const cn_grant&>(), uint64_t{}))>;
    table.close_remote = [](cn_connection* handle, cn_remote* remote) {
      Of::owner(handle).close_remote(Of::connection(handle), reinterpret_cast<Remote*>(remote));
    };
    table.get = [](cn_connection* handle, cn_remote* remote, uint64_t offset, void* to, uint64_t* size, uint64_t cookie,
                   bool* goes_on) {
      return Of::owner(handle).get(Of::connection(handle), *reinterpret_cast<Remote*>(remote), offset, to, size, cookie,
                                   goes_on);
    };
    table.put = [](cn_connection* handle, cn_remote* remote, uint64_t offset, const void* from, uint64_t* size,
                   uint64_t cookie, bool* goes_on) {
      return Of::owner(handle).put(Of::connection(handle), *reinterpret_cast<Remote*>(remote), offset, from, size,
                                   cookie, goes_on);
    };
  }
  return table;
}

}  // namespace commnet

#endif  // COMMNET_TRANSPORTS_TABLE_H_
