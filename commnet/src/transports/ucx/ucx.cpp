// The table of the transport over UCX.
#include <algorithm>
#include <string>
#include <vector>

#include "core/status.h"
#include "core/transports.h"
#include "transports/ucx/transport.h"

namespace commnet::ucx {

namespace {

Transport& transport_of(cn_transport* handle) { return *reinterpret_cast<Transport*>(handle); }
Connection& connection_of(cn_connection* handle) { return *reinterpret_cast<Connection*>(handle); }

cn_status open(const cn_transport_host* host, cn_host_endpoint* endpoint, const cn_transport_settings* settings,
               cn_transport** transport) {
  return guarded([&] {
    // UCX opens ports on all network devices, and patches functions of the process: it is used only where it is wanted.
    const std::vector<std::string> urls = split_list(settings->listen);
    if (!settings->is_named && std::ranges::none_of(urls, [](const auto& url) { return understands(kUcx, url); }))
      fail(CN_UNSUPPORTED, "UCX is used by endpoints whose transports or URLs name it");
    *transport = reinterpret_cast<cn_transport*>(new Transport(*host, endpoint, *settings));
  });
}

cn_status connect(cn_transport* transport, const char* url, cn_host_connection* host_connection,
                  cn_connection** connection) {
  return guarded(
      [&] { *connection = reinterpret_cast<cn_connection*>(&transport_of(transport).connect(url, host_connection)); });
}

constexpr cn_transport_table make_table() {
  cn_transport_table table{};
  table.struct_size = sizeof table;
  table.version = CN_TRANSPORT_VERSION;
  table.name = "ucx";
  table.schemes = "ucx";
  table.has_hosts = true;
  table.keeps_payloads = true;
  table.open = open;
  table.close = [](cn_transport* transport) { delete &transport_of(transport); };
  table.address = [](cn_transport* transport) { return transport_of(transport).address(); };
  table.descriptor = [](cn_transport* transport) { return transport_of(transport).descriptor(); };
  table.progress = [](cn_transport* transport) { return transport_of(transport).progress(); };
  table.connect = connect;
  table.disconnect = [](cn_connection* handle) {
    Connection& connection = connection_of(handle);
    connection.owner.disconnect(connection);
  };
  table.send = [](cn_connection* handle, const void* header, const void* payload, uint64_t size, uint64_t cookie) {
    Connection& connection = connection_of(handle);
    return connection.owner.send(connection, header, payload, size, cookie);
  };
  table.flush = [](cn_connection* handle) { connection_of(handle).owner.flush(); };
  table.detach = [](cn_connection* handle, const void* begin, uint64_t size) {
    Connection& connection = connection_of(handle);
    connection.owner.detach(connection, begin, size);
  };
  table.has_unsent = [](cn_connection* handle) {
    const Connection& connection = connection_of(handle);
    return connection.in_flight > 0 && !connection.has_failed && !connection.is_broken;
  };
  return table;
}

}  // namespace
}  // namespace commnet::ucx

namespace commnet {
constinit const cn_transport_table kUcx = ucx::make_table();
}  // namespace commnet
