// The options of endpoints.
#include "core/settings.h"

#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstring>

#include "core/status.h"

namespace commnet {

namespace {

constexpr uint32_t kMostStreams = 16;

template <class T>
T or_default(T value, T otherwise) {
  return value == 0 ? otherwise : value;
}

std::string default_name() {
  static std::atomic<int> count{0};
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, sizeof host - 1);
  return std::string(host) + "-" + std::to_string(getpid()) + "-" + std::to_string(count++);
}

}  // namespace

Settings settings_of(const cn_endpoint_options* given) {
  cn_endpoint_options options{};
  if (given) {
    if (!is_struct_size(given->struct_size, options))
      fail(CN_INVALID_ARGUMENT, "options: struct_size is %u, expected %zu", given->struct_size, sizeof options);
    std::memcpy(&options, given, given->struct_size);
  }
  const auto text = [](const char* value) { return std::string(value ? value : ""); };
  Settings settings;
  settings.name = options.name ? options.name : default_name();
  if (settings.name.empty() || settings.name.size() > 255 || settings.name.find_first_of("@,\n") != std::string::npos)
    fail(CN_INVALID_ARGUMENT, "options: name must have 1 to 255 bytes, and none of '@', ',' and line ends");
  if (options.secret_size > 0 && options.secret == nullptr) fail(CN_INVALID_ARGUMENT, "options: secret is NULL");
  if ((options.flags & ~uint32_t{CN_MANUAL_PROGRESS}) != 0)
    fail(CN_INVALID_ARGUMENT, "options: unknown flags %u", options.flags);
  if (options.streams > kMostStreams)
    fail(CN_INVALID_ARGUMENT, "options: streams must be at most %u, got %u", kMostStreams, options.streams);
  settings.transports = text(options.transports);
  settings.listen = text(options.listen);
  settings.key = key_of({static_cast<const uint8_t*>(options.secret), options.secret_size});
  settings.is_manual = (options.flags & CN_MANUAL_PROGRESS) != 0;
  settings.busy_poll = std::chrono::microseconds(options.busy_poll_us);
  settings.peer_timeout = std::chrono::milliseconds(or_default(options.peer_timeout_ms, 10'000u));
  settings.linger = std::chrono::milliseconds(or_default(options.linger_ms, 1000u));
  settings.streams = or_default(options.streams, 2u);
  settings.receive_window = or_default(options.receive_window, uint64_t{8} << 20);
  settings.send_limit = or_default(options.send_limit, uint64_t{64} << 20);
  settings.message_limit = or_default(options.message_limit, uint64_t{1} << 30);
  return settings;
}

}  // namespace commnet
