#include "core/transports.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>

#include "core/connection.h"
#include "core/endpoint.h"
#include "core/status.h"

namespace commnet {

namespace {

std::mutex registry_mutex;

// Best first; those that programs register go before the others.
std::vector<const cn_transport_table*>& registry() {
  static auto& tables = *new std::vector<const cn_transport_table*>{COMMNET_TRANSPORTS};
  return tables;
}

Connection& connection_of(cn_host_connection* handle) { return *reinterpret_cast<Connection*>(handle); }
Endpoint& endpoint_of(cn_host_endpoint* handle) { return *reinterpret_cast<Endpoint*>(handle); }

// Returns a table of which the functions that a program did not know are NULL.
cn_transport_table complete(const cn_transport_table& table) {
  cn_transport_table copy{};
  std::memcpy(&copy, &table, std::min<size_t>(table.struct_size, sizeof table));
  return copy;
}

void check(const cn_transport_table* table) {
  if (!table || table->struct_size < offsetof(cn_transport_table, reaches_memory))
    fail(CN_INVALID_ARGUMENT, "table: struct_size is too small");
  if (table->version != CN_TRANSPORT_VERSION)
    fail(CN_UNSUPPORTED, "the table has version %u, this library has %d", table->version, CN_TRANSPORT_VERSION);
  if (!table->name || !table->schemes || !*table->name || !*table->schemes)
    fail(CN_INVALID_ARGUMENT, "table: name or schemes are missing");
  if (!table->open || !table->close || !table->address || !table->descriptor || !table->progress || !table->connect ||
      !table->disconnect || !table->send || !table->flush || !table->detach || !table->has_unsent)
    fail(CN_INVALID_ARGUMENT, "the table of '%s' lacks a function", table->name);
  const cn_transport_table known = complete(*table);
  const int accessing = !!known.reaches_memory + !!known.expose + !!known.revoke + !!known.forget +
                        !!known.open_remote + !!known.close_remote + !!known.get + !!known.put;
  if (accessing != 0 && accessing != 8)
    fail(CN_INVALID_ARGUMENT, "the table of '%s' has only some of the functions from reaches_memory to put",
         table->name);
}

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    if (comma != 0) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return parts;
}

bool understands(const cn_transport_table& table, std::string_view url) {
  const std::vector<std::string> schemes = split_list(table.schemes);
  return std::ranges::any_of(schemes, [&](const std::string& scheme) { return url.starts_with(scheme + ":"); });
}

std::vector<const cn_transport_table*> chosen_transports(const std::string& names) {
  const std::lock_guard lock(registry_mutex);
  if (names.empty()) return registry();
  std::vector<const cn_transport_table*> chosen;
  for (const std::string& name : split_list(names)) {
    const auto found = std::ranges::find_if(registry(), [&](const auto* table) { return name == table->name; });
    if (found == registry().end()) {
      std::string known;
      for (const auto* table : registry()) known += (known.empty() ? "" : ", ") + std::string(table->name);
      fail(CN_INVALID_ARGUMENT, "options: unknown transport '%s'; there are %s", name.c_str(), known.c_str());
    }
    chosen.push_back(*found);
  }
  return chosen;
}

const cn_transport_host& transport_host() {
  static const cn_transport_host host = [] {
    cn_transport_host functions{};
    functions.struct_size = sizeof functions;
    functions.fail = set_error;
    functions.connected = [](cn_host_connection* handle) { connection_of(handle).connected(); };
    functions.accepted = [](cn_host_endpoint* endpoint, cn_transport* transport, cn_connection* connection) {
      return reinterpret_cast<cn_host_connection*>(endpoint_of(endpoint).accepted(transport, connection));
    };
    functions.begin_frame = [](cn_host_connection* handle, const void* header, uint64_t size, void** payload) {
      return connection_of(handle).begin_frame(header, size, payload);
    };
    functions.end_frame = [](cn_host_connection* handle) { return connection_of(handle).end_frame(); };
    functions.sent = [](cn_host_connection* handle, uint64_t cookie) { connection_of(handle).sent(cookie); };
    functions.writable = [](cn_host_connection* handle) { connection_of(handle).writable(); };
    functions.moved = [](cn_host_connection* handle, uint64_t cookie, cn_status status, const char* text) {
      connection_of(handle).moved(cookie, status, text);
    };
    functions.broken = [](cn_host_connection* handle, cn_status status, const char* text) {
      connection_of(handle).broken(status, text);
    };
    functions.heard = [](cn_host_connection* handle) { connection_of(handle).heard(); };
    functions.wake = [](cn_host_endpoint* endpoint) { endpoint_of(endpoint).wake_from_outside(); };
    return functions;
  }();
  return host;
}

}  // namespace commnet

extern "C" cn_status cn_register_transport(const cn_transport_table* table) {
  return commnet::guarded([&] {
    commnet::check(table);
    const std::lock_guard lock(commnet::registry_mutex);
    for (const auto* each : commnet::registry())
      if (std::string_view(each->name) == table->name)
        commnet::fail(CN_INVALID_ARGUMENT, "there is a transport '%s' already", table->name);
    // For as long as the process lives.
    commnet::registry().insert(commnet::registry().begin(), new cn_transport_table(commnet::complete(*table)));
  });
}
